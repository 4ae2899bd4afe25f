# newer.py - write the stream on stdin to stdout as a newer recorder might: its first attr has a field
# that no version knows; and there are a feature, a record of the kernel, one of a recorder and one
# of a filter of unknown types.  With an argument: its first attr asks for a field of samples that no
# version knows, and nothing else is new.
import struct
import sys

FIELD_AT, ATTR_SIZE = 200, 256		# bytes; the struct has 144 in Linux 6.19
ATTR, FEATURE = 64, 80


def record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


stream = sys.stdin.buffer.read()
at, attrs, out = 16, 0, [stream[:16]]
while at < len(stream):
    kind, _, size = struct.unpack_from("<IHH", stream, at)
    body = stream[at + 8:at + size]
    if kind == ATTR and attrs == 0 and len(sys.argv) > 1:
        flags, = struct.unpack_from("<Q", body, 24)
        out.append(record(ATTR, body[:24] + struct.pack("<Q", flags | 1 << 40) + body[32:]))
        attrs += 1
    elif kind == ATTR and attrs == 0:
        own, = struct.unpack_from("<I", body, 4)
        attr = bytearray(body[:own].ljust(ATTR_SIZE, b"\0"))
        struct.pack_into("<I", attr, 4, ATTR_SIZE)
        attr[FIELD_AT] = 1
        out += [record(ATTR, bytes(attr) + body[own:]),
                record(FEATURE, struct.pack("<QQ", 60, 1)),
                record(40, bytes(16)), record(120, bytes(16)), record(0x504d00f0, bytes(16))]
        attrs += 1
    else:
        out.append(stream[at:at + size])
    at += size
sys.stdout.buffer.write(b"".join(out))
