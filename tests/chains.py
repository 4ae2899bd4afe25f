#!/usr/bin/env python3
"""chains.py - callchains as perf script prints them, for the tests of pmu-unwind.

    chains.py same OURS THEIRS    every stack that is whole in THEIRS is the same in OURS, and
                                  no stack of OURS is shorter; prints "SAME WHOLE TOTAL", and how
                                  many of OURS are whole
    chains.py whole STREAM        prints "WHOLE TOTAL": how many stacks reach a thread's start
    chains.py known STREAM N      of the stacks that rec() has called something in: all have it N
                                  times in a row, then main() or run_thread(), and the thread's
                                  start; prints how many there are, and "WHOLE TOTAL"
    chains.py frames STREAM       the names of each stack's frames, a line each, counted
    chains.py joined WHOLE CUT JOINED [CUT JOINED]...
                                  judges joining, by the same recording with longer dumps: prints
                                  "CUT RIGHT PART WRONG": stacks cut, of these joined: all of the
                                  rest, a right part of it, and wrong frames
    chains.py prefixes STREAM     every stack is the first part of the longest one; prints
                                  "LONGEST TOTAL"
    chains.py signed DUMPS STREAM prints how many words of DUMPS, which STREAM was made from, are
                                  return addresses with a signature (PAC of arm64)
    chains.py compare OURS THEIRS prints "SAME LONGER SHORTER OTHER": stacks of OURS that are the same,
                                  go on where THEIRS ends, end before, and have other callers
    chains.py kernel A B          the kernel's frames are the same in both; prints how many
All but kernel: user frames only.  SYMFS: a directory that has the programs, for perf.
perf's callers are one byte before the return address; ours are it.
"""
import collections
import os
import re
import struct
import subprocess
import sys

HEAD = re.compile(r"^\s*(-?\d+)\s+(\d+\.\d+):")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")
ADDRESS = re.compile(r"^\s+([0-9a-f]+)()()(?: .*)?$")
STARTS = re.compile(r"^(_start|_dl_start_user|__clone3?|clone3?|__start_context|thread_start|"
                    # of Go: goroutines, and where its runtime changes to another stack
                    r"runtime\.(goexit|mstart|rt0_go|clone|systemstack|mcall|morestack|asmcgocall)"
                    r"(\.abi0)?)(@.*)?$")

PERF_CONTEXT_MAX = (1 << 64) - 4095


def stacks(path, is_kernel=False, has_names=True):
    text = subprocess.run(
        ["perf", "script", "-f", "--no-inline", "--max-stack", "5000", "-i", path,
         "-F", "tid,time,ip" + (",sym,dso" if has_names else "")] +
        # to read the names of the kernel's functions takes longest
        ["--kallsyms", "/dev/null"] +
        (["--symfs", os.environ["SYMFS"]] if "SYMFS" in os.environ else []),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
    found = collections.OrderedDict()
    frames = None
    for line in text.splitlines():
        head, frame = HEAD.match(line), (FRAME if has_names else ADDRESS).match(line)
        if head:
            frames = found[head[1], head[2]] = []
        elif frame and frames is not None and (int(frame[1], 16) >> 63 == is_kernel) and \
                frame[1] != "f" * 16:  # what perf writes where it gives up
            frames.append((int(frame[1], 16), frame[2], os.path.basename(frame[3])))
    return found


def is_whole(frames):
    return bool(frames) and bool(
        STARTS.match(frames[-1][1]) or
        # in a stripped program, _start has no name
        len(frames) > 1 and frames[-2][1].startswith("__libc_start_main"))


def is_same(a, b):
    return len(a) == len(b) and all(
        x[2] == y[2] and (x[0] == y[0] or (i > 0 and abs(x[0] - y[0]) == 1))
        for i, (x, y) in enumerate(zip(a, b)))


def goes_on(our, their):
    """perf ends every stack in clone() and clone3(), that of the thread that calls them, too."""
    return bool(re.match("(__)?clone3?$", their[-1][1])) and is_whole(our) and \
        is_same(our[:len(their)], their)


def complain(*what):
    print(*(str(w)[:1500] for w in what), file=sys.stderr)


def same(ours, theirs):
    ours, theirs = stacks(ours), stacks(theirs)
    equal = whole = bad = 0
    for key, their in theirs.items():
        our = ours.get(key, [])
        equal += is_same(our, their)
        whole += is_whole(their)
        if (is_whole(their) and not is_same(our, their) and not goes_on(our, their)) or \
                len(our) < len([f for f in their if f[2] != "[unknown]" and f[1] != "[unknown]"]):
            bad += 1
            complain(key, "ours:", our, "theirs:", their)
    print(equal, whole, len(theirs), sum(is_whole(f) for f in ours.values()))
    return bad == 0 and len(ours) == len(theirs)


def known(path, depth):
    count, good, found = 0, True, stacks(path)
    for key, frames in found.items():
        names = [f[1] for f in frames]
        if "rec" not in names or not {"burn_some", "sort"} & set(names):
            continue
        first = names.index("rec")
        ok = names[first:first + depth] == ["rec"] * depth and \
            names[first + depth] in ("main", "run_thread") and is_whole(frames)
        count += ok
        if not ok:
            complain(key, names)
            good = False
    print(count, sum(is_whole(f) for f in found.values()), len(found))
    return good


def joined(whole, *pairs):
    whole, *pairs = (stacks(s, has_names=False) for s in (whole, *pairs))
    cuts = right = part = wrong = 0
    for cut, joined_ in zip(pairs[::2], pairs[1::2]):
        for key, full in whole.items():
            if cut.get(key) == full:
                continue
            cuts += 1
            if joined_.get(key) == full:
                right += 1
            elif joined_.get(key) != full[:len(joined_.get(key, []))]:
                wrong += 1
                complain(key, joined_.get(key), full)
            elif joined_.get(key) != cut.get(key):
                part += 1
    print(cuts, right, part, wrong)
    return True


def prefixes(path):
    found = list(stacks(path).values())
    longest = max(found, key=len)
    for frames in found:
        if frames != longest[:len(frames)]:
            complain(frames, longest)
            return False
    print(len(longest), len(found))
    return True


def signed(dumps, path):
    text = subprocess.run(["perf", "script", "-f", "-D", "-i", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
    most = (1 << 48) - 1
    callers = {int(word, 16) for word in re.findall(r"^\.{5} +\d+: ([0-9a-f]{16})$", text, re.M)}
    with open(dumps, "rb") as file:
        data = file.read()
    words = struct.unpack_from("<%dQ" % (len(data) // 8), data)
    print(sum(w > most and w & most in callers for w in words if w < PERF_CONTEXT_MAX))
    return True


def compare(ours, theirs):
    ours, theirs = stacks(ours), stacks(theirs)
    counts = collections.Counter()
    for key, their in theirs.items():
        # perf goes on at addresses that are no code
        while len(their) > 1 and their[-1][1:] == ("[unknown]", "[unknown]"):
            their.pop()
        our = ours.get(key, [])
        shared = min(len(our), len(their))
        counts["other" if not is_same(our[:shared], their[:shared]) else
               "same" if len(our) == len(their) else
               "longer" if len(our) > shared else "shorter"] += 1
    print(*(counts[what] for what in ("same", "longer", "shorter", "other")))
    return True


def kernel(a, b):
    a, b = stacks(a, True, False), stacks(b, True, False)
    print(sum(map(len, a.values())))
    return a == b


def main(what, *arguments):
    if what == "same":
        return same(*arguments)
    if what == "known":
        return known(arguments[0], int(arguments[1]))
    if what in ("joined", "prefixes", "signed", "kernel", "compare"):
        return globals()[what](*arguments)
    found = stacks(arguments[0])
    if what == "whole":
        print(sum(is_whole(f) for f in found.values()), len(found))
    else:
        lines = collections.Counter(" ".join(f[1] for f in fs) for fs in found.values())
        for line, count in lines.most_common():
            print(count, line)
    return True


sys.exit(not main(*sys.argv[1:]))
