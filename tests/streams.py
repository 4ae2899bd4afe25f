# streams.py - puts streams and perf.data files together, for tests: from linux/perf_event.h.
import struct

IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW = (1 << i for i in range(11))
IDENT = 1 << 16


def attr(kind, config, period, sample_type, flags=1 << 18, size=112, read=0):
    a = struct.pack("<IIQQQQQ", kind, size, config, period, sample_type, read, flags)
    return (a + bytes(size))[:size]


def record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def pad(text):
    return text + bytes(8 - len(text) % 8)


def mmap(pid, start, size, path, offset=0):
    return struct.pack("<IIQQQ", pid, pid, start, size, offset) + pad(path)


def pipe(*records):
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(records)


def file(attrs, records, features={}, entry=None):
    """attrs: [(attr, [ids])]"""
    entry = entry or len(attrs[0][0]) + 16
    at = 104
    ids = b""
    for a, i in attrs:
        ids += struct.pack("<%dQ" % len(i), *i)
    attrs_at = at + len(ids)
    data_at = attrs_at + entry * len(attrs)
    data = b"".join(records)
    bits = sum(1 << n for n in features)
    out = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, entry, attrs_at, entry * len(attrs),
                                    data_at, len(data), 0, 0)
    out += bits.to_bytes(32, "little") + ids
    id_at = 104
    for a, i in attrs:
        out += a.ljust(entry - 16, b"\0") + struct.pack("<QQ", id_at, 8 * len(i))
        id_at += 8 * len(i)
    out += data
    at = len(out) + 16 * len(features)
    for n in sorted(features):
        out += struct.pack("<QQ", at, len(features[n]))
        at += len(features[n])
    return out + b"".join(features[n] for n in sorted(features))
