"""labels.py - streams with labels whose truth is known, and what a profile says of them.

    labels.py make KIND N TRUTH     write a stream of about N samples to stdout, the truth to TRUTH
    labels.py judge                 print what the profile on stdin (uncompressed) says

The truth is a line for each distinct pair of an address and labels: how often, address, labels.
A function of the program runs under one value of the label user, so the address alone says which
value is right.  Written from record/label-payload.h; shares nothing with its readers.
"""
import collections
import struct
import sys

from protobuf import *
from streams import *

NO_LABELS, UNREADABLE = 5, 6
CUT, FAULT = 1, 2
MAP, SLICE, OTEL, CUSTOM = 1, 2, 3, 4
TYPE = IDENT | IP | TID | TIME | CPU | PERIOD


def text(t):
    t = t.encode() if isinstance(t, str) else t
    return bytes([len(t)]) + t


def payload(event, ip, pairs=(), status=0, flags=0, form=SLICE, count=None, n=None, used=None,
            magic=b"GBL1"):
    pairs = list(pairs)
    body = b"".join(text(k) + text(v) for k, v in pairs)
    return magic + struct.pack("<BBBBQQII", status, len(pairs) if n is None else n, flags, form,
                               event, ip, len(body) if used is None else used,
                               len(pairs) if count is None else count) + body


class Recording:
    """Events 0 (cpu-clock) and 1 (page-faults); event 2 is labels."""

    def __init__(self, clock=1000, origin=0):
        self.time = clock
        self.origin = origin
        self.truth = collections.Counter()
        self.records = []
        for i, (config, name, more) in enumerate(((0, "cpu-clock", CHAIN), (2, "page-faults", CHAIN),
                                                  (10, "labels", RAW))):
            a = attr(1, config, 1000000, TYPE | more)
            self.records.append(record(64, a + struct.pack("<Q", 11 + i), 0))
            self.records.append(record(78, struct.pack("<QQ", 2, 11 + i) + pad(name.encode()), 0))
        for pid in 42, 43:
            self.records.append(record(3, struct.pack("<II", pid, pid) + pad(b"prog") +
                                       self.trailer(pid, 0)))
            self.records.append(record(1, mmap(pid, 0x400000, 0x100000, b"/nonexistent/prog") +
                                       self.trailer(pid, 0)))

    def trailer(self, pid, time, cpu=0, event=0):
        return struct.pack("<IIQIIQ", pid, pid, time, cpu, 0, 11 + event)

    def fixed(self, event, ip, tid, cpu, time):
        return struct.pack("<QQIIQIIQ", 11 + event, ip, 42, tid, time, cpu, 0, 1000000)

    def labels(self, event, ip, pairs=(), tid=42, cpu=0, time=None, raw=None, **more):
        raw = payload(event, ip, pairs, **more) if raw is None else raw
        raw += bytes(-(4 + len(raw)) % 8)
        self.records.append(record(9, self.fixed(2, ip, tid, cpu, time or self.time) +
                                   struct.pack("<I", len(raw)) + raw))

    def sample(self, event, ip, truth=None, tid=42, cpu=0, callers=(0x4f0000,)):
        """TRUTH: what a profile should say; None: not known."""
        chain = 2 ** 64 - 512, ip, *callers
        self.records.append(record(9, self.fixed(event, ip, tid, cpu, self.time) +
                                   struct.pack("<%dQ" % (len(chain) + 1), len(chain), *chain)))
        labels = {"labels": "not known"} if truth is None else dict(truth)
        self.truth[ip, ",".join("%s=%s" % l for l in sorted(labels.items()))] += 1
        self.time += 1000

    def pair(self, i, user, event=0, **where):
        ip = 0x400000 + 64 * i
        self.labels(event, ip, [("user", user)], **where)
        self.sample(event, ip, {"user": user}, **where)

    def lost(self, count):
        self.records.append(record(2, struct.pack("<QQ", 11, count) + self.trailer(42, self.time)))

    def round(self):
        self.records.append(record(68, b"", 0))

    def bytes(self):
        return pipe(*self.records)


def random(n, seed=1):
    x = seed * 88172645463325252 % 2 ** 64
    for _ in range(n):
        x ^= x << 13 & 2 ** 64 - 1
        x ^= x >> 7
        x ^= x << 17 & 2 ** 64 - 1
        yield x


def plain(r, n):
    """Threads on four CPUs, whose labels change with each sample; two events."""
    for x in random(n):
        i = x % 50
        r.pair(i, "v%d" % i, event=x >> 8 & 1, tid=42 + (x >> 9) % 8, cpu=(x >> 12) % 4)
        if x % 100 == 0:
            r.round()


def lossy(r, n):
    """Of 8 in turn: a pair, a sample alone, labels alone, a pair in a pair, ... and LOST."""
    for k, x in enumerate(random(n)):
        i, user = x % 50, "v%d" % (x % 50)
        ip = 0x400000 + 64 * i
        what = x >> 20 & 7
        where = {"tid": 42 + (x >> 9) % 2, "cpu": (x >> 12) % 2}
        if what < 3:
            r.pair(i, user, **where)
        elif what == 3:         # its labels were lost
            r.sample(0, ip, None, **where)
        elif what == 4:         # their sample was lost; a like one comes next, without labels
            r.labels(0, ip, [("user", "wrong")], **where)
            r.time += 1000
            r.sample(0, ip, None, **where)
        elif what == 5:         # an interrupt in an interrupt
            r.labels(0, ip, [("user", user)], **where)
            r.labels(1, ip + 64 * 50, [("user", user + "n")], **where)
            time = r.time
            r.sample(1, ip + 64 * 50, {"user": user + "n"}, **where)
            r.time = time
            r.sample(0, ip, {"user": user}, **where)
        elif what == 6:         # lost between the two
            r.labels(0, ip, [("user", "wrong")], **where)
            r.lost(3)
            r.sample(0, ip, None, **where)
        else:                   # of another event, another thread, another address
            r.labels(1, ip, [("user", "wrong")], **where)
            r.labels(0, ip, [("user", "wrong")], tid=99, cpu=where["cpu"])
            r.labels(0, ip + 1, [("user", "wrong")], **where)
            r.sample(0, ip, None, **where)


def states(r, n):
    """Every status, count, flag and form."""
    for k in range(n):
        ip = 0x400000 + 64 * (k % 7)
        r.labels(0, ip, [("user", "alice")] if k % 7 == 0 else [], status=k % 7)
        truth = ({"user": "alice"}, {}, {}, None, {}, {}, None)[k % 7]
        r.sample(0, ip, truth)
    ip = 0x410000
    for form in range(5):
        r.labels(0, ip + form, [("user", "first"), ("user", "last")], form=form)
        r.sample(0, ip + form, {"user": "last" if form == OTEL else "first"})
    ip = 0x411000
    r.labels(0, ip, [("k" * 63, "v" * 255), ("short", "x" * 254)], flags=CUT)
    r.sample(0, ip, {"k" * 63 + "...": "v" * 255 + "...", "short": "x" * 254})
    r.labels(0, ip + 1, [("k" * 63, "v" * 255)])
    r.sample(0, ip + 1, {"k" * 63: "v" * 255})
    r.labels(0, ip + 2, [("user", ""), ("", "lost"), ("path", b"\0\0\0"), (b"\0\0", "x")],
             flags=FAULT)
    r.sample(0, ip + 2, {"user": "[unreadable]", "path": "[unreadable]"})
    r.labels(0, ip + 3, [("user", ""), ("", "empty key")])
    r.sample(0, ip + 3, {"user": "[empty]", "label:": "empty key"})
    r.labels(0, ip + 4, [("user", "bob")], count=12)
    r.sample(0, ip + 4, {"user": "bob", "labels": "some left out"})
    r.labels(0, ip + 5, [("user", b"a\xff\x1b[2J\0b\n")])
    r.sample(0, ip + 5, {"user": "a??[2J?b?"})
    r.labels(0, ip + 6, [("pid", "mine"), ("labels", "x"), ("label:pid", "y"), ("cpu", "z"),
                         ("pprof::base", "true")])
    r.sample(0, ip + 6, {"label:pid": "mine", "label:labels": "x", "label:label:pid": "y",
                         "label:cpu": "z", "label:pprof::base": "true"})


def many(r, n):
    """N values of the label request, one of user."""
    for k in range(n):
        ip = 0x400000 + 64 * (k % 50)
        r.labels(0, ip, [("user", "alice"), ("request", "r%d" % k)])
        r.sample(0, ip, {"user": "alice", "request": "r%d" % k if k < 1000 else "[other]"})


def back(r, n):
    """The samples of keys, in reverse order; two keys a sample."""
    forth(r, n, range(n - 1, -1, -1))


def forth(r, n, order=None):
    for k in order or range(n):
        ip = 0x400000 + 64 * (k % 5)
        pairs = [("k%03d" % k, "v"), ("m%03d" % (k * 7 % n), "w%d" % k)][:1 + k % 2]
        r.labels(0, ip, pairs if order else pairs[::-1])
        r.sample(0, ip, dict(pairs))


def keys(r, n):
    """N keys."""
    for k in range(n):
        ip = 0x400000 + 64 * (k % 50)
        r.labels(0, ip, [("k%03d" % (n - k), "v")])
        r.sample(0, ip, {"k%03d" % (n - k): "v"} if k < 32 else {})


def none(r, n):
    """A stream without labels."""
    del r.records[4:6]
    for k in range(n):
        r.sample(0, 0x400000 + 64 * (k % 50), {})


def damaged(r, n):
    """Payloads that are wrong: each is reported, and its sample has unknown labels."""
    ip = 0x400000
    good = payload(0, ip, [("user", "alice")])
    bad = [good[:k] for k in range(0, len(good) - 12, 4)]       # the kernel's padding hides 12
    bad += [payload(0, ip, [("user", "x")], **more) for more in (
        {"magic": b"1LBG"}, {"status": 7}, {"status": 255}, {"status": 5}, {"n": 2}, {"n": 255},
        {"used": 5}, {"used": 2 ** 32 - 1}, {"used": 1000})]
    bad += [payload(4096, ip), payload(2 ** 63, ip), payload(1 << 32, ip),
            payload(0, ip, used=0, n=1), b"", b"GBL1"]
    for raw in bad:
        r.labels(0, ip, raw=raw)
        r.sample(0, ip, None)
    r.pair(1, "good")


def judge(data):
    strings, address, samples = [], {}, []
    for field, value in fields(data):
        if field == 6:
            strings.append(value.decode())
        elif field == 4:
            location = dict(fields(value))
            address[location[1]] = location[3]
        elif field == 2:
            samples.append(value)
    said = collections.Counter()
    for s in samples:
        where, values, labels = None, [], {}
        for field, value in fields(s):
            if field == 1:
                where = packed(value)[0]
            elif field == 2:
                values = packed(value)
            elif field == 3:
                label = dict(fields(value))
                labels[strings[label[1]]] = strings[label.get(2, 0)]
        for drop in "pid", "thread_comm":
            labels.pop(drop, None)
        said[address[where], ",".join("%s=%s" % l for l in sorted(labels.items()))] += \
            sum(values[0::2])
    show(said)


def later(r, n):
    """N samples with a hundred callers of their own each, and one more after two seconds."""
    r.records.append(record(80, struct.pack("<QIIQQ", 29, 1, 1, 1600000000 * 10 ** 9, 0), 0))
    for k in range(n + 1):
        r.time += 2 * 10 ** 9 if k == n else 0
        ip = 0x400000 + 64 * (k % 50)
        r.labels(0, ip, [("user", "u%d" % (k % 7))])
        r.sample(0, ip, {"user": "u%d" % (k % 7)},
                 callers=range(0x410000 + 100 * k, 0x410000 + 100 * (k + 1)))


def show(counter, out=sys.stdout):
    base = min((a for a, _ in counter), default=0)
    for (a, labels), n in sorted(counter.items()):
        print(n, "%x" % (a - base), labels, file=out)


if __name__ == "__main__":
    if sys.argv[1] == "judge":
        judge(sys.stdin.buffer.read())
    else:
        r = Recording()
        globals()[sys.argv[2]](r, int(sys.argv[3]))
        with open(sys.argv[4], "w") as truth:
            show(r.truth, truth)
        sys.stdout.buffer.write(r.bytes())
