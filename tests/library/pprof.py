"""Profiles as text, for comparison with what the library says of them.

    pprof.py read FILE [FACTOR]	all that is in a profile, values times FACTOR, sorted
    pprof.py sort <TEXT		what the program pprof printed, sorted in the same way
"""
import gzip
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from protobuf import fields, packed


def message(data):
    """The fields of a message; of those that repeat, lists in the second dictionary."""
    one, all_of = {}, {}
    for field, value in fields(data):
        one[field] = value
        all_of.setdefault(field, []).append(value)
    return one, all_of


def numbers(values):
    out = []
    for value in values:
        out += packed(value) if isinstance(value, bytes) else [value]
    return out


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def safe(data):
    """As the tools print a name: bytes of characters that are not safe become '?'."""
    return data.decode("utf-8", "replace")


def line_number(value):
    return value if 0 < signed(value) < 1 << 32 else 0


class Profile:
    def __init__(self, data):
        _, top = message(data)
        self.text = [safe(s) for s in top[6]]
        self.types = [(self.text[t.get(1, 0)], self.text[t.get(2, 0)])
                      for t, _ in map(message, top[1])]
        self.mapping = {m[1]: m for m, _ in map(message, top.get(3, []))}
        self.location = {one[1]: (one, many) for one, many in map(message, top.get(4, []))}
        self.function = {f[1]: f for f, _ in map(message, top.get(5, []))}
        self.samples = [many for _, many in map(message, top.get(2, []))]

    def or_dash(self, index):
        return self.text[index] or "-"

    def frames(self, number):
        if number not in self.location:
            return
        one, many = self.location[number]
        mapping = self.mapping.get(one.get(2, 0), {})
        lines = [message(line)[0] for line in many.get(4, [])] or [{}]
        for i, line in enumerate(lines):
            f = self.function.get(line.get(1, 0), {})
            name, symbol = self.text[f.get(2, 0)], self.text[f.get(3, 0)]
            address = one.get(3, 0)
            yield "\t%s %s %s %s %s:%d:%d %d%s%s" % (
                hex(address) if address else "0", self.or_dash(mapping.get(5, 0)),
                self.or_dash(mapping.get(6, 0)), name or "-", self.or_dash(f.get(4, 0)),
                line_number(line.get(2, 0)), line_number(line.get(3, 0)),
                line_number(f.get(5, 0)),
                " mangled" if symbol and symbol != name else "",
                " inlined" if i + 1 < len(lines) else "")

    def label(self, data):
        one, _ = message(data)
        key = self.text[one.get(1, 0)]
        if one.get(2, 0):
            return '\tlabel %s="%s"' % (key, self.text[one[2]])
        return "\tlabel %s=%d %s" % (key, signed(one.get(3, 0)), self.text[one.get(4, 0)])

    def stacks(self, factor):
        for sample in self.samples:
            values = [signed(v) * factor for v in numbers(sample.get(2, []))]
            yield [" ".join(map(str, values)), *map(self.label, sample.get(3, [])),
                   *(frame for l in numbers(sample.get(1, [])) for frame in self.frames(l))]


def show(head, stacks):
    """Equal stacks become one; those with zeroes only are left out."""
    sums = {}
    for stack in stacks:
        labels = sorted(line for line in stack[1:] if line.startswith("\tlabel "))
        frames = [line for line in stack[1:] if not line.startswith("\tlabel ")]
        values = [int(v) for v in stack[0].split()]
        key = tuple(labels + frames)
        sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(values)), values)]
    print("\n".join(head))
    for key, values in sorted(sums.items()):
        if any(values):
            print(*values)
            print("".join(line + "\n" for line in key), end="")


def main():
    if sys.argv[1] == "read":
        with open(sys.argv[2], "rb") as f:
            data = f.read()
        p = Profile(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        factor = int(sys.argv[3]) if len(sys.argv) > 3 else 1
        show(["%s/%s" % t for t in p.types], p.stacks(factor))
        return
    head, stacks = [], []
    for line in sys.stdin.read().split("\n"):
        if line.startswith("\t"):
            stacks[-1].append(line)
        elif line and line.replace("-", "").replace(" ", "").isdigit():
            stacks.append([line])
        elif line:
            head.append(line)
    show(head, stacks)


main()
