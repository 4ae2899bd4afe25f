#!/usr/bin/env python3
"""Compares libpmukit's frames at addresses of an ELF file with llvm-symbolizer's.

binary.py addresses FILE COUNT    random addresses in the functions of FILE's .symtab, in
                                  hexadecimal digits
binary.py compare FILE GOT        GOT is what `binary frames` printed for the addresses on stdin,
                                  with mangled names; FILE is what llvm-symbolizer reads.  Prints
                                  what differs, and at the end how many addresses, inlined calls,
                                  lines, columns and starts of functions were the same

A function may have several names at one address: any of them is right.
"""
import json
import os
import random
import subprocess
import sys


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def symbols(path):
    """Address to names, and the ranges of functions."""
    names, ranges = {}, []
    for line in output("readelf", "-sW", path).splitlines():
        field = line.split()
        if len(field) == 8 and field[3] in ("FUNC", "IFUNC") and field[6] != "UND":
            address, size = int(field[1], 16), int(field[2], 0)
            names.setdefault(address, set()).add(field[7])
            ranges += [(address, size)] if size else []
    return names, ranges


def addresses(path, count):
    random.seed(1)
    ranges = sorted(set(symbols(path)[1]))
    for _ in range(count):
        start, size = random.choice(ranges)
        print(f"{start + random.randrange(size):x}")


def ours(path):
    """The frames of each address: (symbol, file, line, column, start line)."""
    with open(path) as file:
        assert file.readline().startswith("build ID ")
        for block in file.read().rstrip("\n").split("\n\n"):
            frames = []
            for line in block.split("\n"):
                _, symbol, place, start, *inlined = line.split("\t")
                name, number, column = place.rsplit(":", 2)
                frames.append((symbol, os.path.normpath(name), int(number), int(column),
                               int(start), inlined == ["inlined"]))
            yield frames


def theirs(path, text):
    command = ("llvm-symbolizer-19", "--output-style=JSON", "--no-demangle", "--obj=" + path)
    for line in output(*command, input=text).splitlines():
        frames = json.loads(line)["Symbol"]
        yield [(f["FunctionName"], os.path.normpath(f["FileName"]), f["Line"], f["Column"],
                f["StartLine"], i + 1 < len(frames)) for i, f in enumerate(frames)]


def same_name(one, two, names):
    return one == two or any({one, two} <= all_of for all_of in names.values())


def main():
    if sys.argv[1] == "addresses":
        addresses(sys.argv[2], int(sys.argv[3]))
        return
    text = sys.stdin.read()
    asked = text.split()
    names, _ = symbols(sys.argv[2])
    same = dict.fromkeys(("addresses", "inlined", "lines", "columns", "starts"), 0)
    for address, got, want in zip(asked, ours(sys.argv[3]),
                                  theirs(sys.argv[2], "".join(f"0x{a}\n" for a in asked)),
                                  strict=True):
        good = len(got) == len(want)
        for g, w in zip(got, want):
            has_line = bool(w[2])
            good = good and same_name(g[0], w[0], names) and g[5] == w[5] and \
                (not has_line or g[1:4] == w[1:4]) and (not w[4] or g[4] == w[4])
            same["inlined"] += good and w[5]
            same["lines"] += good and has_line
            same["columns"] += good and bool(w[3])
            same["starts"] += good and bool(w[4])
        if not good:
            print(f"{address}: {got}, not {want}")
        same["addresses"] += good
    print(" ".join(f"{n} {what}" for what, n in same.items()))


main()
