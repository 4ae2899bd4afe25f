# resolved-data.py STREAM: for each sample with a datum, a line: kind, data address, name, offset, object, thread.
# Reads the format that pmu-stream(5) describes, and nothing else.
import struct
import sys

KINDS = ["unknown", "variable", "code", "file", "stack", "heap", "anonymous", "kernel-variable", "kernel"]
data = open(sys.argv[1], "rb").read()
string, objects, functions, datum = [""], [], [], []
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
    elif kind == 0x504d000c:
        has = struct.unpack_from("<H", body, 2)[0]
        if not has >> 11 & 1:
            continue
        address = struct.unpack_from("<Q", body, 40)[0] if has & 1 else 0
        place = 40 + 8 * bin(has & 0xff).count("1") + 8 * (has >> 10 & 1)
        which, _, offset = struct.unpack_from("<IIQ", body, place)
        where, function, what, _, thread, _, start, length = datum[which]
        print(KINDS[what], hex(address), string[functions[function]], hex(offset), string[objects[where]],
              thread, sep="\t")
