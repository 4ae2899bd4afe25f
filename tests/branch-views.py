"""branch-views.py - judges the profiles of pmu-branch by what others found in the same recording.

    branch-views.py blocks PROFILE TEXT     by llvm-profgen's text: each line's executions
    branch-views.py branches PROFILE        by a walk over perf script -F ip,brstack, on stdin: each
                                            branch of the program at 0x400000, linked there
    branch-views.py returns PROFILE CODE    by that walk, and objdump's text: calls, and no return
    branch-views.py lines PROFILE NAME      prints the line and the value of each line of NAME
    branch-views.py calls PROFILE           prints caller:line callee value
"""
import collections
import gzip
import re
import sys

import protobuf


class Profile:
    """A profile: samples as (locations, values), with locations as (address, lines)."""

    def __init__(self, path):
        self.samples, self.locations, functions, strings = [], {}, {}, []
        raw = []
        for number, value in protobuf.fields(gzip.open(path).read()):
            if number == 2:
                raw.append(value)
            elif number == 4:
                self.add_location(value)
            elif number == 5:
                f = dict(protobuf.fields(value))
                functions[f[1]] = (f.get(2, 0), f.get(5, 0))
            elif number == 6:
                strings.append(value.decode())
        self.functions = {i: (strings[name], start) for i, (name, start) in functions.items()}
        for sample in raw:
            self.add_sample(sample)

    def add_location(self, message):
        ident = address = 0
        lines = []
        for number, value in protobuf.fields(message):
            if number == 1:
                ident = value
            elif number == 3:
                address = value
            elif number == 4:
                line = dict(protobuf.fields(value))
                lines.append((line.get(1, 0), line.get(2, 0)))
        self.locations[ident] = (address, lines)

    def add_sample(self, message):
        locations, values = [], []
        for number, value in protobuf.fields(message):
            if number == 1:
                locations += protobuf.packed(value) if isinstance(value, bytes) else [value]
            elif number == 2:
                values += protobuf.packed(value) if isinstance(value, bytes) else [value]
        self.samples.append((locations, values))

    def line(self, location, inner=0):
        """Function, its first line, and the line of a location."""
        function, line = self.locations[location][1][inner]
        return (*self.functions[function], line)


def judge_blocks(path, text):
    """
    The most executions of each line that is not inlined, against llvm-profgen's count.  Of a line
    with calls, llvm-profgen takes the number of calls instead: a stack of 16 branches has 16 calls,
    but 15 ranges.
    """
    ours = collections.defaultdict(int)
    profile = Profile(path)
    for locations, values in profile.samples:
        if len(profile.locations[locations[0]][1]) == 1:
            name, start, line = profile.line(locations[0])
            ours[name, line - start] = max(ours[name, line - start], values[0])
    theirs, calls = collections.defaultdict(int), collections.defaultdict(int)
    for row in open(text):
        if not row.startswith(" "):
            function = row.split(":")[0]
        found = re.match(r" (\d+)(?:\.\d+)?: (\d+)((?: \S+:\d+)*)$", row)
        if found:
            line = function, int(found[1])
            theirs[line] = max(theirs[line], int(found[2]))
            calls[line] = max(calls[line], sum(int(c.split(":")[-1]) for c in found[3].split()))
    equal = sum(ours[line] == count for line, count in theirs.items())
    print(f"{equal} of {len(theirs)} lines are equal")
    for line, count in theirs.items():
        if ours[line] != count and not (count == calls[line] > ours[line]):
            print(f"{line}: {ours[line]}, not {count}")


def judge_branches(path, start=0x400000, end=0x40a000):
    """Taken and mispredicted of each branch in the program."""
    ours, theirs = collections.Counter(), collections.Counter()
    profile = Profile(path)
    for locations, values in profile.samples:
        address = profile.locations[locations[0]][0]
        ours[address, "taken"] += values[0]
        ours[address, "mispredicted"] += values[1]
    for row in sys.stdin:
        for entry in row.split()[1:]:
            source, _, outcome = entry.split("/")[:3]
            if start <= int(source, 16) < end:
                theirs[int(source, 16), "taken"] += 1
                theirs[int(source, 16), "mispredicted"] += outcome == "M"
    for branch in ours.keys() | theirs.keys():
        if ours[branch] != theirs[branch]:
            print(branch, ours[branch], theirs[branch])
    print(sum(theirs.values()), "in", len(theirs) // 2, "branches", file=sys.stderr)


def judge_returns(path, code):
    """Each call instruction was taken as often as in the walk; no return is a call."""
    kinds = {}
    for row in open(code):
        found = re.match(r" +([0-9a-f]+):\t(\w+)", row)
        if found:
            kinds[int(found[1], 16)] = found[2]
    ours, theirs = collections.Counter(), collections.Counter()
    profile = Profile(path)
    for (_, caller), values in profile.samples:
        ours[profile.locations[caller][0]] += values[0]
    for row in sys.stdin:
        for entry in row.split()[1:]:
            source = int(entry.split("/")[0], 16)
            if kinds.get(source, "").startswith("call"):
                theirs[source] += 1
    for source in theirs:
        if ours[source] != theirs[source]:
            print(hex(source), ours[source], theirs[source])
    for source in ours.keys() - theirs.keys():
        if kinds.get(source, "").startswith("ret"):
            print(hex(source), "is a return")
    print(sum(theirs.values()), "calls", file=sys.stderr)


def print_lines(path, name):
    sums = collections.Counter()
    profile = Profile(path)
    for locations, values in profile.samples:
        if profile.locations[locations[0]][1]:
            function, _, line = profile.line(locations[0])
            if function == name:
                sums[line] += values[0]
    for line in sorted(sums):
        print(line, sums[line])


def print_calls(path):
    sums = collections.Counter()
    profile = Profile(path)
    for (callee, caller), values in profile.samples:
        if profile.locations[caller][1] and profile.locations[callee][1]:
            function, _, line = profile.line(caller)
            sums[f"{function}:{line}", profile.line(callee, -1)[0]] += values[0]
    for (caller, callee), count in sorted(sums.items()):
        print(caller, callee, count)


{"blocks": judge_blocks, "branches": judge_branches, "returns": judge_returns, "lines": print_lines,
 "calls": print_calls}[sys.argv[1]](*sys.argv[2:])
