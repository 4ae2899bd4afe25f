#!/usr/bin/env python3
"""go-pgo.py PROFILE - what Go's compiler takes from a profile, by its published rules.

Prints what `go tool preprofile -i PROFILE -o FILE` of Go 1.23 and later writes to FILE.  Exits 1,
with the reason on stderr, if the compiler refuses the profile, or ignores it without a word.

The rules (cmd/internal/pgo, internal/profile):
- The values are those of the first sample type samples/count or cpu/nanoseconds.
- A node is a line of a location: its address, its function's name and first line, and the line.
- A sample counts the calls between the nodes of its first two locations, each call once.
- An edge is the caller's name, its line less its first line, and the name of what it calls.
- Edges come by falling weight, then by the names and the line.
- Some node must have a first line.
"""
import collections
import gzip
import sys

import protobuf


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def numbers(message, field):
    """All values of a repeated number, packed or not."""
    out = []
    for number, value in message:
        if number == field:
            out += [value] if isinstance(value, int) else protobuf.packed(value)
    return out


class Profile:
    def __init__(self, data):
        parts = collections.defaultdict(list)
        for number, value in protobuf.fields(data):
            if number in (1, 2, 4, 5, 6):
                parts[number].append(value if number == 6 else list(protobuf.fields(value)))
        self.strings = [s.decode() for s in parts[6]]
        self.types = [tuple(self.strings[dict(t).get(n, 0)] for n in (1, 2)) for t in parts[1]]
        self.samples = [(numbers(s, 1), [signed(v) for v in numbers(s, 2)]) for s in parts[2]]
        functions = {}
        for f in map(dict, parts[5]):
            functions[f[1]] = (self.strings[f.get(2, 0)], signed(f.get(5, 0)))
        self.nodes = {}     # by id of a location, the outermost call first
        for fields in parts[4]:
            of = dict(fields)
            lines = [dict(protobuf.fields(v)) for n, v in fields if n == 4] or [{}]
            self.nodes[of[1]] = [(of.get(3, 0), *functions.get(line.get(1, 0), ("", 0)),
                                  signed(line.get(2, 0))) for line in reversed(lines)]


def edges_of(profile, value):
    """The weights of the edges; and whether a node has a first line."""
    weights, has_start = collections.Counter(), False
    for locations, values in profile.samples:
        if values[value] == 0:
            continue
        nodes = [n for place in reversed(locations[:2]) for n in profile.nodes[place]]
        has_start |= any(start for _, _, start, _ in nodes)
        seen = set()
        for caller, callee in zip(nodes, nodes[1:]):
            if caller == callee or (caller, callee) in seen:
                continue
            seen.add((caller, callee))
            _, name, start, line = caller
            weights[name, callee[1], line - start] += values[value]
    return weights, has_start


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    profile = Profile(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    wanted = ("samples", "count"), ("cpu", "nanoseconds")
    value = next((i for i, t in enumerate(profile.types) if t in wanted), None)
    if value is None:
        return f"refused: its sample types are {profile.types}"
    weights, has_start = edges_of(profile, value)
    if not weights:
        return "ignored: it has no calls"
    if not has_start:
        return "refused: no function has a first line"
    print("GO PREPROFILE V1")
    for (caller, callee, line), weight in sorted(weights.items(), key=lambda e: (-e[1], *e[0])):
        print(f"{caller}\n{callee}\n{line} {weight}")
    return 0


sys.exit(main())
