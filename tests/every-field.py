"""What a tool keeps of a profile, field by field: the fields are those of proto/profile.proto.

    every-field.py write A B           two profiles in which each field is set: B has the samples
                                       of A and others, and differs in its other fields
    every-field.py sum GOT P...        fail unless GOT is the sum of the profiles
    every-field.py difference GOT BASE P
    every-field.py one-type GOT P      ... P with its default sample type only
    every-field.py label KEY GOT P     ... P with this label only
    every-field.py pprof GOT WANT P    ... WANT but for what pprof did not keep: WANT does not have
                                       it, P does

A field that this program does not know fails, too: give it a row in FIELDS, and if it is one of the
profile itself, the rule by which profiles are merged in the last column.
"""
import gzip
import os
import re
import sys

sys.dont_write_bytecode = True
from profiles import bytes_of, varint
from protobuf import fields, packed

HERE = os.path.dirname(os.path.abspath(__file__))


def first(a, b):
    return a or b


def of_first(a, b):
    return a


def both(a, b):
    return a + [x for x in b if x not in a]


def same(a, b):
    assert a == b
    return a


def added(a, b):
    return a + b


# What a number means (NUMBER, TEXT: a string's index, ID, or the message whose id it is), and how
# the profile's own fields are merged.
NUMBER, TEXT, ID = "number", "text", "id"
FIELDS = {
    "Profile": {
        "sample_type": ("ValueType", same), "sample": ("Sample", None),
        "mapping": ("Mapping", None), "location": ("Location", None),
        "function": ("Function", None), "string_table": ("string", None),
        "drop_frames": (TEXT, of_first), "keep_frames": (TEXT, of_first),
        "time_nanos": (NUMBER, min), "duration_nanos": (NUMBER, added),
        "period_type": ("ValueType", same), "period": (NUMBER, max), "comment": (TEXT, both),
        "default_sample_type": (TEXT, first), "doc_url": (TEXT, first), "fact": (TEXT, both)},
    "ValueType": {"type": (TEXT,), "unit": (TEXT,)},
    "Sample": {"location_id": ("Location",), "value": (NUMBER,), "label": ("Label",)},
    "Label": {"key": (TEXT,), "str": (TEXT,), "num": (NUMBER,), "num_unit": (TEXT,)},
    "Mapping": {
        "id": (ID,), "memory_start": (NUMBER,), "memory_limit": (NUMBER,),
        "file_offset": (NUMBER,), "filename": (TEXT,), "build_id": (TEXT,),
        "has_functions": (NUMBER,), "has_filenames": (NUMBER,), "has_line_numbers": (NUMBER,),
        "has_inline_frames": (NUMBER,)},
    "Location": {"id": (ID,), "mapping_id": ("Mapping",), "address": (NUMBER,), "line": ("Line",),
                 "is_folded": (NUMBER,)},
    "Line": {"function_id": ("Function",), "line": (NUMBER,), "column": (NUMBER,)},
    "Function": {"id": (ID,), "name": (TEXT,), "system_name": (TEXT,), "filename": (TEXT,),
                 "start_line": (NUMBER,)},
}
# Values that a field cannot have: pages, addresses in a mapping, and truth.
LIMITS = {"memory_start": 0x400000, "memory_limit": 0x500000, "address": 0x400000}


class Field:
    def __init__(self, message, repeated, kind, name, number):
        if name not in FIELDS.get(message, {}):
            sys.exit("profile.proto has a field that this test does not know: %s.%s"
                     % (message, name))
        self.name, self.number, self.repeated = name, int(number), bool(repeated)
        self.meaning = FIELDS[message][name][0]
        self.is_message, self.is_flag = kind[0].isupper(), kind == "bool"
        self.is_reference = not self.is_message and self.meaning in FIELDS


def read_proto():
    """The fields of each message, by number."""
    text = re.sub(r"//.*", "", open(HERE + "/../proto/profile.proto").read())
    messages = {
        message: {f.number: f for f in (
            Field(message, *parts) for parts in
            re.findall(r"(repeated\s+)?(\w+)\s+(\w+)\s*=\s*(\d+)\s*;", body))}
        for message, body in re.findall(r"message\s+(\w+)\s*\{([^}]*)\}", text)}
    for message, rows in FIELDS.items():
        assert sorted(rows) == sorted(f.name for f in messages[message].values()), message
    return messages


MESSAGES = read_proto()


class Maker:
    """Makes a profile in which each field is set, each to another value."""

    def __init__(self, who, start):
        self.who, self.next, self.texts = who, start, [""]
        self.items = {"Mapping": [], "Location": [], "Function": []}

    def text(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def number(self):
        self.next += 1
        return self.next

    def one(self, message, field, which):
        """The value of one FIELD."""
        if field.is_message:
            return self.message(field.meaning, which)
        if field.is_reference:
            item = self.message(field.meaning, which)
            self.items[field.meaning].append(item)
            return next(v for f, v in item if f.meaning == ID)
        if field.is_flag:
            return 1
        if field.meaning == TEXT:
            return self.text("%s.%s %s%d" % (message, field.name, self.who, self.number()))
        return LIMITS.get(field.name, 0) + self.number()

    def message(self, message, which=0):
        """A list of fields and values.  Of labels, one has a text, one a number."""
        left_out = ("num", "num_unit") if which == 0 else ("str",)
        return [(f, self.one(message, f, i)) for f in MESSAGES[message].values()
                for i in range(2 if f.repeated else 1)
                if message != "Label" or f.name not in left_out]


def encode(made):
    return b"".join(bytes_of(f.number, encode(v)) if f.is_message else
                    bytes_of(f.number, v) if isinstance(v, bytes) else
                    varint(f.number << 3) + varint(v) for f, v in made)


def header_fields():
    return [f for f in MESSAGES["Profile"].values() if FIELDS["Profile"][f.name][1]]


def make(who, start, types, shared=None):
    """A profile; SHARED: another one whose samples it has, too."""
    m = Maker(who, start)
    if shared:
        m.texts, m.items = list(shared.texts), {k: list(v) for k, v in shared.items.items()}
    samples = [m.message("Sample") for _ in range(2)] + (shared.samples if shared else [])
    made = []
    for f in header_fields():
        if f.name in types:
            made += types[f.name]
        elif f.name == "default_sample_type":
            made.append((f, next(v for t, v in types["sample_type"][who == "b"][1])))
        else:
            made += [(f, m.one("Profile", f, i)) for i in range(2 if f.repeated else 1)]
    by_name = {f.name: f for f in MESSAGES["Profile"].values()}
    made += [(by_name["sample"], s) for s in samples]
    for name, items in m.items.items():
        made += [(by_name[name.lower()], i) for i in items]
    made += [(by_name["string_table"], t.encode()) for t in m.texts]
    m.samples, m.made = samples, made
    return m


def write(a, b):
    m = Maker("both", 100)
    kinds = {f.name: f for f in header_fields()}
    types = {name: [(kinds[name], m.message("ValueType")) for _ in range(n)]
             for name, n in (("sample_type", 2), ("period_type", 1))}
    start = Maker("a", 1000)
    start.texts, start.samples = m.texts, []
    one = make("a", 1000, types, start)
    two = make("b", 5000, types, one)
    for path, profile in ((a, one), (b, two)):
        with gzip.open(path, "wb") as out:
            out.write(encode(profile.made))


def decode(data, message):
    """The message as a dictionary; a repeated field is a list.  What is absent is 0."""
    out = {f.name: [] if f.repeated else 0 for f in MESSAGES[message].values()}
    for number, value in fields(data):
        f = MESSAGES[message].get(number)
        if not f:
            continue
        if f.is_message:
            value = decode(value, f.meaning)
        elif isinstance(value, bytes):
            value = value.decode() if f.meaning == "string" else packed(value)
        if not f.repeated:
            out[f.name] = value
        elif isinstance(value, list):
            out[f.name] += value
        else:
            out[f.name].append(value)
    return out


def plain(profile, made, message, leave_out=()):
    """MADE as pairs, with texts for indexes, and messages for ids: the same in equal profiles."""
    out = []
    for f in MESSAGES[message].values():
        if f.meaning == ID or (message, f.name) in leave_out:
            continue
        values = []
        for v in made[f.name] if f.repeated else [made[f.name]]:
            if f.meaning == TEXT:
                v = profile["string_table"][v]
            elif f.is_message:
                v = plain(profile, v, f.meaning, leave_out)
            elif f.is_reference:
                item = next(x for x in profile[f.meaning.lower()] if x["id"] == v)
                v = plain(profile, item, f.meaning, leave_out)
            values.append(v)
        values = sorted(values, key=repr) if f.name == "label" else values
        out.append((f.name, tuple(values) if f.repeated else values[0]))
    return tuple(out)


def read(path, leave_out=()):
    raw = decode(bytes_in(path), "Profile")
    out = {f.name: [plain(raw, v, f.meaning) if f.is_message else
                    raw["string_table"][v] if f.meaning == TEXT else v
                    for v in (raw[f.name] if f.repeated else [raw[f.name]])]
           for f in header_fields() if ("Profile", f.name) not in leave_out}
    out["first mapping"] = plain(raw, raw["mapping"][0], "Mapping", leave_out)
    out["sample"] = {}
    for s in raw["sample"]:
        key = plain(raw, s, "Sample", (*leave_out, ("Sample", "value")))
        assert key not in out["sample"], "two equal samples"
        out["sample"][key] = s["value"]
    for f in header_fields():
        if f.name in out and not f.repeated:
            out[f.name] = out[f.name][0]
    return out


def add(a, b, sign=1):
    """The sum: each field of the profile by its rule, and equal samples once."""
    out = {f.name: FIELDS["Profile"][f.name][1](a[f.name], b[f.name]) for f in header_fields()}
    out["first mapping"] = a["first mapping"]
    out["sample"] = dict(a["sample"])
    for key, value in b["sample"].items():
        old = out["sample"].get(key, [0] * len(value))
        out["sample"][key] = [(x + sign * y) % (1 << 64) for x, y in zip(old, value)]
    return out


def relabel(profile, change):
    """PROFILE with CHANGE(labels) for the labels of each sample."""
    samples = {}
    for key, value in profile["sample"].items():
        key = tuple((n, tuple(sorted(change(list(v)), key=repr)) if n == "label" else v)
                    for n, v in key)
        old = samples.get(key, [0] * len(value))
        samples[key] = [x + y for x, y in zip(old, value)]
    return {**profile, "sample": samples}


def difference(base, p):
    label = (("key", "pprof::base"), ("str", "true"), ("num", 0), ("num_unit", ""))
    return add(p, relabel(base, lambda labels: labels + [label]), -1)


def one_type(p):
    at = next(i for i, t in enumerate(p["sample_type"])
              if dict(t)["type"] == p["default_sample_type"])
    return {**p, "sample_type": [p["sample_type"][at]],
            "sample": {k: [v[at]] for k, v in p["sample"].items()}}


def bytes_in(path):
    data = open(path, "rb").read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def set_fields(path):
    """The fields that are set in any message of a profile."""
    found = set()

    def walk(data, message):
        for number, value in fields(data):
            f = MESSAGES[message].get(number)
            if f and value:
                found.add((message, f.name))
            if f and f.is_message:
                walk(value, f.meaning)
    walk(bytes_in(path), "Profile")
    return found


def compare(got, want):
    good = True
    for name in want:
        if got[name] != want[name]:
            print("%s:\n  %s\nand not\n  %s" % (name, got[name], want[name]))
            good = False
    return good


def main(what, *args):
    if what == "write":
        write(*args)
        everything = {(m, f.name) for m in MESSAGES for f in MESSAGES[m].values()}
        return all(set_fields(path) == everything for path in args)
    if what == "pprof":
        lost = set_fields(args[2]) - set_fields(args[1])
        print("pprof does not keep", *sorted("%s.%s" % f for f in lost))
        return compare(*(read(p, tuple(lost)) for p in args[:2]))
    if what == "label":
        key = args[0]
        got, p = map(read, args[1:])
        return compare(got, relabel(p, lambda labels: [x for x in labels
                                                       if dict(x)["key"] == key]))
    got, p, *more = map(read, args)
    if what == "sum":
        for other in more:
            p = add(p, other)
        return compare(got, p)
    if what == "one-type":
        return compare(got, one_type(p))
    want = difference(p, *more)
    del want["fact"]        # those of a base say so
    return compare(got, want)


sys.exit(0 if main(*sys.argv[1:]) else 1)
