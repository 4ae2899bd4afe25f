"""branch-bases.py DIR PROGRAM - makes a stream of two processes that run PROGRAM, of
t691-branch-bases.sh, and what pmu-branch must write of it: DIR/stream, DIR/bolt and so on.

All addresses are from nm and readelf's list of sections; segments say only what the kernel maps.
"""
import re
import struct
import subprocess
import sys

import branches

PAGE, ROUNDS = 0x1000, 3
PROCESSES = [(42, 0x555555554000), (43, 0x7f1234560000)]	# and where a PIE is
# the newest first
TAKEN = [("e", "outside"), ("c", "g"), ("b", "f"), ("e", "n"), ("c", "g"), ("outside", "f")]


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def segments(path):
    """Offset, address, size and flags of what is loaded."""
    loads = [line.split() for line in output("readelf", "-lW", path).splitlines()]
    return [(int(words[1], 16), int(words[2], 16), int(words[5], 16), words[6:-1])
            for words in loads if words[:1] == ["LOAD"]]


def make(path, at, is_movable, processes):
    stream = branches.Stream(path=None)
    for pid, bias in processes:
        bias = bias if is_movable else 0
        stream.record(3, 0, struct.pack("<ii8s", pid, pid, b"program") + stream.trailer())
        for offset, address, size, flags in segments(path):
            start, end = address // PAGE * PAGE, -(-(address + size) // PAGE) * PAGE
            if "E" in flags:
                stream.map(pid, bias + start, end - start, offset // PAGE * PAGE, "/x/program")
        stream.map(pid, branches.OTHER, PAGE, 0, "/x/library")
    for turn in range(ROUNDS):
        for pid, bias in processes:
            here = {name: value + (bias if is_movable else 0) for name, value in at.items()}
            here["outside"] = branches.OTHER + 8
            wrong = branches.MISPREDICTED if turn == 0 else branches.PREDICTED
            stream.sample(*[(here[source], here[target], wrong if source == "b" else 0)
                            for source, target in TAKEN], pid=pid, ip=here["n"])
    return stream.bytes


def main(folder, path):
    at = {words[2]: int(words[0], 16) for words in map(str.split, output("nm", path).splitlines())}
    is_movable = "DYN" in output("readelf", "-hW", path)
    text = re.search(r"\.text +PROGBITS +(\S+) (\S+)", output("readelf", "-SW", path))
    address, offset = (int(number, 16) for number in text.groups())
    for name, processes in ("stream", PROCESSES), ("one", PROCESSES[:1]):
        with open(f"{folder}/{name}", "wb") as file:
            file.write(make(path, at, is_movable, processes))
    parts = segments(path)
    code = next(address for _, address, _, flags in parts if "E" in flags) // PAGE * PAGE
    bases = {"autofdo": address - offset, "llvm": code, "bolt": parts[0][1] if is_movable else 0}
    count, twice = 2 * ROUNDS, 4 * ROUNDS
    for form, base in bases.items():
        f, c, n, b, g, e = (f"{at[name] - base:x}" for name in "fcnbge")
        ranges = [f"{f}-{c}:{twice}", f"{n}-{b}:{count}", f"{g}-{e}:{twice}"]
        inner = [f"{c}->{g}:{twice}", f"{b}->{f}:{count}", f"{e}->{n}:{count}"]
        lines = {
            "autofdo": [3, *ranges, 1, f"{n}:{count}", 3, *inner],
            "llvm": [3, *ranges, 4, f"{(1 - base) % (1 << 64):x}->{f}:{count}", *inner],
            "bolt": [f"B 0 {f} {count} 0", f"B {c} {g} {twice} 0", f"B {b} {f} {count} 2",
                     f"B {e} 0 {count} 0", f"B {e} {n} {count} 0", f"F {f} {c} {count}",
                     f"F {n} {b} {count}", f"F {g} {e} {twice}", f"f {f} {c} {count}"],
        }[form]
        branches.write(f"{folder}/{form}", "".join(f"{line}\n" for line in lines))


main(*sys.argv[1:])
