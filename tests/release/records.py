# records.py - write records.data, a stream with many types of records, and file.data, a perf.data
# file with the same events: fixed bytes.
import struct
from streams import (ADDR, CHAIN, CPU, IDENT, IP, PERIOD, TID, TIME, attr, file, mmap, pad, pipe,
                     record)

KIND = IDENT | IP | TID | TIME | ADDR | CPU | PERIOD | CHAIN
FLAGS = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 26  # mmap, comm, task, sample_id_all, switches
CYCLES, FAULTS = 71, 72  # ids
USER = -512 & 2**64 - 1


def ended(kind, body, time, cpu=0, misc=0):
    return record(kind, body + struct.pack("<IIQIIQ", 10, 10, time, cpu, 0, CYCLES), misc)


def sample(event, time, ips, period, cpu=0):
    chain = [USER] + ips
    return record(9, struct.pack("<QQIIQQIIQQ", event, ips[0], 10, 10, time, 0x1000 + time, cpu, 0,
                                 period, len(chain)) + struct.pack(f"<{len(chain)}Q", *chain))


def name(event, text):
    return record(78, struct.pack("<QQ", 2, event) + pad(text), 0)


def text(number, value):
    value = value.ljust(16, b"\0")
    return record(80, struct.pack("<QI", number, len(value)) + value, 0)


def common():
    out = [ended(3, struct.pack("<II", 10, 10) + pad(b"program"), 1000, misc=1 << 13),
           ended(1, mmap(10, 0x400000, 0x10000, b"/tmp/pmukit-kept/none")[8:], 1001, misc=2),
           ended(7, struct.pack("<IIIIQ", 11, 10, 11, 10, 1002), 1002)]
    for i in range(200):
        ips = [0x401000 + 64 * (i % 7), 0x402000 + 32 * (i % 3), 0x403000]
        out.append(sample(CYCLES if i % 4 else FAULTS, 2000 + 100 * i, ips, 1000 + i, i % 2))
        if i % 50 == 49:
            out += [ended(14, b"", 2001 + 100 * i, misc=1 << 13), ended(14, b"", 2050 + 100 * i),
                    ended(2, struct.pack("<QQ", CYCLES, i), 2060 + 100 * i),
                    ended(5, struct.pack("<QQQ", 2070 + 100 * i, CYCLES, 0), 2070 + 100 * i),
                    ended(6, struct.pack("<QQQ", 2080 + 100 * i, CYCLES, 0), 2080 + 100 * i)]
    return out + [ended(4, struct.pack("<IIIIQ", 11, 10, 11, 10, 90000), 90000)]


cycles, faults = attr(0, 0, 1000, KIND, FLAGS), attr(1, 2, 1, KIND, FLAGS)
with open("records.data", "wb") as out:
    out.write(pipe(*(record(64, a + struct.pack("<Q", i), 0)
                     for a, i in ((cycles, CYCLES), (faults, FAULTS))),
                   name(CYCLES, b"cycles:u"), text(3, b"host"), text(4, b"6.1.0"),
                   text(6, b"x86_64"), *common()))
with open("file.data", "wb") as out:
    out.write(file([(cycles, [CYCLES]), (faults, [FAULTS])], common()))
