"""perf-attrs.py [--translated] EVENT... - is each the same event for us and for perf?

Ours is what pmu-events --encode says; perf's is the attr that it tries to open, which
it prints with -vv.  Prints the events that differ, and exits 1 then.

--translated: perf is given what pmu-events --encode --to perf makes of the event, to record.
"""
import json
import re
import subprocess
import sys

KEYS = ("type config config1 config2 bp_type precise_ip pinned exclusive exclude_user "
        "exclude_kernel exclude_hv exclude_idle exclude_host exclude_guest").split()
MARK = "r7777777:u"             # before each event, in one run of perf for all of them
MARKED = ["4", "0x7777777"]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True).stdout


def members(event):
    return 1 + event.count(",") if event.startswith("{") else 1


def attrs(lines):
    """Every attr that perf says it opens, in order; zeros it does not print."""
    found, attr = [], None
    for line in lines:
        if line.startswith("perf_event_attr:"):
            attr = dict.fromkeys(KEYS, "0")
            found.append(attr)
        elif attr is not None and re.match("  [{a-z]", line):
            *names, value = line.split()
            for name in names:      # one, or { bp_addr, config1 }
                attr[name.strip(",")] = value
        elif not line.startswith("-----"):
            attr = None
    return [[attr[key] for key in KEYS] for attr in found]


def theirs(events):
    """The attrs of each event.  When the kernel refuses an event perf may try it again with
    another attr, which does not count, or give up: another run begins after that event."""
    result = []
    while len(result) < len(events):
        rest = events[len(result):]
        said = run("perf", "stat", "-vv", "-e",
                   ",".join(MARK + "," + event for event in rest), "true")
        seen, last = [], None
        for attr in attrs(said.splitlines()):
            again, last = attr[:4] == last, attr[:4]    # type and configs
            if again:
                continue
            if attr[:2] == MARKED:
                seen.append([])
            elif seen and len(seen[-1]) < members(rest[len(seen) - 1]):
                seen[-1].append(attr)
        while seen and not seen[-1]:
            seen.pop()
        if not seen:
            sys.exit("perf says nothing of " + rest[0] + ":\n" + said)
        result += seen
    return result


def translated(event):
    said = run("perf", "record", "-vv", "-B", "-o", "data", "-e",
               run("pmu-events", "--encode", "--to", "perf", event).strip(), "true")
    return attrs(said.splitlines())[:1]


def word(event, *names):
    value = next((event[name] for name in names if name in event), 0)
    return "0" if value == "0x0" else str(int(value) if isinstance(value, bool) else value)


def ours(event):
    aliases = {"config1": ("config1", "bp_addr"), "config2": ("config2", "bp_len")}
    words = [word(event, *aliases.get(key, (key,))) for key in KEYS]
    words[KEYS.index("bp_type")] = str(int(event.get("bp_type", "0"), 16))
    return words


def main(events):
    if events[0] == "--translated":
        events = events[1:]
        perf = [translated(event) for event in events]
    else:
        perf = theirs(events)
    encoded = [ours(e) for e in json.loads(run("pmu-events", "--encode", "--json", *events))]
    bad = sum(map(members, events)) != len(encoded)
    if bad:
        print("%d events were encoded" % len(encoded))
    at = 0
    for event, attr in zip(events, perf):
        mine = encoded[at:at + members(event)]
        at += members(event)
        if mine != attr:
            bad = True
            print("%s\n  keys %s\n  perf %s\n  ours %s" % (event, " ".join(KEYS), attr, mine))
    print(len(perf), "events compared")
    sys.exit(bad)


main(sys.argv[1:])
