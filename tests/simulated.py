"""How often the tools' intervals hold the truth, and how often pmu-diff calls what, on simulated
recordings (tests/bin/simulate) whose truth is known.  All seeds are fixed.

    simulated.py coverage PROGRAM REPETITIONS    a line: the least and the most that a function's
                                                  intervals hold its share, in %; mean width by
                                                  the right one
    simulated.py equal PROGRAM COUNT RUNS        in how many of COUNT comparisons of equal
                                                  programs anything is called
    simulated.py slower COUNT RUNS SAMPLES CHANGE  in how many f9, slower by CHANGE, is called
    simulated.py printed PROGRAM COUNT SAMPLES   two lines: how many of the bars that a default
                                                  table prints hold the true share, and how many
                                                  there are; in how many tables
    simulated.py renamed RUNS SPREAD COUNT OPTION...  in how many comparisons both names of a
                                                  function that was renamed are called
    simulated.py seen RUNS COUNT SAMPLES          in how many comparisons a change of the size is
                                                  found that the comparison before it claims
"""
import json
import os
import re
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


def shares_of(program):
    if program.startswith("heavy"):
        return [.5, .3, .15, .05]
    if program == "large":
        return [.7] + [.002] * 150
    return [1 / int(program[5:])] * int(program[5:])


def printed(program, count, samples):
    """Take the rows that pmu-top's default table shows, with the limits of its bars in JSON."""
    shares, held, bars, tables = shares_of(program), 0, 0, 0
    for seed in range(count):
        profile("p.pb", program, seed, samples)
        table = subprocess.run(["pmu-top", "-q", "--by=object", "p.pb"], stdout=subprocess.PIPE,
                               check=True, text=True).stdout.splitlines()
        if not any("+/-" in line for line in table[:3]):
            continue
        tables += 1
        shown = [line.replace("~", " ").split() for line in table]
        shown = {w[6]: float(w[2]) for w in shown if len(w) == 7 and w[6][1:].isdigit()}
        for row in output("pmu-top", "-q", "-j", "--by=object", "p.pb")["rows"]:
            bar = row["flat_bar"]
            if row["name"] not in shown:
                continue
            ends = ("low_run", "high_run") if bar["mark"] else ("low", "high")
            low, high = (bar.get(e + "_selected", bar[e2]) for e, e2 in zip(("low", "high"), ends))
            assert shown[row["name"]] >= 50 * (high - low) - 0.0001, (shown, row)
            bars += 1
            held += low - 1e-6 <= shares[int(row["name"][1:])] <= high + 1e-6
    print(held, bars, tables)


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


def renamed(runs, spread, count, *options):
    found = 0
    for i in range(count):
        paths = sides(f"vary{spread}", i, runs, 1000, (50, 0))
        rows = compare(*paths, *options or ["--per=job=1"])["rows"]
        groups = {r["name"]: r["group"] for r in rows if r.get("called")}
        found += groups.get("f0") == "gone" and groups.get("f50") == "new"
    print(found)


def seen(runs, count, samples):
    program, claimed, found = "steady" if runs == 1 else "layout", 0, 0
    options = ["--per=share" if runs == 1 else "--per=job=1"]
    for i in range(count):
        base, after = sides(program, 2 * i, runs, samples)
        words = ["pmu-diff", "-q", "--by=object", *options]
        for path in base:
            words += ["-b", path]
        text = subprocess.run([*words, *after], stdout=subprocess.PIPE, check=True,
                              text=True).stdout
        claim = re.search(r"a change of about ([0-9.]+) % of 'f(.)' would have", text)
        if not claim:
            continue
        assert float(claim[1]) <= 1000
        claimed += 1
        paths = sides(program, 2 * i + 1, runs, samples, (int(claim[2]), float(claim[1]) / 100))
        rows = compare(*paths, *options)["rows"]
        found += any(r.get("called") and r["name"] == "f" + claim[2] for r in rows)
    print(found, claimed)


def slower(count, runs, samples, change):
    calls = 0
    for i in range(count):
        found = compare(*sides("steady", i, runs, samples, (9, change)), "--per=share")
        calls += any(r.get("called") and r["name"] == "f9" for r in found["rows"])
    print(calls)


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    numbers = [int(w) if w.isdigit() else float(w) if w[0].isdigit() else w for w in words]
    {"coverage": coverage, "equal": equal, "slower": slower,
     "printed": printed, "renamed": renamed, "seen": seen}[kind](*numbers)
