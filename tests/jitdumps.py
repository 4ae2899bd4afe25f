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
        body = self.pack("QQ", address, len(entries))
        for at, line, file in entries:
            body += self.pack("QII", at, line, 0) + file + b"\0"
        self.record(2, time, body)


def text(value):
    value = pad(value.encode())
    return struct.pack("<I", len(value)) + value


def jit_file(samples, dump=None, clock=1, pid=PID, host=None, more=[]):
    """
    A perf.data file of this machine (or HOST): samples, each (time, address, name), of the
    threads PID + 1, PID + 2 ..., in code at 0x10000 to 0x10010000.  Writes the names to "want".
    """
    flags = 1 << 18 | (1 << 25 if clock is not None else 0)
    a = bytearray(attr(1, 0, 1000, IP | TID | TIME | IDENT, flags))
    struct.pack_into("<i", a, 92, clock or 0)
    uname = os.uname()
    end = lambda tid: struct.pack("<IIQQ", pid, tid, 1, 7)
    records = [record(3, struct.pack("<II", pid, pid) + pad(b"prog") + end(pid)),
               record(1, mmap(pid, 0x10000, 0x10000000, b"//anon") + end(pid))]
    if dump:
        path = os.path.abspath(dump).encode()
        records.append(record(1, mmap(pid, 0x7f0000000000, 4096, path) + end(pid)))
    for i, (time, address, name) in enumerate(samples):
        records.append(record(9, struct.pack("<QQIIQ", 7, address, pid, pid + 1 + i, time)))
    with open("want", "w") as want:
        want.writelines("%s\n" % name for time, address, name in samples)
    return file([(bytes(a), [7])], records + more,
                {3: text(host or uname.nodename), 4: text(uname.release)})
