"""Damaged rows: for the tests.

    rows-hostile.py    writes N.rows, three lines of which the second is damaged, and N.why, the
                       reason, for N from 1; and all.rows, with all of these lines
"""
import json

row = {"type": "cpu", "unit": "nanoseconds", "value": 5, "samples": 1, "stack": ["main", "f"]}


def good(**more):
    return json.dumps({**row, **more}).encode()


def without(key):
    return json.dumps({k: v for k, v in row.items() if k != key}).encode()


number, end = "a whole number of 64 bits", "a value is missing, or does not end"
DAMAGED = [
    (b"garbage", "it does not start with {"),
    (b"{", "a row is one line, but this one goes on in the next (jq -c joins them)"),
    (b'{"type": "cpu",', "it ends too early"),
    (good()[:-1], end),
    (good()[:-3], end),
    (good() + b"x", "something follows the end"),
    (good() + good(), "something follows the end"),
    (good().replace(b": 5", b" 5"), "a colon is missing"),
    (good().replace(b", ", b" ", 1), "a comma is missing"),
    (b'{"type": "cpu", \0}', "a zero byte"),
    (without("type"), "it has no type"),
    (without("value"), "it has no value"),
    (without("stack"), "it has no stack"),
    (good(value=None), "it has no value"),
    (good(stack=None), "it has no stack"),
    (good(stack="main;f"), "a stack, or what goes with it, is not an array"),
    (good(stack={"main": 1}), "a stack, or what goes with it, is not an array"),
    (good(stack=["main", 1]), "a frame, file or build ID is not a text"),
    (good(stack=["main", ["f"]]), "a frame, file or build ID is not a text"),
    (good().replace(b'"f"]', b'"f",]'), "nothing follows a comma"),
    (good().replace(b'"f"]', b'"f\\x"]'), "an unknown escape sequence"),
    (good().replace(b'"f"]', b'"f\\u12"]'), "\\u needs four hexadecimal digits"),
    (good().replace(b'"f"]', b'"f\t"]'), "a control character in a string"),
    (good(value=1 << 63), "its value is not " + number),
    (good(value=-(1 << 63) - 1), "its value is not " + number),
    (good(value="18446744073709551616"), "its value is not " + number),
    (good(value=float("nan")), "its value is not " + number),
    (good(value="nan"), "its value is not " + number),
    (good(value="inf"), "its value is not " + number),
    (good(value="0x10"), "its value is not " + number),
    (good(value=""), "its value is not " + number),
    (good(value=[5]), "its value is not " + number),
    (good().replace(b": 5", b": 1e400"), "its value is not " + number),
    (good().replace(b": 5", b": 9223372036854775808.0"), "its value is not " + number),
    (good(samples="many"), "'samples' is not " + number),
    (good(time=-1), "'time' is not a whole number of seconds since 1970"),
    (good(time="2026-11-27 05:00:00"), "'time' is not a whole number of seconds since 1970"),
    (good(time=10**10), "'time' is not a whole number of seconds since 1970"),
    (good(time=1, time_ns=10**9), "'time_ns' is not a part of a second"),
    (good(duration_ns=-1), "'duration_ns' is not a whole number of nanoseconds"),
    (good(type=1), "a host, service, type or unit is not a text"),
    (good(host=["h"]), "a host, service, type or unit is not a text"),
    (good(labels=[1]), "'labels' is not an object"),
    (good(labels={"a": {"b": 1}}), "a label is neither a text nor a number"),
    (good(labels={"a": True}), "a label is neither a text nor a number"),
    (good(labels={"a": 7}).replace(b": 7", b": 1.5.2"), "a label is neither a text nor a number"),
    (good(value=1.5), "its value is not " + number),
    (good(value=0.9999999999999999), "its value is not " + number),
    (good(value="9007199254740993.5"), "its value is not " + number),
    (good().replace(b": 5", b": 15e-1"), "its value is not " + number),
    (good().replace(b": 5", b": 5."), "its value is not " + number),
    (good().replace(b": 5", b": 5e"), "its value is not " + number),
    (good(samples=1.5), "'samples' is not " + number),
    (good(labels={"a": "b"}).replace(b'"a": "b"', b'"a": 1, "a": 2'), "a label is there twice"),
    (good(labels={str(i): i for i in range(4097)}), "it has too many labels"),
    (good(labels={"a": 1}, units=["b"]), "'units' is not an object"),
    (good(file=["x.c"]), "it has not one file, line or build_id for each frame"),
    (good(line=["x", 1]), "a line is not a whole number"),
    (good().replace(b"{", b'{"value": 1, '), "a key is there twice"),
    (good(other=0).replace(b'"other": 0', b'"other": ' + b"[" * 100 + b"]" * 100),
     "too many values within values"),
    (good(stack=0).replace(b"0}", b"[" * 1000000), end),
    (b"{" * 1000000, "a name in quotes is missing"),
    (b'"' * 1000000, "it does not start with {"),
    (b'{"type":"' + b"\\" * 1000000, end),
]

everything = b""
for n, (line, why) in enumerate(DAMAGED, 1):
    lines = good() + b"\n" + line + b"\n" + good() + b"\n"
    open("%d.rows" % n, "wb").write(lines)
    open("%d.why" % n, "w").write(why)
    everything += lines
open("all.rows", "wb").write(everything)
