"""rows.py PROFILE ROWS [NAME=VALUE...] - are ROWS what pmu-rows(5) says about PROFILE?

PROFILE is not compressed.  NAME=VALUE is host=NAME, service=NAME or detail=1, as given to
pmu-topprof --to rows.
rows.py hash NAME... prints the hash of a stack.  rows.py raw TEXT ROWS compares the values with
what go tool pprof -raw printed.
"""
import json
import struct
import sys

from protobuf import fields, packed

KEYS = ["time", "time_ns", "duration_ns", "host", "service", "type", "unit", "value", "samples",
        "hash", "stack", "labels", "units", "file", "line", "build_id"]


def siphash24(data, key=bytes(16)):
    """As the paper says, with numbers of any size."""
    mask = (1 << 64) - 1
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
         k1 ^ 0x7465646279746573]

    def rotate(x, n):
        return (x << n | x >> 64 - n) & mask

    def rounds(n):
        for _ in range(n):
            for a, b, first, c, d, second in ((0, 1, 13, 2, 3, 16), (2, 1, 17, 0, 3, 21)):
                v[a] = v[a] + v[b] & mask
                v[b] = rotate(v[b], first) ^ v[a]
                v[a] = rotate(v[a], 32)
                v[c] = v[c] + v[d] & mask
                v[d] = rotate(v[d], second) ^ v[c]

    whole = len(data) - len(data) % 8
    tail = data[whole:] + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", data[:whole] + tail):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return "%016x" % (v[0] ^ v[1] ^ v[2] ^ v[3])


def is_safe(c):
    """Of the characters that do not move the cursor of a terminal or hide text."""
    return not (c < 0x20 or 0x7f <= c <= 0x9f or c == 0xfffd or c == 0x61c or
                0x200e <= c <= 0x200f or 0x2028 <= c <= 0x202e or 0x2066 <= c <= 0x2069)


def safe(text):
    """TEXT with "?" for each byte of other characters, and for each byte that is not UTF-8."""
    text = text.split(b"\0")[0].decode("utf-8", "surrogateescape")
    return "".join("?" if 0xdc80 <= ord(c) <= 0xdcff else c if is_safe(ord(c)) else
                   "?" * len(c.encode()) for c in text)


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def numbers(message, field):
    """A repeated number, packed or not."""
    out = []
    for number, value in fields(message):
        if number == field:
            out += packed(value) if isinstance(value, bytes) else [value]
    return out


class Profile:
    def __init__(self, data):
        self.strings, self.samples, self.types = [], [], []
        self.mapping, self.location, self.function = {}, {}, {}
        self.comments = numbers(data, 13)
        self.facts = numbers(data, 1001)
        self.time = self.duration = 0
        for field, value in fields(data):
            if field == 1:
                self.types.append(dict(fields(value)))
            elif field == 2:
                self.samples.append(value)
            elif field in (3, 5):
                [self.mapping, self.function][field == 5][dict(fields(value))[1]] = \
                    dict(fields(value))
            elif field == 4:
                self.location[dict(fields(value))[1]] = value
            elif field == 6:
                self.strings.append(safe(value))
            elif field == 9:
                self.time = signed(value)
            elif field == 10:
                self.duration = signed(value)

    def frames(self, location):
        """Of a location, the leaf first: name, file, line, build ID."""
        it = self.location[location]
        mapping = self.mapping.get(dict(fields(it)).get(2, 0), {})
        build_id = self.strings[mapping.get(6, 0)]
        for field, value in fields(it):
            if field != 4:
                continue
            line = dict(fields(value))
            function = self.function.get(line.get(1, 0), {})
            yield (self.strings[function.get(2, 0)], self.strings[function.get(4, 0)],
                   signed(line.get(2, 0)), build_id)
        if all(field != 4 for field, _ in fields(it)):
            path = self.strings[mapping.get(5, 0)] or "[unknown]"
            if path[0] != "[":
                path = "[%s]" % path.split("/")[-1]
            yield path[:255], "", 0, build_id

    def said(self, key):
        """What all comments with this key say, if it is the same."""
        texts = {self.strings[i][len(key):] for i in self.comments
                 if self.strings[i].startswith(key)}
        if key == "host: ":
            texts = {text.split()[0].rstrip(",") for text in texts}
        return texts.pop() if len(texts) == 1 else None

    def times(self, labels):
        """Time and length: in a difference, those of the sample's side."""
        for fact in (self.strings[i] for i in self.facts):
            if fact.startswith("sides: "):
                of = dict(word.split("=") for word in fact.split()[1:])
                side = "base" if "pprof::base" in labels else "after"
                return int(of[side + "_time"]), int(of[side + "_duration"])
        return self.time, self.duration

    def labels(self, sample):
        texts, units, services = {}, {}, {}
        for field, value in fields(sample):
            if field != 3:
                continue
            it = dict(fields(value))
            key = self.strings[it.get(1, 0)]
            if it.get(2, 0):
                texts.setdefault(key, []).append(self.strings[it[2]])
                services.setdefault(key, self.strings[it[2]])
            else:
                texts.setdefault(key, []).append(signed(it.get(3, 0)))
                if self.strings[it.get(4, 0)]:
                    units.setdefault(key, self.strings[it[4]])
        service = services.get("comm") or services.get("thread_comm")
        one = {key: values[0] if len(values) == 1 else values for key, values in texts.items()}
        return {key: one[key] for key in sorted(one, key=str.encode)}, units, service


def pairs(types, totals):
    """By type with a count of samples: the index of that count."""
    found = {}
    for i, (name, unit) in enumerate(types):
        for k, (of, _) in enumerate(types):
            if unit == "count" and name == of + "_samples" and any(t[i] or t[k] for t in totals):
                found.setdefault(k, i)
    if len(found) >= 2:
        return found
    counts = [unit == "count" and (name == "samples" or name.endswith("_samples") and len(name) > 8)
              for name, unit in types]
    if ("samples", "count") in types and not all(counts):
        return {counts.index(False): types.index(("samples", "count"))}
    return {}


def rows_of(profile, options):
    types = [(profile.strings[t.get(1, 0)], profile.strings[t.get(2, 0)]) for t in profile.types]
    sums = {}
    for sample in profile.samples:
        frames = [f for at in numbers(sample, 1) for f in profile.frames(at)][::-1]
        labels, units, service = profile.labels(sample)
        parts = tuple(zip(*frames)) if frames else ((),) * 4
        if "detail" not in options:
            parts = parts[:1]
        key = parts, json.dumps(labels), json.dumps(units), service
        total = sums.setdefault(key, [0] * len(types))
        for i, value in enumerate(numbers(sample, 2)):
            total[i] += signed(value)
    count = pairs(types, sums.values())
    for i, (name, unit) in enumerate(types):
        for (parts, labels, units, service), total in sums.items():
            samples = total[count[i]] if i in count else 0
            if i in count.values() or not (total[i] or samples):
                continue
            time, duration = profile.times(labels)
            row = {"time": time // 10**9, "time_ns": time % 10**9, "duration_ns": duration,
                   "host": options.get("host") or profile.said("host: "),
                   "service": options.get("service") or profile.said("service: ") or service,
                   "type": name, "unit": unit}
            row = {key: value for key, value in row.items() if value}
            row["value"] = total[i]
            if i in count:
                row["samples"] = samples
            row["hash"] = siphash24(b"".join(str(x).encode() + b"\0" for p in parts for x in p))
            row["stack"] = list(parts[0])
            row.update({key: json.loads(of) for key, of in (("labels", labels), ("units", units))
                        if of != "{}"})
            for key, part in zip(("file", "line", "build_id"), parts[1:]):
                if any(part):
                    row[key] = list(part)
            yield json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def check(row):
    """Is the line a row, with no member but those that there are, in their order?"""
    members = list(json.loads(row, parse_constant=float))
    if members != [key for key in KEYS if key in members]:
        sys.exit("members in another order: %s" % row[:500])


def pprof_sums(raw):
    """What go tool pprof -raw says: the sums of each stack's values, the root first."""
    names, objects, sums, samples, part = {}, {}, {}, [], None
    for line in raw.split("\n"):
        words = line.split()
        if line in ("Samples:", "Locations", "Mappings"):
            part = line
        elif part == "Samples:" and words and words[-1] != ":" and ":" in line[:40] and \
                words[0].lstrip("-").isdigit():
            values, _, places = line.partition(":")
            samples.append((list(map(int, values.split())), list(map(int, places.split()))))
        elif part == "Locations" and words and words[0][-1] == ":":
            location = int(words[0][:-1])
            names[location] = [" ".join(words[3:]).rsplit(" s=", 1)[0].rsplit(" ", 1)[0] or
                               words[2]]
        elif part == "Mappings" and len(words) > 2:
            objects["M=" + words[0][:-1]] = "[%s]" % words[2].split("/")[-1]
        elif part == "Locations" and words:
            names[location].append(line.strip().rsplit(" s=", 1)[0].rsplit(" ", 1)[0])
    for values, places in samples:
        stack = tuple(objects.get(name, name) for at in places for name in names[at])[::-1]
        sums[stack] = [a + b for a, b in zip(sums.get(stack, [0] * len(values)), values)]
    return {stack: values for stack, values in sums.items() if any(values)}


def compare_raw(raw, rows):
    """Are samples and values of the rows, all of one event, those that pprof shows?"""
    sums = {}
    for row in map(json.loads, rows.split("\n")[:-1]):
        total = sums.setdefault(tuple(row["stack"]), [0, 0])
        total[0] += row["samples"]
        total[1] += row["value"]
    if sums != pprof_sums(raw) or not sums:
        sys.exit("pprof has %d stacks, the rows have %d" % (len(pprof_sums(raw)), len(sums)))


def main():
    if sys.argv[1] == "raw":
        compare_raw(*(open(name, encoding="utf-8").read() for name in sys.argv[2:4]))
        return
    if sys.argv[1] == "hash":
        print(siphash24(b"".join(name.encode() + b"\0" for name in sys.argv[2:])))
        return
    with open(sys.argv[1], "rb") as file:
        want = sorted(rows_of(Profile(file.read()),
                              dict(option.split("=", 1) for option in sys.argv[3:])))
    with open(sys.argv[2], "rb") as file:
        lines = file.read().decode("utf-8").split("\n")
    if lines.pop():
        sys.exit("the last line has no end")
    for line in lines:
        check(line)
    order = [json.loads(line)["type"] for line in lines]
    if order != sorted(order, key=order.index):
        sys.exit("the rows of one type do not follow each other")
    if sorted(lines) != want:
        for row in sorted(set(lines) ^ set(want))[:6]:
            print("missing:" if row in set(want) else "wrong:", row[:2000])
        sys.exit("%d rows, not the %d that are right" % (len(lines), len(want)))
    print(len(lines), "rows")


if __name__ == "__main__":
    main()
