"""Rows (pmu-rows(5)) and profiles, read and written apart from the tools: for the tests.

    rows-back.py write PROFILE [detail]    the rows of a profile, to stdout
    rows-back.py same PROFILE PROFILE      nothing, or what differs: stacks, labels, values, types, times
    rows-back.py show PROFILE              what is compared: a line for each stack, set of labels, type
"""
import gzip
import json
import os
import sys

from protobuf import fields, packed


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Profile:
    def __init__(self, path):
        data = open(path, "rb").read()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        self.strings, self.types, self.samples, self.comments = [], [], [], []
        self.time = self.duration = 0
        tables = {3: {}, 4: {}, 5: {}}
        types = []
        for field, value in fields(data):
            if field == 1:
                types.append(dict(fields(value)))
            elif field == 2:
                self.samples.append(value)
            elif field in tables:
                tables[field][dict(fields(value)).get(1, 0)] = value
            elif field == 6:
                self.strings.append(value.decode())
            elif field == 9:
                self.time = value
            elif field == 10:
                self.duration = value
            elif field == 13:
                self.comments += packed(value) if isinstance(value, bytes) else [value]
        self.types = [(self.strings[t.get(1, 0)], self.strings[t.get(2, 0)]) for t in types]
        self.mappings = {i: dict(fields(m)) for i, m in tables[3].items()}
        self.functions = {i: dict(fields(f)) for i, f in tables[5].items()}
        self.locations = {i: self.frames(l) for i, l in tables[4].items()}

    def frames(self, location):
        """Name, file, line and build ID of each call, the innermost first."""
        mapping, lines = {}, []
        for field, value in fields(location):
            if field == 2:
                mapping = self.mappings.get(value, {})
            elif field == 4:
                lines.append(dict(fields(value)))
        build_id = self.strings[mapping.get(6, 0)]
        if not lines:
            path = self.strings[mapping.get(5, 0)]
            # the kernel's objects have brackets already, perhaps with more after these
            name = path if path.startswith("[") else "[%s]" % os.path.basename(path)
            return [(name if path else "[unknown]", "", 0, build_id)]
        out = []
        for line in lines:
            f = self.functions.get(line.get(1, 0), {})
            out.append((self.strings[f.get(2, 0)] or self.strings[f.get(3, 0)],
                        self.strings[f.get(4, 0)], signed(line.get(2, 0)), build_id))
        return out

    def sample(self, data):
        """The frames from the root, the labels as sorted tuples, the values."""
        locations, values, labels = [], [], []
        for field, value in fields(data):
            if field == 1:
                locations += packed(value) if isinstance(value, bytes) else [value]
            elif field == 2:
                values += packed(value) if isinstance(value, bytes) else [value]
            elif field == 3:
                label = dict(fields(value))
                key, unit = self.strings[label.get(1, 0)], self.strings[label.get(4, 0)]
                if label.get(2, 0):
                    labels.append((key, "text", self.strings[label[2]], ""))
                else:
                    labels.append((key, "number", signed(label.get(3, 0)), unit))
        frames = [f for l in locations for f in self.locations.get(l, ())]
        return tuple(reversed(frames)), tuple(sorted(labels)), [signed(v) for v in values]

    def sums(self, detail=False):
        """By stack, labels and type: the sum of the values, if it is not 0."""
        out = {}
        for data in self.samples:
            frames, labels, values = self.sample(data)
            stack = frames if detail else tuple(f[0] for f in frames)
            for type, value in zip(self.types, values):
                key = stack, labels, type
                out[key] = out.get(key, 0) + value
        return {key: value for key, value in out.items() if value}


def count_types(types):
    """By type: the one that counts its samples, as the page says."""
    pairs = {(name, unit): (name + "_samples", "count") for name, unit in types
             if (name + "_samples", "count") in types}
    if len(pairs) >= 2:
        return pairs
    rest = [t for t in types if t != ("samples", "count") and
            not (t[0].endswith("_samples") and t[1] == "count")]
    return {rest[0]: ("samples", "count")} if rest and ("samples", "count") in types else {}


def write(path, detail):
    p = Profile(path)
    sums = p.sums(detail)
    types = [t for t in p.types if any(key[2] == t for key in sums)]  # others have no rows
    counts = count_types(types)
    host = [p.strings[c][6:].split(" ")[0] for c in p.comments if p.strings[c].startswith("host: ")]
    rows = {}
    for (stack, labels, type), value in sums.items():
        for of, count in counts.items():
            if type == count:
                rows.setdefault((stack, labels, of), 0)
        if type not in counts.values():
            rows[stack, labels, type] = value
    for (stack, labels, type), value in sorted(rows.items(), key=lambda r: types.index(r[0][2])):
        row = {"time": p.time // 10**9, "time_ns": p.time % 10**9, "duration_ns": p.duration}
        row = {key: value for key, value in row.items() if value}
        if host:
            row["host"] = host[0]
        row.update(type=type[0], unit=type[1], value=value)
        if type in counts:
            row["samples"] = sums.get((stack, labels, counts[type]), 0)
        row["stack"] = [f[0] for f in stack] if detail else list(stack)
        texts = {}
        for key, kind, value, unit in labels:
            texts.setdefault(key, []).append(value)
            if unit:
                row.setdefault("units", {})[key] = unit
        if texts:
            row["labels"] = {key: v[0] if len(v) == 1 else v for key, v in texts.items()}
        if detail:
            row.update(file=[f[1] for f in stack], line=[f[2] for f in stack],
                       build_id=[f[3] for f in stack])
        print(json.dumps(row))


def show(p, detail):
    for (stack, labels, type), value in sorted(p.sums(detail).items()):
        print(";".join(map(str, stack)), dict((l[0], l[2:]) for l in labels), type, value)


def same(one, other, detail):
    a, b = Profile(one), Profile(other)
    sums = [p.sums(detail) for p in (a, b)]
    for key in sums[0].keys() | sums[1].keys():
        if sums[0].get(key) != sums[1].get(key):
            print("differs:", key, sums[0].get(key), sums[1].get(key))
    types = [[t for t in p.types if any(key[2] == t for key in s)] for p, s in zip((a, b), sums)]
    if types[0] != types[1]:
        print("types:", *types)
    if (a.time, a.duration) != (b.time, b.duration):
        print("times:", a.time, a.duration, b.time, b.duration)
    if not sums[0]:
        print("no samples")


if __name__ == "__main__":
    detail = "detail" in sys.argv
    if sys.argv[1] == "write":
        write(sys.argv[2], detail)
    elif sys.argv[1] == "same":
        same(sys.argv[2], sys.argv[3], detail)
    else:
        show(Profile(sys.argv[2]), detail)
