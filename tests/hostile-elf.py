#!/usr/bin/env python3
"""hostile-elf.py SEED... IN OUT - damages an ELF file of 64 bits where an unwinder reads it.

OUT.SEED is the result.  By SEED: random bytes in .eh_frame, .eh_frame_hdr or .debug_frame, or in
the program headers; or words there that say much: 2^63, 2^32 - 1, 0, entries that refer to
themselves.  Prints what.
"""
import random
import struct
import sys


def sections(data):
    at, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    for name, _, _, _, offset, length in rows:
        text = bytes(data[rows[names][4] + name:]).split(b"\0", 1)[0].decode()
        yield text, offset, length


def entries(data, start, end):
    """Offsets of the entries of a section of call frame information."""
    while start + 8 < end:
        length, = struct.unpack_from("<I", data, start)
        if length == 0 or length >= 0xfffffff0:
            return
        yield start
        start += 4 + length


# DW_CFA_def_cfa_expression: loops without end, and a long one
EXPRESSIONS = [b"\x0f\x03\x2f\xfd\xff", b"\x0f\x05\x30\x12\x2f\xfc\xff",
               b"\x0f\x7f" + b"\x12" * 127]
WORDS = [struct.pack("<Q", n) for n in (0, 1, 1 << 63, (1 << 64) - 1, 1 << 31, (1 << 32) - 1)]


def damage(data, rng):
    places = {n: (o, s) for n, o, s in sections(data)
              if n in (".eh_frame", ".eh_frame_hdr", ".debug_frame") and s > 16}
    headers = struct.unpack_from("<Q", data, 32)[0], 56 * struct.unpack_from("<H", data, 56)[0]
    name = rng.choice(sorted(places) + ["headers"])
    start, size = places.get(name, headers)
    how = rng.choice(("bytes", "words", "many", "lengths", "self", "expressions"))
    at_entry = list(entries(data, start, start + size)) if "_frame" in name and \
        not name.endswith("hdr") else []
    if how in ("lengths", "self", "expressions") and at_entry:
        for at in rng.sample(at_entry, min(len(at_entry), rng.choice((1, 5, 10000)))):
            if how == "lengths":
                data[at:at + 4] = rng.choice((b"\xff\xff\xff\xff" + WORDS[2], b"\xff\xff\xff\x7f",
                                              b"\xf0\xff\xff\xff", b"\1\0\0\0"))[:4]
            elif how == "self":    # an FDE is its own CIE, or the next one
                struct.pack_into("<I", data, at + 4, rng.choice((4, 0, 8, 0xffffffff)))
            else:
                code = rng.choice(EXPRESSIONS)
                length, = struct.unpack_from("<I", data, at)
                where = at + min(length, rng.choice((17, 21, 24)))
                code = code[:max(0, at + 4 + length - where)]
                data[where:where + len(code)] = code
    else:
        for _ in range(rng.choice((1, 4, 64)) if how != "many" else size // 8):
            word = rng.choice(WORDS) if how == "words" else rng.randbytes(rng.choice((1, 4, 8)))
            at = start + rng.randrange(max(1, size - 8))
            data[at:at + len(word)] = word
    return "%s: %s" % (name, how)


def main(*seeds, source, target):
    for seed in seeds:
        data = bytearray(open(source, "rb").read())
        size = len(data)
        print(seed, damage(data, random.Random(int(seed))))
        open("%s.%s" % (target, seed), "wb").write(data[:size])


main(*sys.argv[1:-2], source=sys.argv[-2], target=sys.argv[-1])
