# stretch.py FACTOR - copies a stream in pipe mode, with all times FACTOR times as far from the
# first one: a short recording then has many intervals.  A stream without a clock gets one, so that
# intervals have names.
# stretch.py plain - copies a resolved stream without TOOL records: profiles of two such streams
# differ only if what they say of samples differs.
import struct, sys

IDENTIFIER, IP, TID, TIME = 1 << 16, 1 << 0, 1 << 1, 1 << 2
TRAILER = TID, TIME, 1 << 6, 1 << 9, 1 << 7, IDENTIFIER
SAMPLE, ATTR, TRACING_DATA, FEATURE, TOOL = 9, 64, 66, 80, 0x504d0005
SAMPLE_TIME, CLOCK_DATA = 21, 29	# features: times of the first and last record; the clock

data = bytearray(sys.stdin.buffer.read())
factor = None if sys.argv[1] == "plain" else int(sys.argv[1])
first = sample_at = from_end = None


def stretch(place):
    global first
    time, = struct.unpack_from("<Q", data, place)
    if time in (0, 2 ** 64 - 1):
        return
    first = time if first is None else first
    struct.pack_into("<Q", data, place, max(1, first + (time - first) * factor))


def follow_attr(at):
    """The events of a stream have these fields at the same places."""
    global sample_at, from_end
    sample_type, _, flags = struct.unpack_from("<QQQ", data, at + 8 + 24)
    if sample_type & TIME:
        sample_at = 8 + 8 * sum(sample_type & f != 0 for f in (IDENTIFIER, IP, TID))
        from_end = 8 * sum(sample_type & f != 0 for f in TRAILER[1:]) if flags >> 18 & 1 else None


def clock():
    body = struct.pack("<QIIQQ", CLOCK_DATA, 1, 1, 1700000000 * 10 ** 9, 0)
    return struct.pack("<IHH", FEATURE, 0, 8 + len(body)) + body


out, at = sys.stdout.buffer, 16
out.write(data[:at])
has_clock = False
while at < len(data):
    kind, misc, size = struct.unpack_from("<IHH", data, at)
    if kind == TRACING_DATA:	# bytes follow that the size does not include
        size += (struct.unpack_from("<I", data, at + 8)[0] + 7) & ~7
    if factor and kind == ATTR:
        follow_attr(at)
    elif factor and kind == FEATURE and data[at + 8] == SAMPLE_TIME:
        stretch(at + 16)
        stretch(at + 24)
    elif factor and kind == FEATURE and data[at + 8] == CLOCK_DATA:
        has_clock = True
    elif factor and kind == SAMPLE and sample_at:
        if not has_clock:
            out.write(clock())
            has_clock = True
        stretch(at + sample_at)
    elif factor and kind < ATTR and kind != SAMPLE and from_end:
        stretch(at + size - from_end)
    if factor or kind != TOOL:
        out.write(data[at:at + size])
    at += size
