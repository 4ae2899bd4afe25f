"""Profiles to push, and what arrived, by a reader that shares no code with ours.

    pushes.py make RING COUNT [KEY=VALUE...]  lay COUNT profiles into RING, as --keep names them
            start=T (s; COUNT minutes ago)  length=S (60)  stacks=N (20)  seed=N (start)  deep=N (5)
    pushes.py compare RECEIVED... RING [KEY=VALUE...]  compare what each receiver stored with files
            host=NAME service=NAME (as given to pmu-serve)  only=N (the newest N files)
    pushes.py total RING...                   the sum of all values of each type

What is wrong is printed, a line each, and the exit status is 1.
"""
import gzip, json, os, random, re, sys, time
from collections import Counter

import profiles
import protobuf

NAMES = ["main", "std::vector<int>::push_back(int&&)", "a \"quote\" and \\ and ;", "tab\tline\nend\x01",
         "\u540d\u524d \U0001f600", "x" * 300] + ["function_%d" % i for i in range(60)]


def make_one(stacks, deep, seed, start, length):
    """A profile of one event; its labels are text, numbers, and numbers with a unit."""
    dice = random.Random(seed)
    texts = ["", "samples", "count", "cpu", "nanoseconds", "comm", "worker", "pid", "latency",
             "cycles", "nginx", *NAMES]
    first = texts.index("nginx") + 1
    parts = [profiles.bytes_of(1, profiles.number(1, 1) + profiles.number(2, 2)),
             profiles.bytes_of(1, profiles.number(1, 3) + profiles.number(2, 4))]
    for i in range(len(NAMES)):
        inlined = [(i + 1) % len(NAMES)] * (i % 7 == 3)
        parts.append(profiles.location(i + 1, [f + 1 for f in (*inlined, i)], address=4096 + i))
        parts.append(profiles.function(i + 1, first + i))
    for _ in range(stacks):
        labels = profiles.label(5, dice.choice((6, 10)))
        if dice.random() < 0.5:
            labels += profiles.bytes_of(3, profiles.number(1, 7) + profiles.number(
                3, dice.choice((1, 1 << 60))))
        if dice.random() < 0.3:
            labels += profiles.bytes_of(3, profiles.number(1, 8) + profiles.number(
                3, dice.randrange(3)) + profiles.number(4, 9))
        stack = [dice.randrange(len(NAMES)) + 1 for _ in range(dice.randrange(1, deep + 1))]
        count = dice.randrange(1, 1000)
        parts.append(profiles.sample(stack, (count, count * 10**7), labels))
    parts += [profiles.number(9, start * 10**9 + 5), profiles.number(10, length * 10**9),
              profiles.bytes_of(11, profiles.number(1, 3) + profiles.number(2, 4)),
              profiles.number(12, 10**7)]
    return b"".join([*parts, *(profiles.bytes_of(6, t.encode()) for t in texts)])


def make(ring, count, start=None, length=60, stacks=20, seed=None, deep=5):
    start = int(time.time()) - count * length - 10 if start is None else start
    for i in range(count):
        at = start + i * length
        data = make_one(stacks, deep, at if seed is None else seed + i, at, length)
        with open("%s/.made" % ring, "wb") as file:
            file.write(gzip.compress(data, 1))
        os.rename("%s/.made" % ring, "%s/profile-%d-%d.pb.gz" % (ring, at, length))


def fields_of(data, kinds):
    """A message: the values of each field, as a list; field numbers in KINDS are packed."""
    out = {}
    for field, value in protobuf.fields(data):
        packed = field in kinds and isinstance(value, bytes)
        out.setdefault(field, []).extend(protobuf.packed(value) if packed else [value])
    return out


def number(message, field):
    value = message.get(field, [0])[0]
    return value - (1 << 64) if value >= 1 << 63 else value


class Profile:
    """What is in a file: its times, types, and samples as (stack, labels, units, values)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        top = fields_of(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, ())
        text = [t.decode() for t in top[6]]
        functions = {number(f, 1): text[number(f, 2)]
                     for f in (fields_of(d, ()) for d in top.get(5, []))}
        objects = {number(m, 1): text[number(m, 5)]
                   for m in (fields_of(d, ()) for d in top.get(3, []))}
        lines = {}
        for location in (fields_of(d, ()) for d in top.get(4, [])):
            path = objects.get(number(location, 2), "").rpartition("/")[2]
            lines[number(location, 1)] = [
                functions[number(fields_of(line, ()), 1)] for line in location.get(4, [])
            ] or ["[%s]" % (path.strip("[]") or "unknown")]
        self.types = [(text[number(t, 1)], text[number(t, 2)])
                      for t in (fields_of(d, ()) for d in top[1])]
        self.time, self.duration = number(top, 9), number(top, 10)
        self.samples = []
        for sample in (fields_of(d, (1, 2)) for d in top.get(2, [])):
            labels, units = {}, {}
            for label in (fields_of(d, ()) for d in sample.get(3, [])):
                key = text[number(label, 1)]
                labels[key] = text[number(label, 2)] if 2 in label else number(label, 3)
                if number(label, 4):
                    units[key] = text[number(label, 4)]
            stack = tuple(n for at in reversed(sample[1]) for n in reversed(lines[at]))
            self.samples.append((stack, labels, units, sample[2]))

    def count_of(self, name):
        """The index of the type that counts the samples of NAME, or None."""
        wanted = ("samples" if len(self.types) == 2 else name + "_samples", "count")
        return self.types.index(wanted) if wanted in self.types else None

    def rows(self, host, service):
        """The rows that a server must send: identity, and [value, samples, duration]."""
        counts = {self.count_of(name) for name, _ in self.types}
        out = {}
        for stack, labels, units, values in self.samples:
            for i, (name, unit) in enumerate(self.types):
                if i in counts:
                    continue
                of = service or labels.get("comm") or labels.get("thread_comm")
                key = (host, of, self.time // 10**9, self.time % 10**9, name, unit,
                       tuple(re.sub("[\x00-\x1f\x7f]", "?", frame) for frame in stack),
                       json.dumps([labels, units], sort_keys=True))
                row = out.setdefault(key, [0, 0, self.duration])
                row[0] += values[i]
                row[1] += values[self.count_of(name)] if self.count_of(name) is not None else 0
        return {key: row for key, row in out.items() if row[0] or row[1]}


def stored(directory, suffix):
    for name in sorted(os.listdir(directory + "/stored")):
        if name.endswith(suffix):
            yield "%s/stored/%s" % (directory, name)


def received(directory):
    """The rows that a receiver stored, and how many came more than once."""
    out, again = {}, 0
    for path in stored(directory, ".rows"):
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file.read().split("\n")[:-1]:
                row = json.loads(line)
                key = (row["host"], row.get("service"), row["time"], row.get("time_ns", 0),
                       row["type"], row["unit"], tuple(row["stack"]),
                       json.dumps([row.get("labels", {}), row.get("units", {})], sort_keys=True))
                values = [row["value"], row.get("samples", 0), row.get("duration_ns", 0)]
                again += key in out
                if out.setdefault(key, values) != values:
                    wrong("copies of a row differ: %s: %s, %s" % (key, out[key], values))
    return out, again


WRONG = []


def wrong(what):
    WRONG.append(what)


def in_ring(ring, only=None):
    names = sorted(n for n in os.listdir(ring) if n.startswith("profile-"))
    return ["%s/%s" % (ring, name) for name in (names if only is None else names[-only:])]


def compare(*places, host=None, service=None, only=None):
    *directories, ring = places
    host = os.uname().nodename if host is None else host
    files = in_ring(ring, None if only is None else int(only))
    wanted = {}
    for path in files:
        wanted.update(Profile(path).rows(host, service))
    for directory in directories:
        if any(stored(directory, ".pb.gz")):
            compare_profiles(directory, files)
        else:
            compare_rows(directory, wanted)
    if not wanted:
        wrong("no profile in " + ring)


def compare_rows(directory, wanted):
    have, again = received(directory)
    for what, keys in (("is missing", wanted.keys() - have.keys()),
                       ("is not in any profile", have.keys() - wanted.keys())):
        for key in keys:
            wrong("%s: this %s: %s" % (directory, what, key))
    for key in wanted.keys() & have.keys():
        if wanted[key] != have[key]:
            wrong("%s: %s, not %s: %s" % (directory, have[key], wanted[key], key))
    print("%s: %d rows, %d came again" % (directory, len(have), again))


def compare_profiles(directory, files):
    def essence(path):
        p = Profile(path)
        return repr((p.time, p.duration, p.types, sorted(repr(s) for s in p.samples)))

    have = Counter(essence(path) for path in stored(directory, ".pb.gz"))
    wanted = {essence(path): path for path in files}
    for key in wanted.keys() - have.keys():
        wrong("%s: missing: %s" % (directory, wanted[key]))
    for key in have.keys() - wanted.keys():
        wrong("%s: not in any profile: %.200s" % (directory, key))
    print("%s: %d files, %d came again" % (directory, len(have), sum(have.values()) - len(have)))


def total(*rings):
    sums = Counter()
    for path in (path for ring in rings for path in in_ring(ring)):
        p = Profile(path)
        for sample in p.samples:
            sums.update({t: v for t, v in zip(p.types, sample[3])})
    for (name, unit), value in sorted(sums.items()):
        print(name, unit, value)


def main():
    command, *arguments = sys.argv[1:]
    options = dict(a.split("=", 1) for a in arguments if "=" in a)
    arguments = [a for a in arguments if "=" not in a]
    if command == "make":
        make(arguments[0], int(arguments[1]), **{k: int(v) for k, v in options.items()})
    elif command == "compare":
        compare(*arguments, **options)
    else:
        total(*arguments)
    for line in WRONG[:20]:
        print(line)
    sys.exit(1 if WRONG else 0)


if __name__ == "__main__":
    main()
