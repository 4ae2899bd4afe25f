"""branch-bases.py SCRIPT BINARY FORM - the branches in SCRIPT, perf script's text with mappings and
branch stacks, that have both ends in the code of BINARY, as the lines of FORM: autofdo, llvm, bolt.

For autofdo, stubs (PLT) are code.  Counted from the addresses that perf shows, by the headers that
readelf shows.
"""
import collections
import re
import subprocess
import sys


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True,
                          check=True).stdout


class Binary:
    def __init__(self, path, has_stubs):
        self.loads, self.code = [], []
        self.is_movable = "Type:                              DYN" in readelf("-h", path)
        for row in readelf("-l", path).splitlines():
            part = row.split()
            if part[:1] == ["LOAD"]:
                offset, address, _, size = (int(x, 16) for x in part[1:5])
                self.loads.append((offset, address, size, "E" in "".join(part[6:-1])))
        for row in readelf("-S", path).splitlines():
            found = re.match(r" +\[ *\d+\] (\S+) +PROGBITS +(\S+) (\S+) (\S+) \S+ +(\w+)", row)
            if found and "X" in found[5] and (has_stubs or not found[1].startswith(".plt")):
                address, size = int(found[2], 16), int(found[4], 16)
                self.code.append((address, address + size))

    def address(self, offset):
        """Of the byte at OFFSET, in an executable segment that is mapped in whole pages."""
        for start, address, size, is_code in self.loads:
            if is_code and start <= offset < start + size:
                return address + offset - start
        return None

    def is_code(self, address):
        return address is not None and any(a <= address < b for a, b in self.code)

    def base(self, form):
        first_code = next(address for _, address, _, is_code in self.loads if is_code)
        if form == "llvm":
            return first_code & ~4095
        return self.loads[0][1] & ~4095 if self.is_movable else 0


def main(script, path, form):
    binary, name = Binary(path, form == "autofdo"), path.split("/")[-1]
    mapped, counts = [], collections.Counter()

    def place(address):
        for start, end, offset in mapped:
            if start <= address < end:
                at = address - start + offset
                own = binary.address(at)
                if binary.is_code(own):
                    return at if form == "autofdo" else own - binary.base(form)
        return None

    for row in open(script):
        found = re.search(r"MMAP2? \d+/\d+: \[(\w+)\((\w+)\) @ (\w+).*: r-xp .*/(\S+)$", row)
        if found and found[4] == name:
            start, size, offset = (int(x, 16) for x in found.groups()[:3])
            mapped.append((start, start + size, offset))
        for entry in row.split()[1:] if "/0x" in row and "MMAP" not in row else []:
            source, target = (place(int(x, 16)) for x in entry.split("/")[:2])
            if source is not None and target is not None:
                counts[source, target] += 1
    for (source, target), count in sorted(counts.items()):
        print(f"{source:x} {target:x} {count}")


main(*sys.argv[1:])
