"""brstack.py - what pmu-branch must write, from perf's own reading of a recording.

    perf script --show-mmap-events -F pid,ip,brstack | brstack.py autofdo|llvm|bolt BINARY

BINARY is known by its name, and read with readelf.  This has the rules in their plainest form: no
entry may be empty or on a wrong path, and ranges over functions' borders are not looked for.
"""
import collections
import os
import re
import subprocess
import sys

MAPPED = re.compile(r"PERF_RECORD_MMAP2? (-?\d+)/\d+: \[(\w+)\((\w+)\) @ (\w+).*\]: \S+ (.*)$")
SECTION = re.compile(r" *\[ *\d+\] (\.\S+) +PROGBITS +(\S+) (\S+) (\S+) \S+ +AXG? ")
MOST = 1 << 20


def readelf(option, path):
    return subprocess.run(["readelf", option, path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


class Program:
    def __init__(self, path):
        self.name, self.code = os.path.basename(path), []
        self.movable = any("Type:" in line and "DYN" in line for line in readelf("-hW", path))
        for line in readelf("-SW", path):
            found = SECTION.match(line)
            if found and not found[1].startswith(".plt"):
                address, offset, size = (int(text, 16) for text in found.groups()[1:])
                self.code.append((offset, size, address - offset))
        loads = [line.split() for line in readelf("-lW", path) if line.split()[:1] == ["LOAD"]]
        self.first = int(loads[0][2], 16)
        self.first_code = int(next(l for l in loads if l[7] == "E")[2], 16) & ~0xfff

    def address(self, offset):
        """Of code in the file; None: that is no code, but a stub, for one."""
        return next((offset + more for start, size, more in self.code
                     if start <= offset < start + size), None)


class Walk:
    def __init__(self, form, program):
        self.form, self.program, self.maps = form, program, collections.defaultdict(list)
        self.counts = [collections.Counter() for _ in range(3)]	# ranges, addresses, branches
        self.mispredicted, self.entered = collections.Counter(), collections.Counter()
        base = {"llvm": program.first_code, "bolt": program.first if program.movable else 0}
        self.base, self.known = base.get(form), {}

    def map(self, pid, start, size, offset, path):
        if pid == -1:
            return
        self.known.clear()
        others = self.maps[pid]
        others[:] = [m for m in others if m[0] + m[1] <= start or start + size <= m[0]]
        others.append((start, size, offset, os.path.basename(path) == self.program.name))

    def place(self, pid, address):
        """None: it is not in the binary."""
        if (pid, address) not in self.known:
            self.known[pid, address] = self.look_up(pid, address)
        return self.known[pid, address]

    def look_up(self, pid, address):
        for start, size, offset, is_ours in self.maps[pid]:
            if start <= address < start + size:
                place = address - start + offset if is_ours else None
                if place is None or self.form == "autofdo":
                    return place
                place = self.program.address(place)
                return None if place is None else place - self.base
        return None

    def sample(self, pid, ip, entries):
        ranges, addresses, branches = self.counts
        if self.place(pid, ip) is not None:
            addresses[self.place(pid, ip)] += 1
        newer = None
        for index, entry in enumerate(entries):
            source, target, flag = entry.split("/")[:3]
            at = (int(source, 16), int(target, 16))
            now = (self.place(pid, at[0]), self.place(pid, at[1]))
            if index:
                size = newer[0] - at[1]
                far_twice = index == 1 and newer == at and at[0] - at[1] not in range(0x1001)
                is_range = not far_twice and 0 <= size <= MOST and \
                    now[1] is not None and newer_place is not None
                if is_range and now[0] is None and self.form == "bolt":
                    self.entered[now[1], newer_place] += 1
                elif is_range:
                    ranges[now[1], newer_place] += 1
            newer, newer_place = at, now[0]
            if self.form == "autofdo" and (None in now or (index and not is_range)):
                continue
            if now != (None, None):
                branches[now] += 1
                self.mispredicted[now] += flag == "M"

    def write(self):
        ranges, addresses, branches = self.counts
        outside = (1 - self.base) % (1 << 64) if self.form == "llvm" else 0
        shown = [(outside if a is None else a, outside if b is None else b, branches[a, b],
                  self.mispredicted[a, b])
                 for a, b in sorted(branches, key=lambda at: [(-1 if x is None else x) for x in at])
                 if self.form != "llvm" or b is not None]
        if self.form == "bolt":
            for line in shown:
                print("B %x %x %d %d" % line)
            for letter, counts in ("F", ranges), ("f", self.entered):
                for at, count in sorted(counts.items()):
                    print(f"{letter} {at[0]:x} {at[1]:x} {count}")
            return
        print(len(ranges))
        for (a, b), count in sorted(ranges.items()):
            print(f"{a:x}-{b:x}:{count}")
        if self.form == "autofdo":
            print(len(addresses))
            for a, count in sorted(addresses.items()):
                print(f"{a:x}:{count}")
        print(len(shown))
        for a, b, count, *_ in shown:
            print(f"{a:x}->{b:x}:{count}")


def main(form, path):
    walk = Walk(form, Program(path))
    for line in sys.stdin:
        found = MAPPED.search(line)
        if found:
            pid, start, size, offset, path = found.groups()
            walk.map(int(pid), int(start, 0), int(size, 0), int(offset, 0), path)
            continue
        words = line.split()
        if len(words) > 2 and "PERF_RECORD" not in line:
            walk.sample(int(words[0]), int(words[1], 16), words[2:])
    walk.write()


main(*sys.argv[1:])
