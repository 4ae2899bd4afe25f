"""The samples of each function, as each tool that shows a profile counts them.

    screens.py PROFILE STREAM PATTERN    PROFILE is made of STREAM, which perf reads; a table of the
                                         functions that match, and exit status 1 if two disagree
"""
import json
import re
import subprocess
import sys

from flame import data_of, sums

PROFILE, STREAM, PATTERN = sys.argv[1:]


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          text=True).stdout


def wanted(name):
    return re.fullmatch(PATTERN, name)


def top():
    rows = json.loads(output("pmu-top", "-q", "-j", "-t", "samples", PROFILE))["rows"]
    return {r["name"]: (r["flat"], r["cum"]) for r in rows if wanted(r["name"])}


def table():
    """The table has the same numbers, unless it leaves out a row."""
    rows = [re.sub("[~%]", " ", line).split() for line in
            output("pmu-top", "-q", "--cum", "-n", "1000", "-t", "samples", PROFILE).splitlines()]
    return {r[6]: (int(r[0]), int(r[3])) for r in rows if len(r) == 7 and wanted(r[6])}


def flame():
    output("pmu-flame", "-q", "-o", "screens.html", PROFILE)
    return {name: tuple(map(int, values)) for name, values in
            sums(data_of("screens.html"), "samples").items() if wanted(name)}


def annotate():
    found = {}
    text = output("pmu-annotate", "-q", "-n", "1000", "-t", "samples", "--bars", "none",
                  f"^({PATTERN})$", PROFILE)
    for line in text.splitlines():
        words = line.replace("%", " ").split()
        if 3 <= len(words) <= 5 and wanted(words[-1]) and not line.startswith("samples"):
            values = [0 if w == "." else int(w) for w in words[:-1] if "." not in w or w == "."]
            found[words[-1]] = tuple(values[:2])
    return found


def diff(*cum):
    result = json.loads(output("pmu-diff", "-q", "-j", *cum, "-t", "samples", PROFILE, PROFILE))
    total = result["total"]["base"]
    return {r["name"]: round(total * r["base"]) for r in result["rows"] if wanted(r["name"])}


def pprof():
    found = {}
    for line in output("go", "tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0",
                       "-sample_index=samples", "-symbolize=none", PROFILE).splitlines():
        m = re.match(r" *(\d+) +[0-9.]+% +[0-9.]+% +(\d+) +[0-9.]+% +(\S+)", line)
        if m and wanted(m[3]):
            found[m[3]] = int(m[1]), int(m[2])
    return found


def perf():
    found = {}
    for line in output("perf", "report", "-i", STREAM, "--stdio", "--no-children", "-g", "none",
                       "--sort", "sym", "-F", "sample,sym").splitlines():
        m = re.match(r" *(\d+) +\[\S+\] +(\S+)", line)
        if m and wanted(m[2]):
            found[m[2]] = found.get(m[2], 0) + int(m[1])
    return found


right, wrong = pprof(), 0
others = {"pmu-top": top(), "table": table(), "pmu-flame": flame(), "annotate": annotate()}
flat, cum, perfs = diff(), diff("--cum"), perf()
others["pmu-diff"] = {name: (flat.get(name, 0), cum[name]) for name in cum}
print("%-10s" % "function", *("%12s" % tool for tool in ("pprof", *others, "perf")))
for name, values in sorted(right.items()):
    cells = [values, *(tool.get(name) for tool in others.values())]
    leaves_out = values[1] < 30     # too few samples for the table
    bad = any(c != values for i, c in enumerate(cells) if not (c is None and i == 2 and leaves_out))
    bad |= perfs.get(name, 0) != values[0]
    wrong += bad
    print("%-10s" % name, *("%12s" % (c and "%d/%d" % c) for c in cells),
          "%12d" % perfs.get(name, 0), "WRONG" if bad else "")
sys.exit(wrong > 0 or len(right) < 3)
