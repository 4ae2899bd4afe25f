#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet-answers.py QUERY [NAME=VALUE]... FILE... - check an answer of fleet/.

Compute what QUERY answers from rows in files ("pmu-topprof --to rows"), by loops over all rows and
nothing else, and compare that with the answer on stdin.  Print each difference, and exit 1.  Rows
and folded lines may come in any order; lines of tables come in theirs.  Fractions may differ by
0.0002, by which databases round differently.
"""

import datetime
import gzip
import json
import math
import sys
from collections import defaultdict


def read(paths, chosen):
    """Yield each row that the parameters choose, once."""
    seen = set()
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
            for line in file:
                row = json.loads(line)
                row = {"host": "", "service": "", "unit": "", **row, "value": int(row["value"])}
                if not is_chosen(row, chosen):
                    continue
                what = ("time", "time_ns", "host", "service", "type", "unit", "labels", "hash")
                key = json.dumps([row.get(name) for name in what])
                if "hash" not in row:
                    key += json.dumps(row["stack"])
                if key not in seen:
                    seen.add(key)
                    yield row


def is_chosen(row, chosen):
    return (
        row["type"] == chosen.get("type", "cpu")
        and row["time"] >= int(chosen.get("from", 0))
        and row["time"] < int(chosen.get("to", 1 << 60))
        and row["host"] == chosen.get("host", row["host"])
        and row["service"] == chosen.get("service", row["service"])
    )


def plain(name):
    return "".join(" " if ord(c) < 32 or ord(c) == 127 else c for c in name.replace(";", ":"))


def summed(rows, stack_of, run_of=lambda row: None):
    """The rows with equal stacks added up: a set of texts."""
    values, samples = defaultdict(int), {}
    for row in rows:
        key = json.dumps([row["type"], row["unit"], stack_of(row), run_of(row)])
        values[key] += row["value"]
        if "samples" in row:
            samples[key] = samples.get(key, 0) + int(row["samples"])
    return sorted(json.dumps([key, values[key], samples.get(key)]) for key in values)


def as_summed(lines):
    """Rows of an answer in the form of summed(), to compare them."""
    answer = []
    for line in lines:
        row = json.loads(line)
        labels = row.get("labels") or {}
        labels = json.loads(labels) if isinstance(labels, str) else labels  # as engines keep them
        key = [row["type"], row["unit"], row["stack"], labels.get("run")]
        samples = int(row["samples"]) if row.get("samples") is not None else None
        answer.append(json.dumps([json.dumps(key), int(row["value"]), samples]))
    return sorted(answer)


def service(rows, _):
    values = defaultdict(int)
    for row in rows:
        values[tuple(row["stack"])] += row["value"]
    return sorted(f"{';'.join(map(plain, s))} {v}" for s, v in values.items() if v)


def recording(row):
    return row["host"], row["service"], row["time"], row.get("time_ns", 0)


def callers(rows, chosen):
    name = chosen["function"]
    found = [row for row in rows if name in row["stack"]]
    return summed(found, lambda row: row["stack"][: row["stack"].index(name) + 1])


def deploy(rows, chosen):
    rows = list(rows)
    build = chosen.get("build", "").lower()
    ran = {recording(row) for row in rows if build and
           any(i.lower().startswith(build) for i in row.get("build_id", ()))}

    def is_after(row):
        return recording(row) in ran if build else row["time"] >= int(chosen["at"])

    side = [row for row in rows if is_after(row) == (chosen.get("after", "1") == "1")]
    return summed(side, lambda row: row["stack"], lambda row: row["host"])


def leaf(row):
    return row["stack"][-1] if row["stack"] else ""


def hosts(rows, chosen):
    own, samples = defaultdict(lambda: defaultdict(int)), defaultdict(int)
    for row in rows:
        own[row["host"]][leaf(row)] += row["value"]
        samples[row["host"]] += int(row["samples"])
    everywhere = defaultdict(int)
    for of_host in own.values():
        for name, value in of_host.items():
            everywhere[name] += value
    total = sum(everywhere.values())
    everywhere = {name: value / total for name, value in everywhere.items()}
    spread = sum(math.sqrt(share * (1 - share)) for share in everywhere.values())
    table = []
    for host, of_host in own.items():
        all_of_host = sum(of_host.values())
        here = {name: of_host.get(name, 0) / all_of_host for name in everywhere}
        differs = sum(abs(here[name] - everywhere[name]) for name in everywhere) / 2
        chance = spread / math.sqrt(2 * math.pi * samples[host])
        most = max(here, key=lambda name: here[name] - everywhere[name])
        table.append([chance - differs, host, samples[host], differs, chance, most, here[most],
                      everywhere[most]])
    return [line[1:] for line in sorted(table)[: int(chosen.get("limit", 25))]]


def utc(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def builds(rows, chosen):
    name = chosen["function"]
    whole = defaultdict(int)
    calls = defaultdict(lambda: [0, 0, 0, set()])  # own, total, samples, recordings
    for row in rows:
        whole[recording(row)] += row["value"]
        if name not in row["stack"]:
            continue
        ids = row.get("build_id", [])
        at = row["stack"].index(name)
        build = calls[ids[at] if at < len(ids) else ""]
        build[0] += row["value"] if leaf(row) == name else 0
        build[1] += row["value"]
        build[2] += int(row["samples"])
        build[3].add(recording(row))
    table = []
    for build, (own, total, samples, ran) in calls.items():
        of_all = sum(whole[r] for r in ran)
        first, last = min(r[2] for r in ran), max(r[2] for r in ran)
        table.append([build, len({r[0] for r in ran}), utc(first), utc(last), samples,
                      own / of_all, total / of_all])
    return sorted(table, key=lambda line: (line[2], line[0]))


def growth(rows, chosen):
    own, days = defaultdict(int), defaultdict(int)
    for row in rows:
        day = row["time"] // 86400
        own[day, leaf(row)] += row["value"]
        days[day] += row["value"]
    slopes = []
    mean = sum(days) / len(days)
    around = sum((day - mean) ** 2 for day in days)
    for name in {name for _, name in own}:
        if chosen.get("function", name) == name:
            slope = sum((day - mean) * own.get((day, name), 0) / days[day] for day in days)
            slope = round(slope / around, 12) if around else 0.0
            slopes.append((-slope, -sum(own.get((day, name), 0) for day in days), name))
    table = []
    for slope, _, name in sorted(slopes)[: int(chosen.get("limit", 25))]:
        for day in sorted(days):
            value = own.get((day, name), 0)
            table.append([name, utc(day * 86400)[:10], value, value / days[day], -slope])
    return table


def same_table(want, lines):
    got = [line.split("\t") for line in lines[1:]]  # the first one has the names of columns
    if len(got) != len(want):
        return [f"{len(got)} lines, not {len(want)}"]
    wrong = []
    for line, cells in zip(want, got):
        for a, b in zip(line, cells, strict=True):
            if isinstance(a, float) and abs(a - float(b)) <= 0.0002 and b not in ("-0", "-0.0"):
                continue
            if (plain(a) if isinstance(a, str) else str(a)) != b or b == "-0":
                wrong.append(f"{b!r}, not {a!r}, in {cells}")
    return wrong


def main():
    query, words = sys.argv[1], sys.argv[2:]
    chosen = dict(word.split("=", 1) for word in words if "=" in word)
    rows = read([word for word in words if "=" not in word], chosen)
    lines = sys.stdin.read().split("\n")
    assert lines.pop() == "", "the last line is cut"
    tables = {"hosts": hosts, "builds": builds, "growth": growth}
    of_rows = {
        "top": lambda rows, _: summed(rows, lambda row: row["stack"][-1:]),
        "stacks": lambda rows, _: summed(rows, lambda row: row["stack"]),
        "callers": callers,
        "deploy": deploy,
    }
    if query in tables:
        wrong = same_table(tables[query](rows, chosen), lines)
    else:
        want = service(rows, chosen) if query == "service" else of_rows[query](rows, chosen)
        got = sorted(lines) if query == "service" else as_summed(lines)
        wrong = [f"missing: {x}" for x in set(want) - set(got)]
        wrong += [f"wrong: {x}" for x in set(got) - set(want)]
        if len(got) != len(want):
            wrong.append(f"{len(got)} lines, not {len(want)}")
    print("\n".join(wrong[:20]), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
