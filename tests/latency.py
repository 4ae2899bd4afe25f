"""How many threads run at each sample, by brute force: for the tests of pmu-topprof --add latency.

    latency.py stream KIND      a stream of 64 threads that never ran, to stdout
    latency.py truth KIND       what its samples are worth, from the times at which threads ran
    latency.py script           the same for the output of perf script, from stdin
    latency.py profile          the same from the output of go tool pprof -raw, from stdin

KIND: cpus (records have their CPU), plain (they do not), lost (1 % of the switches is missing).
A line for each function and each class of parallelism: its name, and its sum in ns.
"""
import bisect
import collections
import heapq
import random
import re
import struct
import sys

from streams import CPU, IP, PERIOD, TID, TIME, attr, mmap, pipe, record

THREADS, CPUS, END, MS = 64, 12, 1000, 1000000
START = 5000 * MS
LOST, EXIT, SAMPLE, SWITCH, ROUND, OUT = 2, 4, 9, 14, 68, 1 << 13


def recording(kind):
    """Return records (time, cpu, what, tid, period, function), and when each thread ran."""
    chance, records, ran = random.Random(7), [], collections.defaultdict(list)
    times = set()

    def at(t):
        while t in times:
            t += 1
        times.add(t)
        return t
    free, queue = list(range(CPUS)), [(chance.expovariate(1 / 6), i) for i in range(THREADS)]
    waiting, busy = collections.deque(), []
    phase = [chance.random() for _ in range(THREADS)]
    last = {i: chance.uniform(END / 2, 1.2 * END) for i in range(THREADS)}
    heapq.heapify(queue)
    while queue or waiting or busy:
        # the next thing: a CPU becomes free, or a thread wants one
        if busy and (not queue or busy[0][0] <= queue[0][0]):
            now, cpu = heapq.heappop(busy)
            free.append(cpu)
        else:
            now, thread = heapq.heappop(queue)
            waiting.append(thread)
        while waiting and free:
            i, cpu = waiting.popleft(), free.pop(chance.randrange(len(free)))
            length = chance.expovariate(1 / 3)
            function = chance.randrange(4)
            begin, end = at(START + int(now * MS)), at(START + int((now + length) * MS))
            exits = now + length > last[i]
            known = now > 3             # earlier ones ran before the recording
            if known:
                records.append((begin, cpu, "in", i, 0, 0))
            t = now + phase[i]
            samples = []
            while t < now + length:
                samples.append(at(START + int(t * MS)))
                period = chance.randrange(900000, 1100000)
                records.append((samples[-1], cpu, "sample", i, period, function))
                t += 1
            phase[i] = t - now - length
            if not known:
                begin = samples[0] if samples else end
            if begin < end:
                ran[i].append((begin, end))
            records.append((end, cpu, "exit" if exits else "out", i, 0, 0))
            heapq.heappush(busy, (now + length, cpu))
            if not exits:
                heapq.heappush(queue, (now + length + chance.expovariate(1 / 20), i))
    if kind == "lost":
        gone = {r for r in records if r[2] in ("in", "out") and chance.random() < .01}
        records = [(*r[:2], "lost", *r[3:]) if r in gone else r for r in records]
    return sorted(records), ran


def stream(kind):
    has_cpu = kind != "plain"
    body = [mmap(7, (f + 1) << 16, 4096, b"/f%d" % f) for f in range(4)]
    trailer_of = "<IIQII" if has_cpu else "<IIQ"

    def pack(time, cpu, what, tid, period, function):
        ids = (7, 100 + tid, time) + ((cpu, 0) if has_cpu else ())
        trailer = struct.pack(trailer_of, *ids)
        if what == "sample":
            return record(SAMPLE, struct.pack("<Q", (function + 1) << 16) + trailer +
                          struct.pack("<Q", period))
        if what == "exit":
            return record(EXIT, struct.pack("<IIIIQ", 7, 7, 100 + tid, 7, time) + trailer)
        if what == "lost":
            return record(LOST, struct.pack("<QQ", 1, 1) + trailer)
        return record(SWITCH, trailer, OUT if what == "out" else 0)
    records, _ = recording(kind)
    length = 100 * MS
    for begin in range(START, START + 10 * END * MS, length):
        part = [r for r in records if begin <= r[0] < begin + length]
        for cpu in range(CPUS):         # as the kernel's rings are read, one after another
            body += [pack(*r) for r in part if r[1] == cpu]
        body.append(record(ROUND, b"", 0))
    empty = struct.pack(trailer_of, *([0] * (5 if has_cpu else 3)))
    maps = [record(1, m + empty) for m in body[:4]]
    kinds = IP | TID | TIME | PERIOD | (CPU if has_cpu else 0)
    a = attr(1, 0, MS, kinds, 1 << 18 | 1 << 26)
    sys.stdout.buffer.write(pipe(record(64, a + struct.pack("<Q", 1), 0), *maps, *body[4:]))


def class_of(n):
    most = 1
    while most < n:
        most *= 2
    return str(most) if most <= 2 else "%d-%d" % (most // 2 + 1, most)


def weigh(samples, ran):
    """samples: (time, thread, period, function); ran: for each thread when, in order."""
    starts = {i: [a for a, b in spans] for i, spans in ran.items()}
    sums = collections.Counter()
    for time, thread, period, function in samples:
        n = 0
        for i, spans in ran.items():
            at = bisect.bisect_right(starts[i], time) - 1
            n += at >= 0 and spans[at][0] <= time < spans[at][1]
        assert n > 0, (time, thread)
        value = (period + n // 2) // n
        sums[function] += value
        sums["total"] += value
        sums[class_of(n)] += value
    # the time in which anything ran
    merged, last = 0, 0
    for a, b in sorted(s for spans in ran.values() for s in spans):
        merged += max(0, b - max(a, last))
        last = max(last, b)
    sums["ran"] = merged
    return sums


def show(sums):
    for name in sorted(sums):
        print(name, sums[name])


def truth(kind):
    records, ran = recording(kind)
    show(weigh([(t, i, p, "f%d" % f) for t, _, what, i, p, f in records if what == "sample"],
               ran))


def script():
    """perf script --ns --show-switch-events -F comm,tid,time,period,event,ip,sym"""
    samples, ran, since, last = [], collections.defaultdict(list), {}, 0
    for line in sys.stdin:
        # names of threads may have spaces: the tid is the number before the time
        m = re.search(r"\s(\d+)\s+(?:\[\d+\]\s+)?(\d+)\.(\d{9}):\s*(.*)", line)
        if not m:
            continue
        tid, time, rest = int(m[1]), int(m[2]) * 10**9 + int(m[3]), m[4]
        last = max(last, time)
        if "PERF_RECORD_SWITCH" in rest or "PERF_RECORD_EXIT" in rest:
            if " IN" in rest:
                since.setdefault(tid, time)
                continue
            exits = re.search(r"EXIT\((\d+):(\d+)\)", rest)
            tid = int(exits[2]) if exits else tid
            if tid in since:
                ran[tid].append((since.pop(tid), time))
            continue
        m = re.match(r"(\d+)\s+\S+\s+[0-9a-f]+ (.+)", rest)
        if m:
            since.setdefault(tid, time)
            samples.append((time, tid, int(m[1]), m[2].strip()))
    for tid, time in since.items():
        ran[tid].append((time, last + 1))
    show(weigh(samples, ran))


def profile():
    sums, place, names, mappings = collections.Counter(), {}, {}, {}
    part, types, value, locations, samples = "", None, 0, [], []
    for line in sys.stdin:
        m = re.match(r"(Samples:|Locations|Mappings)\s*$", line)
        if m:
            part, types = m[1].rstrip(":"), None
        elif part == "Samples" and types is None:
            types = [t.split("/")[0] for t in line.replace("[dflt]", "").split()]
            at = types.index(sys.argv[2] if len(sys.argv) > 2 else "latency")
        elif part == "Samples" and re.match(r" +-?\d+ .*:", line):
            values, locations = line.split(":")
            value = int(values.split()[at])
            samples.append((value, int(locations.split()[0])))
            sums["total"] += value
        elif part == "Samples":
            m = re.search(r"parallelism:\[([0-9-]+)\]", line)
            if m:
                sums[m[1]] += value
        elif part == "Locations":
            m = re.match(r" +(\d+): 0x[0-9a-f]+ (?:M=(\d+) ?)?(\S+)?", line)
            if m:
                names[int(m[1])] = m[3]
                place[int(m[1])] = int(m[2] or 0)
        elif part == "Mappings":
            m = re.match(r"(\d+): \S+ (\S+)", line)
            if m:
                mappings[int(m[1])] = m[2].rsplit("/", 1)[-1]
        m = re.match(r"Comment: latency: nothing ran for (\d+) of (\d+) us", line)
        if m:
            sums["ran"] = (int(m[2]) - int(m[1])) * 1000
    for value, leaf in samples:
        sums[names[leaf] or mappings[place[leaf]]] += value
    show(sums)


if __name__ == "__main__":
    {"stream": stream, "truth": truth, "script": lambda _: script(),
     "profile": lambda _: profile()}[sys.argv[1]]((sys.argv[2:] or [""])[0])
