#!/usr/bin/env python3
# flats.py DUMP RAW - compare what each place was sampled: DUMP is pmu-stream --dump --json
# of a recording, RAW is go tool pprof -raw of the profile made of it.
#
# Follows the mappings by itself, and prints the places that differ: "path offset dump raw".
import json
import re
import sys


def sampled(name):
    """Samples by (path, offset in the file), of what is mapped as of each sample."""
    maps, flats = {}, {}
    for line in open(name):
        r = json.loads(line)
        if r["type"] in ("MMAP", "MMAP2") and r["executable"]:
            start = int(r["start"], 16)
            path = r["path"].replace(" (deleted)", "")
            maps.setdefault(r["pid"], []).append(
                (start, start + int(r["bytes"], 16), int(r["file_offset"], 16), path))
        elif r["type"] == "FORK" and r["pid"] != r["parent_pid"]:
            maps[r["pid"]] = list(maps.get(r["parent_pid"], []))
        elif r["type"] == "COMM" and r["exec"]:
            maps[r["pid"]] = []
        elif r["type"] == "SAMPLE":
            ip = int(r["ip"], 16)
            if r["mode"] not in ("user", "unknown"):
                continue
            for start, end, offset, path in reversed(maps.get(r["pid"], [])):
                if start <= ip < end and path.startswith("/"):
                    place = path, ip - start + offset
                    flats[place] = flats.get(place, 0) + 1
                    break
    return flats


def profiled(name):
    """The same, from pprof's text: samples, locations, mappings."""
    part, leaves, places, files = "", [], {}, {}
    for line in open(name):
        if re.match(r"(Samples|Locations|Mappings)", line):
            part = line[0]
        elif part == "S" and re.match(r" +[0-9]+.*: ", line):
            values, ids = line.split(": ", 1)
            leaves.append((sum(int(v) for v in values.split()[::2]), int(ids.split()[0])))
        elif part == "L" and re.match(r" +[0-9]+: 0x", line):
            number, address, mapping = re.match(r" +([0-9]+): 0x([0-9a-f]+)(?: M=([0-9]+))?", line).groups()
            places[int(number)] = int(address, 16), int(mapping or 0)
        elif part == "M" and re.match(r"[0-9]+: 0x", line):
            number, start, _, offset, path = re.match(
                r"([0-9]+): 0x([0-9a-f]+)/0x([0-9a-f]+)/0x([0-9a-f]+) (\S*)", line).groups()
            files[int(number)] = int(start, 16), int(offset, 16), path
    flats = {}
    for count, leaf in leaves:
        address, mapping = places[leaf]
        if mapping and files[mapping][2].startswith("/") and not files[mapping][2].endswith(".ko"):
            start, offset, path = files[mapping]
            place = path, address - start + offset
            flats[place] = flats.get(place, 0) + count
    return flats


dump, raw = sampled(sys.argv[1]), profiled(sys.argv[2])
for place in sorted(set(dump) | set(raw)):
    if dump.get(place) != raw.get(place):
        print(place[0], hex(place[1]), dump.get(place, 0), raw.get(place, 0))
print(len(dump), "places,", sum(dump.values()), "samples", file=sys.stderr)
