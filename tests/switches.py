"""
How long the threads of a stream were on CPUs and off, by its records of context switches, and what
a profile says of them: an oracle that shares no code with the tools.

    go tool pprof -raw PROFILE | switches.py STREAM         one line for each thread: ID, switches,
                                                            ns on, off; ns of off-cpu and wall in
                                                            the profile, by its label "tid"
    switches.py --samples STREAM                            how many samples of switches there are,
                                                            and how many have a time that is not
                                                            between the records of the switches of
                                                            their thread: in, out

    switches.py --span STREAM                               ns from the start to the end

The stream must have the ID and time of each record's thread.  A thread is on a CPU from its exec,
or the record of a switch in, until the record of a switch out, or its exit.  A thread whose first
record is that of a switch in has waited since the start.  What a new thread waits before it runs at
all is left out.
"""
import re
import struct
import sys

COMM, EXIT, FORK, SAMPLE, SWITCH, SWITCH_CPU_WIDE, ATTR, FEATURE = 3, 4, 7, 9, 14, 15, 64, 80
IP, TID, TIME, ID, CPU, STREAM_ID, IDENTIFIER = 1, 1 << 1, 1 << 2, 1 << 6, 1 << 7, 1 << 9, 1 << 16
OUT = 1 << 13


def records(data):
    """type, misc, tid, time of the records of threads, in order of time"""
    at, kind, found = 16, None, []
    while at < len(data):
        what, misc, size = struct.unpack_from("<IHH", data, at)
        if what == ATTR and kind is None:
            kind = struct.unpack_from("<Q", data, at + 8 + 24)[0]
            assert kind & TID and kind & TIME
        if what in (COMM, EXIT, FORK, SWITCH, SWITCH_CPU_WIDE):
            # struct sample_id: tid, time, id, stream id, cpu, identifier
            after = sum(8 for bit in (ID, STREAM_ID, CPU, IDENTIFIER) if kind & bit)
            _, tid, time = struct.unpack_from("<IIQ", data, at + size - after - 16)
            if what in (EXIT, FORK):
                tid = struct.unpack_from("<I", data, at + 8 + 8)[0]
            if tid and time:
                found.append((time, len(found), what, misc, tid))
        at += size
    return sorted(found)


class Thread:
    def __init__(self):
        self.on = self.off = self.switches = 0
        self.runs, self.since = None, None

    def turn(self, runs, time):
        if self.runs:
            self.on += time - self.since
        elif self.runs is not None:
            self.off += time - self.since
        self.runs, self.since = runs, time


def span(data):
    """the times of the start and the end, from the feature SAMPLE_TIME"""
    at = 16
    while at < len(data):
        what, _, size = struct.unpack_from("<IHH", data, at)
        if what == FEATURE and struct.unpack_from("<Q", data, at + 8)[0] == 21:
            return struct.unpack_from("<QQ", data, at + 16)
        at += size
    raise SystemExit("the stream has no span of time")


def lives(data):
    threads, start = {}, span(data)[0]
    for time, _, what, misc, tid in records(data):
        is_new = tid not in threads
        t = threads.setdefault(tid, Thread())
        if what == FORK:
            continue
        if what in (SWITCH, SWITCH_CPU_WIDE):
            if is_new and not misc & OUT and time > start:
                t.off = time - start
            t.turn(not misc & OUT, time)
            t.switches += 1
        elif what == EXIT:
            t.turn(None, time)
        elif t.since is None:
            t.turn(True, time)
    return threads


def sums(text):
    """off-cpu and wall of each thread"""
    columns, row, waits, wall = None, None, {}, {}
    for line in text:
        if "samples/count" in line:
            columns = [c.split("/")[0] for c in line.split()]
        values = re.match(r" *((?:\d+ +)*\d+): ", line)
        if values and columns:
            row = dict(zip(columns, map(int, values[1].split())))
        tid = re.search(r"tid:\[(\d+)\]", line)
        if tid and row:
            t = int(tid[1])
            waits[t] = waits.get(t, 0) + row["off-cpu"]
            wall[t] = wall.get(t, 0) + row["wall"]
            row = None
    return waits, wall


def samples(data):
    """all samples of switches of a stream as pmu-sample writes it, and those with a wrong time"""
    at, switches, all, wrong, since, open = 16, set(), 0, 0, {}, {}
    while at < len(data):
        what, misc, size = struct.unpack_from("<IHH", data, at)
        if what == ATTR:
            kind, length, config, _, form = struct.unpack_from("<IIQQQ", data, at + 8)
            assert form & IDENTIFIER and form & IP and form & TID and form & TIME
            after = sum(8 for bit in (ID, STREAM_ID, CPU, IDENTIFIER) if form & bit)
            if kind == 1 and config == 3:   # PERF_COUNT_SW_CONTEXT_SWITCHES
                ids = (size - 8 - length) // 8
                switches.update(struct.unpack_from("<%dQ" % ids, data, at + 8 + length))
        elif what == SAMPLE:
            identifier, _, _, tid, time = struct.unpack_from("<QQIIQ", data, at + 8)
            if identifier in switches and tid:
                all += 1
                wrong += time < since.get(tid, 0)
                open[tid] = time
        elif what in (SWITCH, SWITCH_CPU_WIDE):
            _, tid, time = struct.unpack_from("<IIQ", data, at + size - after - 16)
            if misc & OUT:
                wrong += open.pop(tid, 0) > time
            else:
                since[tid] = time
        at += size
    return all, wrong


def main():
    if sys.argv[1] == "--span":
        with open(sys.argv[2], "rb") as f:
            start, end = span(f.read())
        print(end - start)
        return
    if sys.argv[1] == "--samples":
        with open(sys.argv[2], "rb") as f:
            print(*samples(f.read()))
        return
    waits, wall = sums(sys.stdin)
    with open(sys.argv[1], "rb") as f:
        threads = lives(f.read())
    for tid in sorted(threads.keys() | waits.keys()):
        t = threads.get(tid, Thread())
        print(tid, t.switches, t.on, t.off, waits.get(tid, 0), wall.get(tid, 0))


if __name__ == "__main__":
    main()
