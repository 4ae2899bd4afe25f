# resolved-data.py STREAM: for each sample with a datum, a line: kind, data address, name, offset, object, thread.
# Reads the format that pmu-stream(5) describes, and nothing else.
import struct
import sys

KINDS = ["unknown", "variable", "code", "file", "stack", "heap", "anonymous", "kernel-variable", "kernel"]
VALUES = (8, 1 << 14 | 1 << 24, 1 << 15, 1 << 17, 1 << 19, 1 << 21, 1 << 22, 1 << 23)
data = open(sys.argv[1], "rb").read()
string, objects, functions, frames, datum = [""], [], [], 0, []
at = 16


def text(body):
    return body[:body.index(b"\0")].decode()


while at < len(data):
    kind, misc, size = struct.unpack_from("<IHH", data, at)
    body = data[at + 8:at + size]
    at += size
    if kind == 0x504d0000:
        string.append(text(body[4:]))
    elif kind == 0x504d0001:
        objects.append(struct.unpack_from("<I", body, 4)[0])
    elif kind == 0x504d0002:
        functions.append(struct.unpack_from("<I", body, 4)[0])
    elif kind == 0x504d0007:
        string, objects, functions, datum = [""], [], [], []
    elif kind == 0x504d000a:
        datum.append(struct.unpack_from("<IIHHIIQQ", body, 4))
    elif kind == 0x504d0004:
        has, comm, frames = struct.unpack_from("<QII", body, 32)
        if not has >> 62 & 1:
            continue
        place, address = 48, 0
        for value in VALUES:
            if has & value:
                address = struct.unpack_from("<Q", body, place)[0] if value == 8 else address
                place += 8
        place += 4 * frames
        if has & 1024:
            place += 4 + struct.unpack_from("<I", body, place)[0]
        place += 8 * (has >> 63)
        which, _, offset = struct.unpack_from("<IIQ", body, place)
        where, function, what, _, thread, _, start, length = datum[which]
        print(KINDS[what], hex(address), string[functions[function]], hex(offset), string[objects[where]],
              thread, sep="\t")
