"""Prints the facts of a profile: its lines for programs, which pprof does not print."""
import gzip
import sys


def fields(data):
    """The fields of a message: number, and an integer or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def packed(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


data = open(sys.argv[1], "rb").read()
strings, facts = [], []
for number, value in fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data):
    if number == 6:
        strings.append(value.decode())
    elif number == 1001:
        facts += packed(value) if isinstance(value, bytes) else [value]
for fact in facts:
    print(strings[fact])
