"""profile.proto, put together by hand, as no honest program would: for the tests.

    profiles.py KIND N                   a profile of this kind, about N things large, to stdout
    profiles.py KIND N FILE [N FILE]...  such profiles, into files
"""
import sys


ONE = [bytes([v]) for v in range(128)]


def varint(v):
    if 0 <= v < 128:
        return ONE[v]
    if 0 <= v < 1 << 14:
        return bytes((v & 0x7f | 0x80, v >> 7))
    v &= (1 << 64) - 1
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return ONE[field << 3] + varint(v)


def bytes_of(field, b):
    return varint(field << 3 | 2) + varint(len(b)) + b


def packed(field, values):
    return bytes_of(field, b"".join(map(varint, values)))


def sample(locations, values=(1,), labels=b""):
    return bytes_of(2, packed(1, locations) + packed(2, values) + labels)


def label(key, text):
    return bytes_of(3, number(1, key) + number(2, text))


def mapping(i, file=0, more=b""):
    return bytes_of(3, number(1, i) + number(2, 4096) + number(3, 8192) + number(5, file) + more)


def location(i, functions=(), of=0, address=1, more=b""):
    return bytes_of(4, number(1, i) + number(2, of) + number(3, address) + more +
                    b"".join(bytes_of(4, number(1, f)) for f in functions))


def function(i, name, more=b""):
    return bytes_of(5, number(1, i) + number(2, name) + more)


SAMPLES, COUNT, MAIN, COMM = 1, 2, 3, 4
FIRST = 5       # string of one's own


def profile(parts, strings=(), types=1):
    texts = [b"", b"samples", b"count", b"main", b"thread_comm", *strings]
    return b"".join([bytes_of(1, number(1, SAMPLES) + number(2, COUNT)) * types,
                     *(bytes_of(6, s) for s in texts), *parts])


def spread(i):
    return i * 0x9e3779b97f4a7c15 & (1 << 64) - 1 or 1


def things(n, name):
    """N mappings, functions, locations and samples, whose ids are NAME(i): in one expression each,
    as most of the time goes into these."""
    def short(field, b):
        return bytes((field << 3 | 2, len(b))) + b
    of_mapping = number(2, 4096) + number(3, 8192) + number(5, MAIN)
    of_function, value = number(2, MAIN), packed(2, [1])
    for i in range(1, n + 1):
        v = varint(name(i))
        me = b"\x08" + v
        yield short(3, me + of_mapping) + short(5, me + of_function)
        yield short(4, me + b"\x10" + v + b"\x18" + varint(i) + short(4, me))
        yield short(2, short(1, v) + value)


HOSTILE = [b'say "hi"', b"back\\slash", b"\\", b"\\u0041", b"a\nb\r\t", b'"}\n{"time":1}',
           b"cut\0off", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82",
           b"\x7f\x1b[2J", b"", "\u00e9 \u2028 \u202e \u0085 \ufffd \U0001f600".encode()]


def hostile(n):
    """Names, label keys and label values that want to break a line, or its JSON."""
    texts = HOSTILE + [b"n" * n + b'"' * 9]
    ids = range(FIRST, FIRST + len(texts))	# 16
    number_label = [bytes_of(3, number(1, i) + number(3, (-1) ** i << 3 * i) + number(4, k))
                    for i, k in zip(ids, [0, *ids])]
    return profile([mapping(1, FIRST + len(HOSTILE), number(6, FIRST)), location(90, of=1)] +
                   [function(i, i, number(4, FIRST)) + location(i, [i], 1) for i in ids] +
                   [sample([i, 90, ids[-i % 16]], [(-2) ** i], label(i, ids[(5 * i) % 16]))
                    for i in ids] +
                   [sample([i], [1 << 63], number_label[i - FIRST] + label(ids[1], i) +
                           label(ids[1], COUNT) + label(COMM, i)) for i in ids], texts)


KINDS = {
    # ids
    "dense": lambda n: profile(things(n, lambda i: i)),
    "falling": lambda n: profile(things(n, lambda i: n + 1 - i)),
    "spread": lambda n: profile(things(n, spread)),
    "high": lambda n: profile(things(n, lambda i: i << 44)),
    "absent": lambda n: profile([sample([spread(i)]) for i in range(n)]),
    # one thing that many others refer to
    "name": lambda n: profile([function(i + 1, FIRST) + location(i + 1, [i + 1]) +
                               sample([i + 1]) for i in range(n)], [b"n" * 8 * n]),
    "label": lambda n: profile([sample([1], [1], label(COMM, FIRST) + label(FIRST, FIRST))
                                for i in range(n)], [b"n" * 8 * n]),
    "mapping": lambda n: profile([mapping(1, FIRST, bytes_of(99, b"x" * 8 * n))] +
                                 [location(i + 1, [], 1, i) + sample([i + 1])
                                  for i in range(n)], [b"n" * 8 * n]),
    "function": lambda n: profile([function(1, MAIN, bytes_of(99, b"x" * 8 * n))] +
                                  [location(i + 1, [1], 0, i) + sample([i + 1])
                                   for i in range(n)]),
    "location": lambda n: profile([location(1, [1], 0, 1, bytes_of(99, b"x" * 8 * n)),
                                   function(1, MAIN), sample([1]) * n]),
    "inlines": lambda n: profile([location(1, range(1, n + 1)), sample([1]) * n] +
                                 [function(i + 1, FIRST + i) for i in range(n)],
                                 [b"f%d" % i for i in range(n)]),
    # stacks
    "deep": lambda n: profile([function(1, MAIN), location(1, [1]), sample([1] * 8 * n)]),
    "begin": lambda n: profile([function(1, MAIN), location(1, [1]), location(2), location(3)] +
                               [sample([1] * n + [2 + i % 2]) for i in range(9)]),
    "names": lambda n: profile([function(i + 1, FIRST + i) + location(i + 1, [i + 1])
                                for i in range(4)] +
                               [sample([1 + i % 4, 1 + i // 4 % 4, 1 + i // 16 % 4], [i])
                                for i in range(n)], [b"n" * 8 * n + b"%d" % i for i in range(4)]),
    # small things
    "strings": lambda n: profile([], [b""] * 8 * n),
    "types": lambda n: profile([function(1, MAIN), location(1, [1]), sample([1], range(n))] * 1,
                               types=n),
    "comments": lambda n: profile([number(13, FIRST), packed(13, [FIRST] * 8 * n)], [b"c"]),
    "lines": lambda n: profile([location(i, [0] * 200) for i in range(1, n // 50 + 2)] +
                               [sample([i]) for i in range(1, n // 50 + 2)]),
    "labels": lambda n: profile([sample([], [1], bytes_of(3, b"") * 4000)] * (n // 4000 + 1)),
    # stacks of 256 times as many frames as addresses, and one of a single frame
    "unfold": lambda n: profile([location(1, [1] * 256), location(2, [1]), function(1, MAIN),
                                 sample([1] * n), sample([1] * (n - 1)), sample([2], [7])]),
    "hostile": hostile,
    # what is refused
    "equal": lambda n: profile([function(7, MAIN)] * n),
    "zero": lambda n: profile([function(0, MAIN)] * n),
    "too-many-labels": lambda n: profile([sample([], [1], bytes_of(3, b"") * 5000)]),
    "too-many-frames": lambda n: profile([location(1, [1] * 256), function(1, MAIN)] +
                                         [sample([1] * 4000)] * 1000),
    "bomb": lambda n: profile([], [b"\0" * 1000] * 60000),
}

if __name__ == "__main__":
    kind, n, *more = sys.argv[1:]
    if not more:
        sys.stdout.buffer.write(KINDS[kind](int(n)))
    for n, path in zip([n, *more[1::2]], more[::2]):
        with open(path, "wb") as out:
            out.write(KINDS[kind](int(n)))
