"""Prints the facts of a profile: its lines for programs, which pprof does not print."""
import gzip
import sys

from protobuf import *

data = open(sys.argv[1], "rb").read()
strings, facts = [], []
for number, value in fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data):
    if number == 6:
        strings.append(value.decode())
    elif number == 1001:
        facts += packed(value) if isinstance(value, bytes) else [value]
for fact in facts:
    print(strings[fact])
