# stack-dumps.py - what the tests do to the user stack dumps of a stream with one kind of samples.
#
#	stack-dumps.py fill BYTES IN OUT	put junk after each dump, up to BYTES: as the kernel leaves it
#	stack-dumps.py sizes IN		print "RESERVED USED" of each dump
#	stack-dumps.py times IN		print the time of each sample, in the order of the stream
#
# Fields as in linux/perf_event.h: IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD
# have 8 bytes each; CALLCHAIN, REGS_USER and STACK_USER have sizes of their own.
import struct
import sys

FIXED = 1 << 16 | 0x1cf
CHAIN, REGS, STACK = 1 << 5, 1 << 12, 1 << 13
ATTR, SAMPLE = 64, 9


def records(data):
    at = 16
    while at < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        yield kind, data[at:at + size]
        at += size


def word(record, at):
    return struct.unpack_from("<Q", record, at)[0]


def place(record, sample_type, registers):
    """Where the size of the dump is in a SAMPLE."""
    assert not sample_type & ~(FIXED | CHAIN | REGS | STACK)
    at = 8 + 8 * bin(sample_type & FIXED).count("1")
    if sample_type & CHAIN:
        at += 8 + 8 * word(record, at)
    abi = word(record, at)
    return at + 8 + (8 * registers if abi else 0)


def dumps(data):
    """Each record, and where its dump is; 0: it has none."""
    sample_type = registers = 0
    for kind, record in records(data):
        if kind == ATTR and word(record, 8 + 24) & STACK:
            sample_type = word(record, 8 + 24)
            registers = bin(word(record, 8 + 80)).count("1")
        yield record, place(record, sample_type, registers) if kind == SAMPLE else 0


def identified(data):
    return any(kind == ATTR and word(record, 8 + 24) & 1 << 16 for kind, record in records(data))


def fill(record, at, size):
    old = word(record, at)
    used = word(record, at + 8 + old) if old else 0
    stack = record[at + 8:at + 8 + old]
    stack += bytes((7 * i + 3) % 256 for i in range(size - old))
    rest = record[at + 8 + old + (8 if old else 0):]
    body = record[8:at] + struct.pack("<Q", size) + stack + struct.pack("<Q", used) + rest
    return record[:6] + struct.pack("<H", 8 + len(body)) + body


def main():
    command = sys.argv[1]
    data = open(sys.argv[-2 if command == "fill" else -1], "rb").read()
    time_at = 24 + 8 * identified(data)
    out = bytearray(data[:16])
    for record, at in dumps(data):
        if command == "fill":
            out += fill(record, at, int(sys.argv[2])) if at else record
        elif at and command == "times":
            print(word(record, time_at))
        elif at:
            size = word(record, at)
            print(size, word(record, at + 8 + size) if size else 0)
    if command == "fill":
        open(sys.argv[-1], "wb").write(out)


main()
