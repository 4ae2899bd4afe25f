#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles of many simulated hosts, whose every value can be computed again.

    fleet-made.py rows SHAPE FIRST HOSTS       rows of these hosts, to stdout
    fleet-made.py send SHAPE FIRST HOSTS SECONDS URL...
                                               POST these rows, in bodies of at most 4 MiB, to one of
                                               the URLs, again until the answer is 200; a tenth of
                                               them is sent twice; it takes at least SECONDS
    fleet-made.py ring SHAPE HOST DIR          profiles of a host, as "pmu-serve --keep" keeps them
    fleet-made.py check SHAPE HOSTS            compare lines "host time hash value samples" from
                                               stdin with what these hosts recorded; print what
                                               differs, and exit 1

SHAPE is BASE,STACKS,START,FROM,TO: a file of rows, from which services and stacks are taken; how many
stacks a profile has; a time in seconds since 1970; and from and to which minute after that time there
are profiles, one a minute.  Hosts are numbers from 0, and their names "host-N".
"""

import gzip
import http.client
import json
import os
import random
import sys
import time
import urllib.parse

import profiles

WORD = (1 << 64) - 1
BODY = 4 << 20


def turned(word, by):
    return (word << by | word >> 64 - by) & WORD


def rounds(v, count):
    a, b, c, d = v
    for _ in range(count):
        a, c = a + b & WORD, c + d & WORD
        b, d = turned(b, 13) ^ a, turned(d, 16) ^ c
        a = turned(a, 32)
        c, a = c + b & WORD, a + d & WORD
        b, d = turned(b, 17) ^ c, turned(d, 21) ^ a
        c = turned(c, 32)
    return a, b, c, d


def siphash(data):
    """SipHash-2-4 with a key of zeros."""
    v = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    data += bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at : at + 8], "little")
        a, b, c, d = rounds((v[0], v[1], v[2], v[3] ^ word), 2)
        v = (a ^ word, b, c, d)
    a, b, c, d = rounds((v[0], v[1], v[2] ^ 255, v[3]), 4)
    return a ^ b ^ c ^ d


def hash_of(stack):
    return f"{siphash(b''.join(name.encode() + bytes(1) for name in stack)):016x}"


class Fleet:
    def __init__(self, shape):
        base, stacks, start, first, end = shape.rsplit(",", 4)
        self.start, self.minutes = int(start) // 60 * 60, range(int(first), int(end))
        with open(base) as file:
            rows = [json.loads(line) for line in file]
        # once, whatever service it was in: a stack is then known by its hash
        found = {tuple(row["stack"]): row.get("service", "unknown") for row in rows if row["stack"]}
        self.base = [(service, list(stack), hash_of(stack)) for stack, service in found.items()]
        self.number_of = {int(digest, 16): n for n, (_, _, digest) in enumerate(self.base)}
        self.stacks = min(int(stacks), len(self.base))
        self.step = next(n for n in (7, 11, 13, 17, 19, 23) if len(self.base) % n)
        self.back = pow(self.step, -1, len(self.base))

    def first(self, host, minute):
        return (host * 7919 + minute * 104729) % len(self.base)

    def count(self, host, minute, number):
        """How many samples a host has of a stack in that minute, 0 to 97."""
        place = (number - self.first(host, minute)) * self.back % len(self.base)
        if place >= self.stacks:
            return 0
        mixed = (host * 1000003 + minute * 10007 + number * 101 + 1) * 2654435761 & 0xFFFFFFFF
        return (mixed >> 13) % 97 + 1

    def profile(self, host, minute):
        """Yield (number of a stack, samples)."""
        number = self.first(host, minute)
        for _ in range(self.stacks):
            yield number, self.count(host, minute, number)
            number = (number + self.step) % len(self.base)

    def rows(self, first, hosts):
        """Yield the text of rows, minute by minute."""
        parts = []
        for number, (service, stack, digest) in enumerate(self.base):
            labels = ',"labels":{"user":"alice"}' if number % 4 == 0 else ""
            parts.append((
                f'"service":{json.dumps(service)},"type":"cpu","unit":"nanoseconds","value":',
                f',"hash":"{digest}","stack":{json.dumps(stack, separators=(",", ":"))}{labels}}}\n',
            ))
        for minute in self.minutes:
            for host in range(first, first + hosts):
                head = (f'{{"time":{self.start + 60 * minute},"duration_ns":60000000000,'
                        f'"host":"host-{host}",')
                for number, count in self.profile(host, minute):
                    of, rest = parts[number]
                    yield f'{head}{of}{count}0000000,"samples":{count}{rest}'


def bodies(rows):
    """Yield bytes of at most 4 MiB that end with a row."""
    body, size = [], 0
    for row in rows:
        data = row.encode()
        if size + len(data) > BODY:
            yield b"".join(body)
            body, size = [], 0
        body.append(data)
        size += len(data)
    yield b"".join(body)


def post(url, body):
    """The status of the answer, or why there is none."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.request("POST", f"{parts.path}?{parts.query}", body)
        answer = connection.getresponse()
        said = answer.read(300)
        return answer.status, said
    except (OSError, http.client.HTTPException) as error:
        return 0, repr(error).encode()
    finally:
        connection.close()


def send(fleet, first, hosts, seconds, urls):
    dice = random.Random(first)
    begin = time.time()
    sent = requests = failed = 0
    all_rows = hosts * len(fleet.minutes) * fleet.stacks
    for body in bodies(fleet.rows(first, hosts)):
        time.sleep(max(0, begin + seconds * sent / all_rows - time.time()))
        for _ in range(2 if dice.random() < 0.1 else 1):
            while (said := post(dice.choice(urls), body))[0] != 200:
                failed += 1
                if failed <= 3:
                    print(f"{said[0]} {said[1].decode(errors='replace')}", file=sys.stderr)
                if failed > 10000:
                    return 1
                time.sleep(0.2)
            sent += body.count(b"\n")
            requests += 1
    print(f"{sent} rows in {requests} requests, and {failed} that failed,"
          f" in {time.time() - begin:.0f} s")
    return 0


def write_ring(fleet, host, directory):
    """The same profiles in files; all samples are of one service, which pmu-serve names."""
    texts = ["", "samples", "count", "cpu", "nanoseconds", "user", "alice"]
    names = sorted({name for _, stack, _ in fleet.base for name in stack})
    of_name = {name: n + 1 for n, name in enumerate(names)}
    tables = [profiles.bytes_of(1, profiles.number(1, 1) + profiles.number(2, 2)),
              profiles.bytes_of(1, profiles.number(1, 3) + profiles.number(2, 4))]
    for name, n in of_name.items():
        tables.append(profiles.location(n, [n], address=4096 + n))
        tables.append(profiles.function(n, len(texts)))
        texts.append(name)
    tables += [profiles.bytes_of(6, text.encode()) for text in texts]
    for minute in fleet.minutes:
        start = fleet.start + 60 * minute
        parts = [profiles.number(9, start * 10**9), profiles.number(10, 60 * 10**9)]
        for number, count in fleet.profile(host, minute):
            stack = [of_name[name] for name in reversed(fleet.base[number][1])]
            labels = profiles.label(5, 6) if number % 4 == 0 else b""
            parts.append(profiles.sample(stack, (count, count * 10**7), labels))
        hidden = f"{directory}/.made-{minute}"
        with open(hidden, "wb") as file:
            file.write(gzip.compress(b"".join(tables + parts), 1))
        os.rename(hidden, f"{directory}/profile-{start}-60.pb.gz")
    return 0


def check(fleet, hosts):
    wrong, seen = [], set()
    for line in sys.stdin:
        host, at, digest, value, samples = line.rstrip("\n").split("\t")
        host, minute = int(host.removeprefix("host-")), (int(at) - fleet.start) // 60
        number = fleet.number_of.get(int(digest))
        key = None if number is None else host << 40 | minute << 20 | number
        if key is None or host >= hosts or minute not in fleet.minutes:
            wrong.append(f"nobody recorded this: {line}")
            continue
        if key in seen:
            wrong.append(f"twice: {line}")
        seen.add(key)
        count = fleet.count(host, minute, number)
        if (int(value), int(samples)) != (count * 10**7, count) or count == 0:
            wrong.append(f"{count} samples were recorded: {line}")
    missing = hosts * len(fleet.minutes) * fleet.stacks - len(seen)
    if missing:
        wrong.append(f"{missing} rows are missing")
        for host in range(hosts):
            for minute in fleet.minutes:
                lost = sum(host << 40 | minute << 20 | number not in seen
                           for number, _ in fleet.profile(host, minute))
                if lost:
                    wrong.append(f"of host-{host}, {fleet.start + 60 * minute}: {lost}")
    print("\n".join(line.rstrip("\n") for line in wrong[:20]), end="\n" if wrong else "")
    print(f"{len(seen)} rows of {hosts} hosts compared, {len(wrong)} complaints")
    return 1 if wrong else 0


def main():
    verb, fleet = sys.argv[1], Fleet(sys.argv[2])
    words = sys.argv[3:]
    if verb == "rows":
        for row in fleet.rows(int(words[0]), int(words[1])):
            sys.stdout.write(row)
        return 0
    if verb == "send":
        return send(fleet, int(words[0]), int(words[1]), float(words[2]), words[3:])
    if verb == "ring":
        return write_ring(fleet, int(words[0]), words[1])
    return check(fleet, int(words[0]))


sys.exit(main())
