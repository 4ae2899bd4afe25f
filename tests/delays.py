"""Reads profiles of delays, as of pmu-topprof --block and --mutex, without pprof's help."""
import collections
import gzip

from protobuf import fields, packed

# labels: by key; frames: [(function, file of the program or library)], the leaf first
Row = collections.namedtuple("Row", "labels frames count ns")


def numbers(value):
    return packed(value) if isinstance(value, bytes) else [value]


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def messages(profile, number):
    return [dict(fields(value)) for n, value in profile if n == number]


class Profile:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        self.all = list(fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data))
        self.strings = [value.decode() for n, value in self.all if n == 6]
        self.types = [tuple(self.strings[t.get(n, 0)] for n in (1, 2))
                      for t in messages(self.all, 1)]
        functions = {f[1]: self.strings[f.get(2, 0)] for f in messages(self.all, 5)}
        files = {m[1]: self.strings[m.get(5, 0)] for m in messages(self.all, 3)}
        self.places = {}
        for number, value in self.all:
            if number == 4:
                place = list(fields(value))
                at = dict(place)
                names = [functions.get(dict(fields(line)).get(1, 0), "")
                         for n, line in place if n == 4]
                self.places[at[1]] = [(name, files.get(at.get(2, 0), "")) for name in names]

    def rows(self):
        count_at = self.types.index(("contentions", "count"))
        ns_at = self.types.index(("delay", "nanoseconds"))
        for number, value in self.all:
            if number != 2:
                continue
            places, values, labels = [], [], {}
            for n, part in fields(value):
                if n == 1:
                    places += numbers(part)
                elif n == 2:
                    values += map(signed, numbers(part))
                elif n == 3:
                    label = dict(fields(part))
                    text = self.strings[label.get(2, 0)]
                    labels[self.strings[label[1]]] = text or label.get(3, 0)
            # a wait in the kernel, of which no function has a name, has none either
            frames = [frame for place in places for frame in self.places[place]] or [("", "")]
            yield Row(labels, frames, values[count_at], values[ns_at])


def rows(path):
    return list(Profile(path).rows())
