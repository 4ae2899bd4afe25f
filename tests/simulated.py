"""How often the tools' intervals hold the truth, and how often pmu-diff calls what, on simulated
recordings (tests/bin/simulate) whose truth is known.  All seeds are fixed.

    simulated.py coverage PROGRAM REPETITIONS    a line: the least and the most that a function's
                                                  intervals hold its share, in %; mean width by
                                                  the right one
    simulated.py equal PROGRAM COUNT RUNS        in how many of COUNT comparisons of equal
                                                  programs anything is called
    simulated.py slower COUNT RUNS SAMPLES CHANGE  in how many f9, slower by CHANGE, is called
"""
import json
import os
import statistics
import subprocess
import sys

TEN = [i / 55 for i in range(1, 11)]
SHARES = {
    "steady": TEN,
    "phases": [.3, .15, .1, .35, .1],
    "threads": [.42, .32, .23, .03],
    "bursts": None,     # a rare function, by chance: its share over all recordings
}


def profile(path, *words):
    simulate = subprocess.Popen(["simulate", *map(str, words)], stdout=subprocess.PIPE)
    with open(path, "wb") as out:
        subprocess.run(["pmu-topprof", "-q", "--slices", "20", "-Z", "none"], stdin=simulate.stdout,
                       stdout=out, check=True)
    if simulate.wait():
        sys.exit("simulate failed")


def output(*words):
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def coverage(program, repetitions):
    bars, shares = {}, {}
    for seed in range(repetitions):
        profile("p.pb", program, seed)
        rows = {r["name"]: r["flat_bar"] for r in output("pmu-top", "-j", "--by=object",
                                                         "p.pb")["rows"]}
        for f in range(10):
            bar = rows.get(f"f{f}", {"share": 0, "low": 0, "high": 4 / 2000})
            bars.setdefault(f, []).append(bar)
    truth = SHARES[program]
    if truth is None:
        mean = statistics.mean(b["share"] for b in bars[1])
        truth = [1 - mean, mean]
    held, widths = [], []
    for f, share in enumerate(truth):
        n = sum(b["low"] - 1e-6 <= share <= b["high"] + 1e-6 for b in bars[f])
        held.append(100 * n / repetitions)
        right = 3.92 * statistics.pstdev([b["share"] for b in bars[f]])
        widths.append(statistics.mean(b["high"] - b["low"] for b in bars[f]) / right)
    print(f"{min(held):.1f} {max(held):.1f} {statistics.mean(widths):.2f}")


def compare(base, after, *options):
    words = ["pmu-diff", "-q", "-j", "--by=object", *options]
    for path in base:
        words += ["-b", path]
    return output(*words, *after)


def sides(program, i, runs, samples, slower=()):
    paths = [[f"{side}{run}.pb" for run in range(runs)] for side in "ba"]
    for side in range(2):
        for run in range(runs):
            seed = 1000000 + (i * 2 + side) * runs + run
            profile(paths[side][run], program, seed, samples, *(slower if side else ()))
    return paths


def equal(program, count, runs):
    calls = 0
    for i in range(count):
        # whole runs of the same work
        found = compare(*sides(program, i, runs, 2000),
                        "--per=share" if runs == 1 else "--per=second")
        calls += any(r.get("called") for r in found["rows"])
    print(calls)


def slower(count, runs, samples, change):
    calls = 0
    for i in range(count):
        found = compare(*sides("steady", i, runs, samples, (9, change)), "--per=share")
        calls += any(r.get("called") and r["name"] == "f9" for r in found["rows"])
    print(calls)


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    numbers = [int(w) if w.isdigit() else float(w) if w[0].isdigit() else w for w in words]
    {"coverage": coverage, "equal": equal, "slower": slower}[kind](*numbers)
