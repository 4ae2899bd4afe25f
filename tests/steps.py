#!/usr/bin/env python3
"""steps.py DUMP TRUTH... - compares callchains with those of gdb-steps.py, word by word.

DUMP is what pmu-stream --dump prints of the unwound stream.  Prints "EQUAL LEFT-OUT TOTAL".  Left
out are stops in functions given as --without NAME: there gdb is wrong.  With --first N, a callchain
may end before that of gdb, after N addresses or more.
"""
import argparse
import re
import sys

MARKER = "0xfffffffffffffe00"
SAMPLE = re.compile(r" SAMPLE .*time=(\d+) .*callchain=\[([^]]*)\]")


def first(ours, words, least):
    """Whether OURS, without the markers at its end, is the first part of WORDS."""
    while ours and ours[-1] == MARKER:
        ours = ours[:-1]
    return len(ours) >= least and ours == words[:len(ours)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--first", type=int)
    parser.add_argument("dump")
    parser.add_argument("truth")
    options = parser.parse_args()
    ours = {}
    for line in open(options.dump):
        sample = SAMPLE.search(line)
        if sample:
            ours[sample[1]] = sample[2].split(", ")
    equal = left_out = total = 0
    for line in open(options.truth):
        time, *words = line.split(" # ")[0].split()
        names = line.split(" # ")[1].split()
        total += 1
        our = ours.get(time, [])
        if our == words or (options.first and first(our, words, options.first)):
            equal += 1
        elif names[0] in options.without:
            left_out += 1
        elif total - equal - left_out <= 5:
            print(time, "ours:", *our, "gdb:", *words, *names,
                  sep="\n  ", file=sys.stderr)
    print(equal, left_out, total)
    return equal + left_out == total == len(ours) > 0


sys.exit(not main())
