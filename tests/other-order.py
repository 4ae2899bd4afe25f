#!/usr/bin/env python3
# other-order.py IN OUT - what a machine of the other byte order would have
# recorded: a little-endian perf.data file or stream, made big-endian.
#
# Written from linux/perf_event.h and perf's format documents, for the tests of
# the reader, and shares nothing with it.
import struct
import sys

IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCH, REGS, STACK, WEIGHT, \
    SRC, IDENT, TRANS, INTR, PHYS, AUX, CGROUP, DPAGE, CPAGE, WSTRUCT = (1 << i for i in range(25))


class Bytes:
    """Bytes that are turned in place, field by field."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.at = 0

    def left(self):
        return len(self.data) - self.at

    def num(self, size):
        field = bytes(self.data[self.at:self.at + size])
        assert len(field) == size, "a field beyond its record"
        self.data[self.at:self.at + size] = field[::-1]
        self.at += size
        return int.from_bytes(field, "little")

    def nums(self, *sizes):
        return [self.num(size) for size in sizes]

    def skip(self, size):
        self.at += size

    def string(self):
        self.skip(self.num(4))


def flip_flags(flags):
    """struct perf_event_attr's bit fields: bit i becomes bit 63 - i, precise_ip stays a number."""
    out = 0
    bit = 0
    for width in [1] * 15 + [2] + [1] * 47:
        value = flags >> bit & ((1 << width) - 1)
        out |= value << (64 - bit - width)
        bit += width
    return out


def flip_branch(flags):
    out = 0
    bit = 0
    for width in 1, 1, 1, 1, 16, 4, 2, 4, 3:
        value = flags >> bit & ((1 << width) - 1)
        out |= value << (64 - bit - width)
        bit += width
    return out


class Event:
    def __init__(self, attr):
        attr = bytes(attr) + bytes(200)
        self.type, = struct.unpack_from("<Q", attr, 24)
        kind, _, config = struct.unpack_from("<IIQ", attr)
        self.is_bpf_output = kind == 1 and config == 10
        self.read, flags = struct.unpack_from("<QQ", attr, 32)
        self.all = flags >> 18 & 1
        self.branch, self.regs = struct.unpack_from("<QQ", attr, 72)
        self.intr, = struct.unpack_from("<Q", attr, 96)


def turn_attr(b, size):
    start = b.at
    b.nums(4, 4, 8, 8, 8, 8)
    flags, = struct.unpack_from("<Q", b.data, b.at)
    b.data[b.at:b.at + 8] = struct.pack(">Q", flip_flags(flags))
    b.skip(8)
    for field in 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8, 8:
        if b.at + field <= start + size:
            b.num(field)
    b.at = start + size


class Stream:
    def __init__(self):
        self.events = []
        self.of_id = {}

    def add(self, attr, ids):
        self.events.append(Event(attr))
        for i in ids:
            self.of_id[i] = self.events[-1]

    def event_of(self, body):
        e = self.events[0]
        at = 0
        if len(self.events) == 1:
            return e
        if not e.type & IDENT:
            if not e.type & ID:
                return e
            for field in IP, TID, TIME, ADDR:
                at += 8 * bool(e.type & field)
        i, = struct.unpack_from("<Q", body, at)
        return self.of_id[i] if i else e

    def sample(self, b):
        e = self.event_of(b.data[8:])
        t = e.type
        for field, sizes in (IDENT, [8]), (IP, [8]), (TID, [4, 4]), (TIME, [8]), (ADDR, [8]), \
                (ID, [8]), (STREAM, [8]), (CPU, [4, 4]), (PERIOD, [8]):
            if t & field:
                b.nums(*sizes)
        if t & READ:
            times = (e.read & 1) + (e.read >> 1 & 1)
            each = 1 + (e.read >> 2 & 1) + (e.read >> 4 & 1)
            n = b.num(8) if e.read & 8 else 1
            b.nums(*[8] * (times + n * each))
        if t & CHAIN:
            b.nums(*[8] * b.num(8))
        if t & RAW:
            size = b.num(4)
            end = b.at + size
            if e.is_bpf_output and b.data[b.at:b.at + 4] == b"GBL1":
                b.nums(4, 1, 1, 1, 1, 8, 8, 4, 4)   # labels: record/label-payload.h
            b.at = end
        if t & BRANCH:
            n = b.num(8)
            if e.branch & 1 << 17:
                b.num(8)
            for _ in range(n):
                b.nums(8, 8)
                flags = b.num(8)
                b.data[b.at - 8:b.at] = struct.pack(">Q", flip_branch(flags))
            if e.branch & 1 << 19:
                b.nums(*[8] * n)
        if t & REGS and b.num(8):
            b.nums(*[8] * bin(e.regs).count("1"))
        if t & STACK:
            n = b.num(8)
            b.skip(n)
            if n:
                b.num(8)
        for field in WEIGHT | WSTRUCT, SRC, TRANS:
            if t & field:
                b.num(8)
        if t & INTR and b.num(8):
            b.nums(*[8] * bin(e.intr).count("1"))
        for field in PHYS, CGROUP, DPAGE, CPAGE:
            if t & field:
                b.num(8)
        if t & AUX:
            b.skip(b.num(8))
        assert b.left() < 8, "a sample with more than its fields"

    def trailer(self, b, e):
        t = e.type
        for field, sizes in (TID, [4, 4]), (TIME, [8]), (ID, [8]), (STREAM, [8]), (CPU, [4, 4]), \
                (IDENT, [8]):
            if t & field:
                b.nums(*sizes)

    def kernel(self, b, kind, misc):
        # All events of the recordings have trailers alike.
        e = self.events[0]
        size = 8 * sum(bool(e.type & f) for f in (TID, TIME, ID, STREAM, CPU, IDENT)) * e.all
        end = len(b.data) - size
        fields = {1: [4, 4, 8, 8, 8], 2: [8, 8], 3: [4, 4], 4: [4] * 4 + [8], 5: [8] * 3,
                  6: [8] * 3, 7: [4] * 4 + [8], 10: [4, 4, 8, 8, 8], 11: [8] * 3, 12: [4, 4],
                  13: [8], 14: [], 15: [4, 4], 16: [4, 4, 8], 17: [8, 4, 2, 2], 18: [2, 2, 4],
                  19: [8], 20: [8, 2, 2], 21: [8]}
        if kind in (17, 18, 20):	# stale bytes may follow the sample_id
            end = 16 if kind == 18 else 16 + (b.data.index(0, b.at + 16) - b.at - 16 + 8) // 8 * 8 \
                if kind == 17 else (12 + sum(struct.unpack_from("<HH", b.data, b.at + 8)) + 7) // 8 * 8
            end += b.at
        if kind == 8:
            b.nums(4, 4)
        else:
            b.nums(*fields[kind])
        if kind == 10:
            if misc & 1 << 14:
                b.skip(24)
            else:
                b.nums(4, 4, 8, 8)
            b.nums(4, 4)
        while kind in (8, 16) and b.at < end:
            b.num(8)
        b.at = end
        if size:
            self.trailer(b, e)

    def feature(self, number, b):
        if number in (3, 4, 5, 6, 8, 9):
            b.string()
        elif number == 7:
            b.nums(4, 4)
        elif number in (10, 23, 24):
            b.num(8)
        elif number in (21, 29):
            b.nums(*([8, 8] if number == 21 else [4, 4, 8, 8]))
        elif number in (11, 17, 28, 30):
            for _ in range(b.num(4)):
                b.string()
                if number == 17:
                    b.nums(4, 4)
                elif number != 11:
                    b.string()
        elif number == 20:
            for _ in range(b.nums(4, 4)[1]):
                b.nums(4, 4, 4, 4)
                for _ in range(3):
                    b.string()
        elif number in (14, 16):
            for _ in range(b.num(4)):
                b.nums(*([4, 8, 8] if number == 14 else [4]))
                b.string()
        elif number == 12:
            n, size = b.nums(4, 4)
            for _ in range(n):
                turn_attr(b, size)
                ids = b.num(4)
                b.string()
                b.nums(*[8] * ids)
        elif number == 2:
            while b.left() >= 8:
                start = b.at
                _, _, size = b.nums(4, 2, 2)
                b.num(4)
                b.at = start + size

    def user(self, b, kind):
        if kind == 64:
            start = b.at
            size, = struct.unpack_from("<I", b.data, b.at + 4)
            self.add(b.data[start:start + size],
                     [i for i, in struct.iter_unpack("<Q", b.data[start + size:])])
            turn_attr(b, size)
            b.nums(*[8] * (b.left() // 8))
        elif kind in (65, 78):
            b.nums(*[8] * (2 if kind == 78 else 1))
        elif kind in (66, 67):
            return b.num(4) if kind == 66 else b.num(4) * 0
        elif kind == 73:
            for _ in range(b.num(8)):
                b.num(8)
                b.skip(16)
        elif kind == 69:
            b.nums(*[8] * (b.left() // 8))
        elif kind == 74:
            b.nums(*[2] * (b.left() // 2))
        elif kind == 79:
            b.nums(8, 8, 8)
        elif kind == 80:
            self.feature(b.num(8), b)
        return 0

    def records(self, data):
        out = []
        at = 0
        while at + 8 <= len(data):
            kind, misc, size = struct.unpack_from("<IHH", data, at)
            b = Bytes(data[at:at + size])
            b.nums(4, 2, 2)
            behind = 0
            if kind == 9:
                self.sample(b)
            elif kind < 64:
                self.kernel(b, kind, misc)
            else:
                behind = self.user(b, kind)
            out.append(bytes(b.data))
            at += size
            out.append(data[at:at + behind])
            at += behind
        return b"".join(out)


def turn_file(data, size):
    s = Stream()
    b = Bytes(data)
    _, _, entry, attrs, attrs_size, start, length, _, _, = b.nums(*[8] * 9)
    features = sum(n << 64 * i for i, n in enumerate(b.nums(*[8] * ((size - 72) // 8))))
    for b.at in range(attrs, attrs + attrs_size, entry):
        at = b.at
        ids_at, ids_size = struct.unpack_from("<QQ", data, at + entry - 16)
        s.add(data[at:at + entry - 16],
              [i for i, in struct.iter_unpack("<Q", data[ids_at:ids_at + ids_size])])
        turn_attr(b, entry - 16)
        b.nums(8, 8)
        b.at = ids_at
        b.nums(*[8] * (ids_size // 8))
    b.data[start:start + length] = s.records(data[start:start + length])
    b.at = start + length
    for number in range(256):
        if features >> number & 1:
            at, length = b.nums(8, 8)
            f = Bytes(data[at:at + length])
            s.feature(number, f)
            b.data[at:at + length] = f.data
    return b.data


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    _, size = struct.unpack_from("<QQ", data)
    if size == 16:
        b = Bytes(data[:16])
        b.nums(8, 8)
        out = bytes(b.data) + Stream().records(data[16:])
    else:
        out = turn_file(data, size)
    with open(sys.argv[2], "wb") as f:
        f.write(out)


main()
