"""
Runs streams through two builds of the tools, one without short ways, and compares all that they
write, their messages and exit statuses.

    short-ways.py SHORT LONG MUTANTS SECONDS STREAM...

SHORT and LONG are folders of tools.  Each STREAM is taken as it is, and then MUTANTS times with
some bytes changed, cut or doubled; each time by the next sets of options: each option alone,
then sets in which each pair of values of two options comes once, about seventy in all.  The CPU time of all runs is at most SECONDS;
0: no limit.  A seed (SEED, 1) makes a run repeatable.  Prints each difference, and what was run.
"""
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

from protobuf import varint

# What changes how pmu-topprof counts: the fields of struct collect_options.
options = [
    ([], ["-l", "none"], ["-l", "pid,tid,comm,cpu"], ["-l", "thread_comm,cgroup"]),
    ([], ["--slices", "0"], ["--slices", "3"], ["--slices", "40,2"]),
    ([], ["--max-stacks", "3"]),
    ([], ["--frames", "data"]),
    ([], ["--frames", "cut"]),
    ([], ["--frames", "no-lost"]),
    ([], ["--frames", "not-sampled"]),
    ([], ["--no-scale"]),
    ([], ["--add", "latency"]),
    ([], ["--add", "parallelism"]),
    ([], ["--add", "wall"]),
    ([], ["--add", "time"]),
    ([], ["--types", "perf"]),
    (["-Z", "none"], ["--to", "folded"]),
    ([], ["--split", "1s"], ["--split", "process"], ["--split", "thread"]),
    ([], ["--time", "0.01,99999999"], ["--cpu", "0"], ["--comm", "sh"]),
    ([], ["pmu-symbolize"], ["pmu-unwind"], ["pmu-unwind", "pmu-symbolize"],
     ["pmu-symbolize", "pmu-stream"]),
]

# Pairs that pmu-topprof refuses.
refused_pairs = [(a, b) for a, all in (
    ("not-sampled", ("--split", "--time", "--cpu", "--comm")),
    ("time", ("1s",)), ("--to", ("--split",)),
) for b in all]


def is_allowed(words):
    return not any(a in words and b in words for a, b in refused_pairs)


def covering_array(rng):
    """Sets of choices in which each pair of values of two options occurs."""
    open_pairs = {(a, i, b, j) for a in range(len(options)) for b in range(a)
                  for i in range(len(options[a])) for j in range(len(options[b]))
                  if is_allowed(options[a][i] + options[b][j])}

    def pairs(row):
        return {(a, row[a], b, row[b]) for a in range(len(row)) for b in range(a)}

    rows = []
    while open_pairs:
        a, i, b, j = rng.choice(sorted(open_pairs))
        best, tries = None, 0
        while tries < 30 or not best:
            tries += 1
            row = [rng.randrange(len(o)) for o in options]
            row[a], row[b] = i, j
            if not is_allowed(sum((o[k] for o, k in zip(options, row)), [])):
                continue
            gain = len(pairs(row) & open_pairs)
            if best is None or gain > best[0]:
                best = gain, row
        rows.append(best[1])
        open_pairs -= pairs(best[1])
    return rows


def alone():
    """Each value of each option, with nothing else: more options often leave no short way."""
    none = [0] * len(options)
    return [none] + [none[:a] + [i] + none[a + 1:] for a in range(len(options))
                     for i in range(1, len(options[a]))]


def command(bin, row, stream, folder):
    words, filters = [], []
    for choices, i in zip(options, row):
        words += choices[i]
    filters = [w for w in words if w.startswith("pmu-")]
    words = [w for w in words if not w.startswith("pmu-")]
    if "--split" in words:
        words += ["-o", folder + "/%s" if "1s" in words else folder]
    line, source = [], stream
    for f in filters:
        arguments = [bin + "/" + f] + (["--decompress"] if f == "pmu-stream" else [])
        line.append(arguments + [source] if source else arguments)
        source = None
    line.append([bin + "/pmu-topprof"] + words + ([source] if source else []))
    return line


def without_time(profile):
    """PROFILE, uncompressed, without time_nanos: of most recordings it is the time of the run."""
    at, result = 0, b""
    while at < len(profile):
        start = at
        tag, at = varint(profile, at)
        size, at = varint(profile, at)	# a varint field, or the size of another
        at += size if tag & 7 == 2 else 0
        result += b"" if tag >> 3 == 9 else profile[start:at]
    return result


def outcome(bin, row, stream):
    """
    All that comes of ROW: the statuses of the tools; their outputs, messages and files.  One tool runs
    after the other: in a pipe, how far one comes after the next has failed is chance.
    """
    with tempfile.TemporaryDirectory(dir=".") as folder:
        os.mkdir(folder + "/out")
        source, statuses, result = open(os.devnull, "rb"), [], []
        for words in command(bin, row, os.path.abspath(stream), "out"):
            done = subprocess.run(words, cwd=folder, stdin=source, capture_output=True)
            statuses.append(done.returncode)
            is_profile = "-Z" in words
            result += [without_time(done.stdout) if is_profile else done.stdout,
                       re.sub(rb"out/\d+", b"out/T", done.stderr)]
            source.close()
            with open(folder + "/stream", "wb") as f:
                f.write(done.stdout)
            source = open(folder + "/stream", "rb")
        source.close()
        for root, _, names in sorted(os.walk(folder + "/out")):	# the time is in some names
            for name in sorted(names):
                with open(os.path.join(root, name), "rb") as f:
                    result.append(without_time(f.read()))
        return statuses, result


def mutant(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 10))):
        at, how = rng.randrange(len(data)), rng.random()
        if how < 0.5:
            data[at] ^= 1 << rng.randrange(8)
        elif how < 0.8:
            data[at] = rng.randrange(256)
        elif how < 0.9:
            data[at:at + 8] = rng.choice((0, 1, 2**63, 2**64 - 1)).to_bytes(8, "little")
        else:
            size = rng.randrange(8, 400) & ~7
            data[at & ~7:at & ~7] = data[at & ~7:(at & ~7) + size]
    return bytes(data[:rng.randrange(len(data))] if rng.random() < 0.1 else data)


def main():
    short, long, mutants, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    rng = random.Random(int(os.environ.get("SEED", "1")))
    rows = alone() + covering_array(rng)
    runs = refused = different = streams = 0

    def used():
        u = resource.getrusage(resource.RUSAGE_CHILDREN)
        return u.ru_utime + u.ru_stime

    def compare(stream, some):
        nonlocal runs, refused, different
        for _ in range(some):
            if seconds and used() > seconds:
                return
            row = rows[runs % len(rows)]
            runs += 1
            # what the machine has now may change between two runs: names of BPF programs, files
            for _ in range(3):
                first, second = outcome(short, row, stream), outcome(long, row, stream)
                if first == second:
                    break
            refused += 2 in first[0]
            if first != second:
                different += 1
                kept = f"different.{different}"
                os.link(stream, kept) if os.path.dirname(stream) == "" else \
                    os.symlink(os.path.abspath(stream), kept)
                print("differs:", *(" ".join(w) + " |" for w in
                                    command("", row, kept, "out")), flush=True)

    for turn in range(mutants + 1):
        for stream in sys.argv[5:]:
            if seconds and used() > seconds:
                break
            streams += 1
            if turn == 0:
                # a stream that was recorded for this, and in a long run all, with each set
                compare(stream, len(rows) if mutants > 20 or "/" not in stream else 3)
                continue
            with open("mutant", "wb") as f:
                f.write(mutant(open(stream, "rb").read(), rng))
            compare("mutant", 1)
            os.unlink("mutant")
    print(f"{streams} streams, {len(rows)} sets of options, {runs} runs, {different} differ")
    if refused:
        print(f"{refused} of them are wrong usage, and compare nothing")
    return different > 0 or refused > 0


sys.exit(main())
