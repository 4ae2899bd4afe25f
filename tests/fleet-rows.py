#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write rows of a fleet, as "pmu-topprof --to rows --rows-detail" would.

    fleet-rows.py [BASE=FILE] [NAME=NUMBER]... >ROWS

BASE has rows of real profiles.  Hosts run its services in turn, with their stacks in proportion.
Without BASE, two services have made stacks.  Numbers:

    hosts (20), days (1), profiles (1)   so many profiles a minute apart, on each host and day
    stacks (300)                         of a profile at most, the most frequent ones
    samples (1000)                       of a profile, on average
    build (0)                            1: on odd hosts, the second half of the days has build bb...
    slower (0)                           per mille by which the function "planted" grows in that build
    hosts_differ (20)                    per mille: how much the share of a function differs by host
    seed (1)

Counts are those of sampling: Poisson's distribution about their mean.  The most frequent stack of
each service calls the function "planted", which takes a twentieth of all samples.  With sums=FILE,
write there each host's rows of the first profile of a day, and the sums of its other profiles, as
rows of the last one.
"""

import json
import math
import random
import sys

START = 1728000000  # midnight in UTC
OLD, NEW, LIBRARY = "aa" * 20, "bb" * 20, "cc" * 20    # build IDs
FIELDS = '"type":"cpu","unit":"nanoseconds","value":'


def poisson(dice, mean):
    if mean > 30:
        return max(0, round(dice.gauss(mean, math.sqrt(mean))))
    limit, product, count = math.exp(-mean), dice.random(), 0
    while product > limit:
        product *= dice.random()
        count += 1
    return count


def digest(text):
    """Sixteen digits for a text, other than those of "pmu-topprof --to rows", but as good."""
    word = 14695981039346656037
    for byte in text.encode():
        word = (word ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return f"{word:016x}"


def services_of(base, most):
    """By service: a list of (weight, stack, labels), the weights of which add up to 1."""
    found = {}
    if base:
        with open(base) as file:
            for line in file:
                row = json.loads(line)
                if row["type"] == "cpu" and row["stack"]:
                    name = row.get("service", "unknown")
                    stacks = found.setdefault(name, {})
                    key = tuple(row["stack"])
                    stacks[key] = stacks.get(key, 0) + int(row["value"])
    else:
        for n in range(40):
            names = ("_start", "main", f"f{n % 30}", f"f{n}")[: n + 1]
            found.setdefault("odd" if n % 2 else "even", {})[names] = 40 - n
    services = {}
    for name, stacks in sorted(found.items()):
        chosen = sorted(stacks.items(), key=lambda item: (-item[1], item[0]))[: most - 1]
        chosen.append(((*chosen[0][0], "planted"), sum(weight for _, weight in chosen) / 19))
        total = sum(weight for _, weight in chosen)
        services[name] = [(weight / total, stack, n % 3 == 0)
                          for n, (stack, weight) in enumerate(chosen)]
    return services


class Stack:
    """A stack as text, in a build."""

    def __init__(self, weight, names, has_label, build, slower):
        self.weight = weight * (slower if names[-1] == "planted" else 1)
        ids = [OLD if n == 0 else build if n < 3 else LIBRARY for n in range(len(names))]
        text = json.dumps(names, separators=(",", ":"))
        details = json.dumps(ids, separators=(",", ":"))
        labels = ',"labels":{"pid":7,"user":"it\'s"}' if has_label else ""
        self.end = (f',"hash":"{digest(text + details)}","stack":{text}{labels}'
                    f',"build_id":{details}}}\n')


def rows_of(start, stacks, counts):
    return "".join(f'{start}{count}0000000,"samples":{count}{stack.end}'
                   for stack, count in zip(stacks, counts) if count)


def main():
    numbers = {"hosts": 20, "days": 1, "profiles": 1, "stacks": 300, "samples": 1000, "build": 0,
               "slower": 0, "hosts_differ": 20, "seed": 1}
    texts = {"BASE": "", "sums": ""}
    for word in sys.argv[1:]:
        name, value = word.split("=", 1)
        (texts if name in texts else numbers)[name] = value if name in texts else int(value)
    services = services_of(texts["BASE"], numbers["stacks"])
    names = sorted(services)
    builds = {build: {name: [Stack(*stack, build, slower) for stack in services[name]]
                      for name in names}
              for build, slower in ((OLD, 1), (NEW, 1 + numbers["slower"] / 1000))}
    dice = random.Random(numbers["seed"])
    differ = [[math.exp(dice.gauss(0, numbers["hosts_differ"] / 1000))
               for _ in services[names[host % len(names)]]] for host in range(numbers["hosts"])]
    sums = open(texts["sums"], "w") if texts["sums"] else None
    for day in range(numbers["days"]):
        of_day = {}
        for minute in range(numbers["profiles"]):
            for host in range(numbers["hosts"]):
                service = names[host % len(names)]
                is_new = numbers["build"] and host % 2 and 2 * day + 1 >= numbers["days"]
                stacks = builds[NEW if is_new else OLD][service]
                start = f'{{"time":{START + 86400 * day + 60 * minute},"duration_ns":60000000000,'
                start += f'"host":"h{host}","service":{json.dumps(service)},{FIELDS}'
                counts = [poisson(dice, stack.weight * numbers["samples"] * factor)
                          for stack, factor in zip(stacks, differ[host])]
                sys.stdout.write(rows_of(start, stacks, counts))
                if sums and minute == 0:
                    sums.write(rows_of(start, stacks, counts))
                elif sums:
                    rest = of_day[host][2] if host in of_day else [0] * len(stacks)
                    of_day[host] = start, stacks, [a + b for a, b in zip(rest, counts)]
        for start, stacks, counts in of_day.values():
            sums.write(rows_of(start, stacks, counts))


main()
