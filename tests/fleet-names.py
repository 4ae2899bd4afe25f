#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows with names that could break a line of JSON, SQL or a shell.

    fleet-names.py make FILE >ROWS    write them, and the names to FILE, a line each
    fleet-names.py compare ROWS       compare rows on stdin, from a database, with ROWS
"""

import json
import sys

NAMES = [
    "plain", "it's", "a\\", "\\'", "' OR 1=1 -- ", '"],"labels":{"a":1}', "tab\there",
    "{x:String}", "\u0001", "new\nline", "é€😀", "a;b", "", " ", "[]", '"', '\\"',
    'x\\"],"file":["y', "," * 9,
    "'); DROP TABLE stacks; --", "\\n", "n" * 100000, "%41", "a&b=c", "$(false)", "`false`", "*",
    "-x",
]


def row_of(n, name):
    row = {
        "time": 1763892720 + n, "time_ns": 7, "duration_ns": 10**18, "host": "h" + name,
        "service": name, "type": "cpu", "unit": "u" + name,
        "value": [2**63 - 1, -(2**63), 0, 5][n % 4], "samples": n % 3,
        "hash": f"{2**64 - 1 - n:016x}", "stack": ["root", name, name + "leaf"],
        "labels": {"file": [name, "b"], name: name, "units": 5, "value": "9", "hash": "x"},
        "units": {"units": name, "line": "l"},
        "file": ["", name, "b"], "line": [0, 2**31, 3], "build_id": ["", "ab", "cd"],
    }
    without = {
        1: ("time_ns", "samples", "labels", "units", "file", "line", "build_id"),
        2: ("labels", "units", "line"),
        3: ("file", "line", "build_id", "units"),
    }
    for key in without.get(n % 4, ()):
        del row[key]
    return row


def make(names):
    with open(names, "w") as file:
        for n, name in enumerate(NAMES):
            print(json.dumps(row_of(n, name), separators=(",", ":"), ensure_ascii=n % 2 == 0))
            print(name.replace("\n", "\\"), file=file)
    print('{"type":"cpu","value":1,"hash":"0000000000000001","stack":[]}')


def same_form(line):
    """A row as text; a database has labels as text, some numbers as texts, and 0 for no number."""
    row = json.loads(line)
    row["hash"] = row["hash"].zfill(16)
    for key in ("labels", "units"):
        if isinstance(row.get(key), str) and row[key]:
            row[key] = json.loads(row[key])
    for key in ("value", "duration_ns", "samples", "time", "time_ns"):
        row[key] = None if row.get(key) is None else int(row[key])
    row["line"] = [int(number) for number in row.get("line", [])]
    return json.dumps({key: value for key, value in row.items()
                       if value not in (None, "", [], 0) or key == "samples"}, sort_keys=True)


def compare(rows):
    with open(rows) as file:
        want = sorted(map(same_form, file))
    got = sorted(map(same_form, sys.stdin))
    for a, b in zip(want, got):
        if a != b:
            print(f"sent {a[:2000]}\ngot  {b[:2000]}")
    return want != got or len(want) != len(NAMES) + 1


sys.exit({"make": make, "compare": compare}[sys.argv[1]](sys.argv[2]))
