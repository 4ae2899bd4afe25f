# accesses.py - a recording of loads and stores that a CPU has sampled precisely, made from random
# numbers; and what pmu-data must say of it, by the layout of perf_mem_data_src in
# linux/perf_event.h.
#
#	accesses.py make FILE KIND [SAMPLES]	write the recording, of 4,000 samples if not said
#	accesses.py judge FOLDER KIND	compare FOLDER/{line,source,thread}.json with it
#	accesses.py peers FOLDER old	compare these files with FOLDER/{mem,c2c}, which perf wrote
#
# KIND: "all" has all kinds of sources; "physical" also has physical addresses; "old" is one process,
# whose loads are of the kinds that perf c2c of Linux 6.1 counts.  The numbers are the same in each
# run.
import collections
import functools
import json
import random
import re
import sys

import streams
from streams import ADDR, CPU, IP, PERIOD, TID, TIME, struct

WEIGHT_STRUCT, DATA_SRC, PHYS = 1 << 24, 1 << 15, 1 << 19
LINES, LINE = 60, 64    # the CPU of "physical" has lines of 128 bytes

LOAD, STORE = 2, 4
HIT, MISS = 2, 4
# mem_lvl, mem_lvl_num, mem_remote, mem_hops -> the name
PLACES = [
    (0x08, 0x0, 0, 0, "L1"), (0x10, 0x0, 0, 0, "LFB"), (0x20, 0x0, 0, 0, "L2"),
    (0x40, 0x0, 0, 0, "L3"), (0x80, 0x0, 0, 0, "memory"), (0x100, 0x0, 0, 0, "remote memory"),
    (0x200, 0x0, 0, 0, "remote memory, 2 hops"), (0x400, 0x0, 0, 0, "remote cache"),
    (0x800, 0x0, 0, 0, "remote cache, 2 hops"), (0x1000, 0x0, 0, 0, "I/O"),
    (0x2000, 0x0, 0, 0, "uncached memory"),
    (0, 0x1, 0, 0, "L1"), (0, 0x2, 0, 0, "L2"), (0, 0x3, 0, 0, "L3"), (0, 0x4, 0, 0, "L4"),
    (0, 0x8, 0, 0, "uncached memory"), (0, 0x9, 0, 0, "CXL memory"), (0, 0xa, 0, 0, "I/O"),
    (0, 0xb, 0, 0, "a cache"), (0, 0xc, 0, 0, "LFB"), (0, 0xd, 0, 0, "memory"),
    (0, 0xe, 0, 0, "persistent memory"), (0, 0xd, 1, 0, "remote memory"),
    (0, 0x3, 1, 1, "remote L3 of another core"), (0, 0x3, 1, 2, "remote L3 of another node"),
    (0, 0xb, 1, 3, "remote a cache of another socket"),
    (0, 0xd, 1, 4, "remote memory of another board"),
]
SNOOPS = [1, 2, 4, 8, 16]       # not available, none, hit, miss, hit modified
HITM = 16


kind, count = "", 4000


class Sample:
    def __init__(self, r, number):
        hot = r.random() < 0.5
        self.pid = 100 if kind == "old" else r.choice([100, 200])
        self.tid = self.pid + r.randrange(3)
        # a hot line is for all; other lines belong to a thread
        self.number = r.randrange(4) if hot else 10 + r.randrange(LINES) * 8 + self.tid % 8
        self.offset = 8 * r.randrange(LINE // 8)
        self.address = 0x7f0000000000 + self.number * LINE + self.offset
        self.physical = 0x10000000 + self.number * LINE + self.offset
        self.op = STORE if r.random() < 0.3 else LOAD
        lvl, num, remote, hops, self.place = r.choice(
            PLACES[:1] if self.op == STORE else PLACES[:8] if kind == "old" else PLACES)
        hit = HIT if r.random() < 0.9 or (kind == "old" and self.op == LOAD) else MISS
        if lvl:
            lvl |= hit
        self.miss = bool(lvl) and hit == MISS
        snoop = r.choice(SNOOPS) if self.op == LOAD else 1
        if kind == "old" and not lvl & 0xc40:
            snoop = 1
        elif kind == "old" and lvl & 0xc00:
            snoop = r.choice([4, HITM])
        self.hitm = snoop == HITM
        self.peer = kind != "old" and self.op == LOAD and r.random() < 0.05
        self.blocked = 2 if r.random() < 0.05 else 0
        self.source = (self.op | lvl << 5 | snoop << 19 | 1 << 24 | num << 33 | remote << 37 |
                       (2 if self.peer else 0) << 38 | self.blocked << 40 | hops << 43)
        self.weight = int(r.expovariate(1 / 200)) + 1 if self.op == LOAD else 0
        self.period = 1000 + r.randrange(50)
        self.time = 10 ** 9 + number * 10 ** 6
        self.cpu = self.tid % 4

    def name(self):
        return (self.place + (" miss" if self.miss else "") +
                (", modified in another cache" if self.hitm else "") +
                (", data blocked" if self.blocked else ""))

    def record(self):
        body = struct.pack("<QIIQQIIQQQ", 0x401000 + self.tid, self.pid, self.tid, self.time,
                           self.address, self.cpu, 0, self.period,
                           self.weight | 7 << 32 | 9 << 48, self.source)
        return streams.record(9, body + (struct.pack("<Q", self.physical) if kind == "physical" else b""))


@functools.cache
def samples():
    r = random.Random(35)
    return [Sample(r, i) for i in range(count)]


def make(path):
    fields = IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT_STRUCT | DATA_SRC
    attr = streams.attr(4, 0x1cd, 1000, fields | (PHYS if kind == "physical" else 0), 1 << 18, 128)
    trailer = lambda tid, time: struct.pack("<IIQII", tid, tid, time, 0, 0)
    start = [streams.record(3, struct.pack("<II", tid // 100 * 100, tid) +
                            streams.pad(b"thread%d" % (tid % 100)) + trailer(tid, 10 ** 9 - 1))
             for tid in (100, 101, 102, 200, 201, 202)]
    cpus = b"0-3" + bytes(13)
    features = {7: struct.pack("<II", 4, 4),                        # CPUs
                14: struct.pack("<IIQQI", 1, 0, 1, 1, 16) + cpus,   # one node, for perf c2c
                20: struct.pack("<6I", 1, 1, 1, LINE, 64, 8) + (struct.pack("<I", 4) + b"Data") * 3}
    with open(path, "wb") as f:
        f.write(streams.file([(attr, [1])],
                             start + [s.record() for s in samples()], features))


def sums(of):
    return {
        "samples": len(of), "periods": sum(s.period for s in of),
        "loads": sum(s.op == LOAD for s in of), "stores": sum(s.op == STORE for s in of),
        "elsewhere": sum(s.hitm or s.peer for s in of),
        "weighed": sum(s.weight > 0 for s in of), "weight": sum(s.weight for s in of),
    }


def grouped(all, key):
    groups = collections.defaultdict(list)
    for s in all:
        groups[key(s)].append(s)
    return groups


def read(folder, name):
    with open("%s/%s.json" % (folder, name)) as f:
        return json.load(f)


def compare(what, rows, groups):
    assert set(rows) == set(groups), (what, set(rows) ^ set(groups))
    for key, of in groups.items():
        got = {k: rows[key][k] for k in sums(of)}
        assert got == sums(of), (what, key, got, sums(of))
        share, all = rows[key]["bar"], sum(s.period for s in samples())
        assert abs(share["share"] - sum(s.period for s in of) / all) < 1e-5, (what, key)
        assert share["low"] <= share["share"] <= share["high"]


def judge_percentiles(rows, groups):
    for key, of in groups.items():
        of = sorted((s for s in of if s.weight), key=lambda s: s.weight)
        if not of:
            assert "p50" not in rows[key]
            continue
        total = sum(s.period for s in of)
        for name, p in ("p50", 0.5), ("p90", 0.9), ("p99", 0.99):
            reached = 0
            for s in of:
                reached += s.period
                if reached >= p * total:
                    break
            got = rows[key][name]
            assert s.weight * 0.998 <= got["value"] <= s.weight, (key, name, got, s.weight)
            assert got["low"] is None or got["low"] <= got["value"]
            assert got["high"] is None or got["high"] >= got["value"]


def judge_lines(found):
    physical = kind == "physical"
    assert found["line_bytes"] == LINE
    lines = grouped(samples(), lambda s: s.number if physical else (s.number, s.pid))
    shared = {}
    for key, of in lines.items():
        if len({s.tid for s in of}) > 1 and any(
                s.op == STORE or s.hitm or s.peer for s in of):
            shared[key] = of
    base = 0x10000000 if physical else 0x7f0000000000
    rows = {}
    for row in found["rows"]:
        number = (int(row["address"], 16) - base) // LINE
        rows[number if physical else (number, row["pid"])] = row
        assert row["is_physical"] == physical
    compare("line", rows, shared)
    cost = lambda of: sum(s.period * s.weight for s in of if s.hitm or s.peer)
    costs = [cost(shared[key]) for key in rows]
    assert costs == sorted(costs, reverse=True), costs
    for key, of in shared.items():
        parts = grouped(of, lambda s: (s.offset, s.tid))
        got = {(a["offset"], a["tid"]): a for a in rows[key]["accesses"]}
        assert set(parts) == set(got) and len(got) == len(rows[key]["accesses"])
        for k, some in parts.items():
            assert {m: got[k][m] for m in sums(some)} == sums(some), (key, k)
        assert rows[key]["threads"] == len({s.tid for s in of})
        users = grouped(of, lambda s: s.offset)
        assert rows[key]["shared_offsets"] == sum(
            len({s.tid for s in u}) > 1 for u in users.values())
    rest = [s for key, of in lines.items() if key not in shared for s in of]
    assert found["others"] == {"samples": len(rest), "periods": sum(s.period for s in rest)}


def judge(folder):
    judge_lines(read(folder, "line"))
    sources = {row["name"]: row for row in read(folder, "source")["rows"]}
    groups = grouped(samples(), Sample.name)
    compare("source", sources, groups)
    judge_percentiles(sources, groups)
    threads = {row["tid"]: row for row in read(folder, "thread")["rows"]}
    groups = grouped(samples(), lambda s: s.tid)
    compare("thread", threads, groups)
    judge_percentiles(threads, groups)
    assert all(row["name"] == "thread%d/%d" % (tid % 100, tid) for tid, row in threads.items())


# What perf mem calls what pmu-data calls by these names.
OLD_NAMES = {
    "L1": "L1", "LFB": "LFB/MAB", "L2": "L2", "L3": "L3", "memory": "Local RAM",
    "remote memory": "Remote RAM (1 hop)", "remote memory, 2 hops": "Remote RAM (2 hops)",
    "remote cache": "Remote Cache (1 hop)", "remote cache, 2 hops": "Remote Cache (2 hops)",
    "I/O": "I/O", "uncached memory": "Uncached",
}


def peers(folder):
    mem = collections.Counter()
    with open(folder + "/mem") as f:
        for line in f:
            m = re.match(r"\s+[0-9.]+%\s+(\d+)\s+(.*\S)\s*$", line)
            if m:
                mem[m[2]] = int(m[1])
    found = collections.Counter()
    for row in read(folder, "source")["rows"]:
        name = re.sub(", modified in another cache|, data blocked", "", row["name"])
        miss = name.endswith(" miss")
        found[OLD_NAMES[name[:-5] if miss else name] + (" miss" if miss else " hit")] += \
            row["samples"]
    assert mem == found, (mem, found)
    lines, c2c = {int(row["address"], 16): row for row in read(folder, "line")["rows"]}, 0
    with open(folder + "/c2c") as f:
        for line in f:
            m = re.match(r"\s+\d+\s+(0x\w+)\s+\S+\s+\d+\s+[0-9.]+%(.*)", line)
            if not m or int(m[1], 16) not in lines:     # only one thread used it
                continue
            hitm, _, _, records, loads, stores = map(int, m[2].split()[:6])
            row = lines[int(m[1], 16)]
            assert hitm == row["elsewhere"] and records == row["samples"], (line, row)
            assert loads == row["loads"] and stores == row["stores"], (line, row)
            c2c += 1
    assert c2c == sum(row["elsewhere"] > 0 for row in lines.values()) > 3


if __name__ == "__main__":
    LINE = 128 if sys.argv[3] == "physical" else LINE
    kind, count = sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else count
    {"make": make, "judge": judge, "peers": peers}[sys.argv[1]](sys.argv[2])
