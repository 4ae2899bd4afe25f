# unchain.py EVERY - copies a resolved stream.  Each sample that names a chain, or one of EVERY of them,
# becomes a RESOLVED_SAMPLE, which has its frames itself: the form of streams of before.  Without
# such samples there are no chains, either.
# Reads and writes the format that pmu-stream(5) describes, and nothing else.
import struct
import sys

SAMPLE, END, RESTART, CHAIN, CHAIN_SAMPLE, CHAINS_RESTART = (
    0x504d0004, 0x504d0006, 0x504d0007, 0x504d000b, 0x504d000c, 0x504d000d)
VALUES = (3, 14, 15, 17, 19, 21, 22, 23)	# bits of sample_type
STRUCT, RAW = 24, 10
every = int(sys.argv[1])
data = sys.stdin.buffer.read()
out = sys.stdout.buffer
chains = []


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def unchained(misc, body):
    event, has, chain, pid, tid, cpu, comm, time, period = struct.unpack_from("<HHIIIIIQQ", body)
    frames, end = chains[chain]
    bits = end << 56 | (has >> 11 & 1) << 62 | (has >> 10 & 1) << 63 | (has >> 9 & 1) << RAW
    for i, bit in enumerate(VALUES):
        bits |= (has >> i & 1) << (STRUCT if i == 1 and has >> 8 & 1 else bit)
    at = 40
    parts = []
    for size in (8 * bin(has & 0xff).count("1"), 8 * (has >> 10 & 1), 16 * (has >> 11 & 1)):
        parts.append(body[at:at + size])
        at += size
    raw = body[at:at + 4 + struct.unpack_from("<I", body, at)[0]] if has >> 9 & 1 else b""
    values, labels, datum = parts
    head = struct.pack("<IIIIQQQII", event, pid, tid, cpu, time, period, bits, comm, len(frames) // 4)
    return record(SAMPLE, misc, head + values + frames + raw + labels + datum)


at, samples = 16, 0
out.write(data[:at])
while at < len(data):
    kind, misc, size = struct.unpack_from("<IHH", data, at)
    if kind == 66:	# TRACING_DATA: bytes follow that the size does not include
        size += (struct.unpack_from("<I", data, at + 8)[0] + 7) & ~7
    whole, body = data[at:at + size], data[at + 8:at + size]
    at += size
    if kind == CHAIN:
        number, frames, end = struct.unpack_from("<IHH", body)
        assert number == len(chains)
        chains.append((body[8:8 + 4 * frames], end))
    elif kind in (RESTART, CHAINS_RESTART):
        chains = []
    elif kind == CHAIN_SAMPLE:
        samples += 1
        if samples % every == 0:
            whole = unchained(misc, body)
    if every == 1 and kind in (CHAIN, CHAINS_RESTART):
        continue
    if every == 1 and kind in (END, RESTART):	# of before: no number of chains
        whole = record(kind, misc, body[:32])
    out.write(whole)
