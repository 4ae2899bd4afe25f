"""ibs.py - raw records of AMD's IBS, and what perf says of their bits.

ibs.py make CPU CAPS FILE      a perf.data file with 400 samples of random registers
ibs.py expect CPU <TEXT        from perf report -D: what each sample must have, a line for each
ibs.py labels <TEXT            the same, from pprof -raw of a profile

The rules are those of the kernel, which sets PERF_SAMPLE_DATA_SRC since Linux 6.2
(perf_ibs_get_mem_lvl() and its neighbours in arch/x86/events/amd/ibs.c).
"""
import random
import re
import sys

from streams import IP, RAW, TID, TIME, attr, file, record, struct

IBS_OP = 10             # the number of the PMU


def text(line):
    return struct.pack("<I", 64) + line.encode().ljust(64, b"\0")


def make(cpu, caps, path):
    rng = random.Random(caps)
    samples = []
    for i in range(400):
        more = caps >> 11 & 1
        data2 = rng.getrandbits(8) & (0xf7 if more else 0x37)
        data3 = rng.getrandbits(64)
        if rng.random() < 0.7:
            data3 &= ~(1 << 14)         # few accesses are not cached
        if rng.random() < 0.7:
            data3 |= 1 << 7 | 1 << 20 | 1   # many loads miss L1 and L2
        control = 0x60000 | rng.getrandbits(16)
        raw = struct.pack("<I7Q", caps, control, 0x400000 + i, rng.getrandbits(34), data2, data3,
                          0x7f0000000000 + 8 * i, 0x1000000 + i)
        samples.append(record(9, struct.pack("<QIIQI", 0x400000 + i, 1, 1, i + 1, len(raw)) + raw))
    features = {9: text(cpu), 16: struct.pack("<II", 1, IBS_OP) + text("ibs_op")}
    if caps >> 11 & 1:      # PMU_CAPS: PMUs; for each: capabilities, each a name and a value; name
        features[31] = (struct.pack("<II", 1, 1) + text("zen4_ibs_extensions") + text("1") +
                        text("ibs_op"))
    kind = attr(IBS_OP, 0, 16000, IP | TID | TIME | RAW)
    with open(path, "wb") as out:
        out.write(file([(kind, [5])], samples, features))


# the level of each data source: with three bits, and with five
LEVELS = {2: "L3 hit", 3: "RAM hit", 4: "Remote cache (2 hops) hit", 7: "I/O hit"}
MORE_LEVELS = {1: "L3 hit", 2: "Remote cache (1 hop) hit", 3: "RAM hit",
               5: "Remote cache (2 hops) hit", 6: "PMEM", 7: "I/O hit", 8: "CXL"}


def level(bit, source, more):
    if bit("DcUcMemAcc") and source != 7:
        return "Uncached hit"
    if not bit("DcMiss"):
        return "L1 hit"
    if bit("L2Miss") == 0:      # perf prints none if erratum 1293 makes it unknown
        return "L2 hit"
    name = (MORE_LEVELS if more else LEVELS).get(source, "") if bit("LdOp") else ""
    if name and bit("RmtNode") and source in ([3, 6, 8] if more else [3]):
        name = "Remote RAM (1 hop) hit" if source == 3 else "Remote " + name
    return name or ("LFB hit" if bit("DcMissNoMabAlloc") else "")


def expect(cpu, said):
    family, model = map(int, cpu.split(",")[1:3])
    more = family > 0x19 or model == 0x11
    state = not (family == 0x19 and (model <= 0xf or 0x20 <= model <= 0x5f))
    for sample in said.split("ibs_op_ctl:")[1:]:
        def bit(name):
            found = re.search(r"\b%s +(\d+)" % name, sample)
            return int(found.group(1)) if found else None
        if not bit("LdOp") and not bit("StOp"):
            print("addr 0 weight 0 level '' snoop ''")
            continue
        source = bit("DataSrc") or 0
        where = level(bit, source, more)
        hitm = (state and bit("LdOp") and where not in ("L1 hit", "L2 hit") and
                "CacheHitSt 0=" in sample and source in ([1, 2, 5] if more else [2]))
        address = re.search(r"IbsDCLinAd:\s+([0-9a-f]+)", sample)
        weight = bit("DcMissLat") if bit("LdOp") and bit("DcMiss") else 0
        print("addr %d weight %d level '%s' snoop '%s'"
              % (int(address.group(1), 16) if address else 0, weight, where,
                 "hitm" if hitm else ""))


def labels(said):
    samples = said.split("Samples:\n")[1].split("Locations")[0]
    for sample in re.split(r"^ +\d+ +\d+: ", samples, flags=re.M)[1:]:
        def label(name, other=""):
            found = re.search(r"\b%s:\[([^\]]*)" % name, sample)
            return found.group(1) if found else other
        print("addr %d weight %s level '%s' snoop '%s'"
              % (int(label("addr", "0"), 0), label("weight", "0").split(" ")[0],
                 label("data_src"), label("snoop_status")))


command, *words = sys.argv[1:]
if command == "make":
    make(words[0], int(words[1], 0), words[2])
elif command == "expect":
    expect(words[0], sys.stdin.read())
else:
    labels(sys.stdin.read())
