"""topdown.py PROFILE - the shares of pmu-top --ratio topdown, calculated from the profile alone.

Reads the JSON of pmu-top --by object -j --ratio topdown from stdin, and exits 1 if a share or its
interval is another.  The shares are those of tools/perf/pmu-events/arch/arm64/sbsa.json, or what
arch/x86/events/intel/core.c counts; the intervals are by the jackknife over slices of time and
over pairs of them, with Student's t.
"""
import gzip
import json
import math
import sys

from protobuf import *

NAMES = ["retiring", "bad speculation", "frontend bound", "backend bound"]


def read(path):
    """The sums of each object by slice and type, and the facts."""
    parts = list(fields(gzip.decompress(open(path, "rb").read())))
    text = [v.decode() for n, v in parts if n == 6]
    types = [text[dict(fields(v))[1]].split("/")[-2 if "/" in text[dict(fields(v))[1]] else 0]
             if not text[dict(fields(v))[1]].endswith("_samples") else None
             for n, v in parts if n == 1]
    file = {dict(fields(v))[1]: text[dict(fields(v))[5]].split("/")[-1] for n, v in parts if n == 3}
    at = {dict(fields(v))[1]: file[dict(fields(v))[2]] for n, v in parts if n == 4}
    facts = [text[i] for n, v in parts if n == 1001
             for i in (packed(v) if isinstance(v, bytes) else [v])]
    sums = {}
    for n, v in parts:
        if n != 2:
            continue
        sample = list(fields(v))
        labels = [dict(fields(x)) for k, x in sample if k == 3]
        slices = [x.get(3, 0) for x in labels if text[x[1]] == "slice"]
        location = next(packed(x)[0] if isinstance(x, bytes) else x for k, x in sample if k == 1)
        values = next(packed(x) for k, x in sample if k == 2)
        for name in (at[location], None):
            row = sums.setdefault(name, {}).setdefault(slices[0], {})
            for key, value in zip(types, values):
                row[key] = row.get(key, 0) + value
    return sums, facts


def shares(s, slots):
    if "slots" in s:
        return [s.get("topdown-" + k, 0) / s["slots"]
                for k in ("retiring", "bad-spec", "fe-bound", "be-bound")]
    every = slots * s["cpu_cycles"]
    used, retired = 1 - s["stall_slot"] / every, s["op_retired"] / s["op_spec"]
    return [retired * used, (1 - retired) * used, s["stall_slot_frontend"] / every,
            s["stall_slot_backend"] / every]


def add(rows):
    out = {}
    for row in rows:
        for key, value in row.items():
            out[key] = out.get(key, 0) + value
    return out


def quantile(df):
    """The t that a value is above in 2.5 of 100 cases."""
    c = math.gamma((df + 1) / 2) / math.gamma(df / 2) / math.sqrt(df * math.pi)
    step, t, below = 1e-4, 0.0, 0.5
    while below < 0.975:
        below += step * c * (1 + (t + step / 2) ** 2 / df) ** (-(df + 1) / 2)
        t += step
    return t


def half_widths(by_slice, slots):
    half = [0.0] * 4
    for size in (1, 2):
        groups = sorted({k // size for k in by_slice})
        if len(groups) < 5:
            continue
        rest = [shares(add(v for k, v in by_slice.items() if k // size != g), slots)
                for g in groups]
        n = len(groups)
        for i in range(4):
            mean = sum(r[i] for r in rest) / n
            spread = (n - 1) / n * sum((r[i] - mean) ** 2 for r in rest)
            half[i] = max(half[i], quantile(n - 1) * math.sqrt(spread))
    return half


sums, facts = read(sys.argv[1])
slots = next((int(f.split()[1]) for f in facts if f.startswith("slots: ")), 0)
checked = 0
for row in json.load(sys.stdin)["rows"]:
    want = shares(add(sums[row["name"]].values()), slots)
    half = half_widths(sums[row["name"]], slots)
    for name, value, h in zip(NAMES, want, half):
        got = row["ratios"][name]
        for key, expected in (("value", value), ("low", max(0, value - h)),
                              ("high", min(1, value + h))):
            if abs(got[key] - expected) > 1e-5:
                sys.exit("%s of %s: %s is %g, not %g" % (name, row["name"], key, got[key],
                                                         expected))
            checked += 1
print(checked)
