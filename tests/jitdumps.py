# jitdumps.py - jitdump files, and streams of the processes that wrote them, for tests:
# from tools/perf/Documentation/jitdump-specification.txt.
import os
import struct

from streams import *

PID = 4194000	# of no process


class Dump:
    """The bytes of a jitdump file, in either byte order."""

    def __init__(self, order="<", flags=0, time=1 << 60):
        self.order = order
        self.out = self.pack("IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, PID, time, flags)

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def record(self, kind, time, body):
        self.out += self.pack("IIQ", kind, 16 + len(body), time) + body

    def load(self, time, address, size, name, index, code=None):
        body = self.pack("IIQQQQ", PID, PID, address, address, size, index)
        self.record(0, time, body + name.encode() + b"\0" + (bytes(size) if code is None else code))

    def move(self, time, old, new, size, index):
        self.record(1, time, self.pack("IIQQQQQ", PID, PID, new, old, new, size, index))

    def lines(self, time, address, entries):
        body = [self.pack("QII", at, line, 0) + file + b"\0" for at, line, file in entries]
        self.record(2, time, self.pack("QQ", address, len(entries)) + b"".join(body))


def text(value):
    value = pad(value.encode())
    return struct.pack("<I", len(value)) + value


def end(pid, tid, time=1):
    return struct.pack("<IIQQ", pid, tid, time, 7)


def process(pid, dump=None):
    """The records of a process's begin: code at 0x10000 to 0x10010000, and a jitdump file."""
    records = [record(3, struct.pack("<II", pid, pid) + pad(b"prog") + end(pid, pid)),
               record(1, mmap(pid, 0x10000, 0x10000000, b"//anon") + end(pid, pid))]
    if dump:
        path = os.path.abspath(dump).encode()
        records.append(record(1, mmap(pid, 0x7f0000000000, 4096, path) + end(pid, pid)))
    return records


def sample(pid, tid, time, address):
    return record(9, struct.pack("<QQIIQ", 7, address, pid, tid, time))


def task(kind, pid, parent, tid, parent_tid, time):
    """FORK: 7, EXIT: 4"""
    return record(kind, struct.pack("<IIIIQ", pid, parent, tid, parent_tid, time) +
                  end(pid, tid, time))


def round_end():
    return record(68, b"", 0)


def wrap(records, clock=1, host=None):
    """A perf.data file of this machine (or HOST), whose times are of CLOCK."""
    flags = 1 << 18 | (1 << 25 if clock is not None else 0)
    a = bytearray(attr(1, 0, 1000, IP | TID | TIME | IDENT, flags))
    struct.pack_into("<i", a, 92, 1 if clock is None else clock)
    uname = os.uname()
    return file([(bytes(a), [7])], records, {3: text(host or uname.nodename), 4: text(uname.release)})


def want(names):
    with open("want", "w") as out:
        out.writelines("%s\n" % name for name in names)


def jit_file(samples, dump=None, clock=1, host=None):
    """
    Of one process: samples, each (time, address, name), of the threads
    PID + 1, PID + 2 ...  Writes the names to "want".
    """
    want(name for time, address, name in samples)
    return wrap(process(PID, dump) + [sample(PID, PID + 1 + i, time, address)
                                      for i, (time, address, name) in enumerate(samples)],
                clock, host)
