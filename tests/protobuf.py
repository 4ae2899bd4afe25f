"""Reads protocol buffers: enough for profiles, and for numbers that are packed as in them."""


def varint(data, at):
    """The number at AT, and where it ends."""
    shift = value = 0
    while True:
        value |= (data[at] & 127) << shift
        at += 1
        shift += 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """The fields of a message: number, and an integer or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 2:
            size, at = varint(data, at)
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            value, at = varint(data, at)
            yield tag >> 3, value


def packed(data):
    at, out = 0, []
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out
