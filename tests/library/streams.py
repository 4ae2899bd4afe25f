"""What others say of the samples of a stream, for comparison with what the library says.

    streams.py perf <OUTPUT of perf script --ns -F pid,tid,time,event,period,ip
    streams.py library <OUTPUT of the program stream, samples
    streams.py totals NAME <OUTPUT of the program stream, samples; of perf's event NAME: all
    streams.py folded <OUTPUT of the program stream, frames
    streams.py sets <RESOLVED >OUT: with many more sets of labels before its last sample

The first two print a line for each sample: pid/tid, time, period, and the addresses of its callchain,
at most 100; sorted.  An address of the program is "-": perf shows where it is in its file, if it
can.
"""
import collections
import re
import struct
import sys

MOST = 100


def print_sorted(samples):
    for sample in sorted(samples):
        print(*sample)


def of_perf(lines):
    head = re.compile(r"\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+(.*?):\s*([0-9a-f]*)\s*$")
    samples = []
    for line in lines:
        m = head.match(line)
        if m:
            time = int(m[3]) * 10**9 + int(m[4])
            samples.append(["%s/%s" % (m[1], m[2]), time, int(m[5]), []])
            if m[7]:
                samples[-1][3].append(int(m[7], 16))
        elif line.strip():
            samples[-1][3].append(int(line.split()[0], 16))
    return samples


def of_library(lines):
    samples = []
    for line in lines:
        fields, chain = line.rsplit(" :", 1)
        m = re.match(r".* (\d+) (\d+) (-?\d+/-?\d+) \d+ ([0-9a-f]+) [0-9a-f]+ ", fields + " ")
        addresses = [int(a, 16) for a in chain.split()]
        addresses = [a for a in addresses if a < (1 << 64) - 4096]
        samples.append([m[3], int(m[2]), int(m[1]), addresses or [int(m[4], 16)]])
    return samples


def cut(samples):
    return [(task, time, period) + tuple("%x" % a if a >> 63 else "-" for a in chain[:MOST])
            for task, time, period, chain in samples]


def totals(lines):
    count, total = collections.Counter(), collections.Counter()
    for line in lines:
        name, period = line.split(" ")[0:2]
        count[name] += 1
        total[name] += int(period)
    for name in sorted(count):
        print(name, count[name], total[name])


def name(function, path):
    return "[%s]" % (path.split("/")[-1] or "unknown") if function.startswith("0x") else function


def folded(lines):
    """Stacks as pmu-topprof --to folded writes them, with the names of functions only."""
    stacks = collections.Counter()
    for line in lines:
        event, comm, *frames, period = line.rstrip("\n").split("\t")
        names = [name(*f.rsplit("|", 3)[0:2]) for f in frames]
        stacks[";".join([comm] * (comm != "") + names)] += int(period)
    for stack in sorted(stacks):
        print(stack, stacks[stack])


def add_sets(stream):
    LABELS, END, CHAIN_SAMPLE, COUNT = 0x504d0008, 0x504d0006, 0x504d000c, 70000
    records, at = [], 16
    while at < len(stream):
        size = struct.unpack_from("<H", stream, at + 6)[0]
        records.append(stream[at:at + size])
        at += size
    types = [struct.unpack_from("<I", r)[0] for r in records]
    first, last = types.count(LABELS), len(types) - 1 - types[::-1].index(CHAIN_SAMPLE)
    more = [struct.pack("<IHHII16s", LABELS, 0, 32, first + i, 1, b"request\0%d" % i)
            for i in range(COUNT)]
    end = bytearray(records[types.index(END)])
    struct.pack_into("<I", end, 32, first + COUNT)
    records[types.index(END)] = bytes(end)
    return stream[:16] + b"".join(records[:last] + more + records[last:])


what = sys.argv[1]
if what == "perf":
    print_sorted(cut(of_perf(sys.stdin)))
elif what == "library":
    print_sorted(cut(of_library(line for line in sys.stdin if " :" in line)))
elif what == "totals":
    totals(line for line in sys.stdin if " :" in line)
elif what == "sets":
    sys.stdout.buffer.write(add_sets(sys.stdin.buffer.read()))
else:
    folded(line for line in sys.stdin if "\t" in line)
