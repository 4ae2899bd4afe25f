"""
Who keeps whom waiting, by a stream of pmu-sample --waits: an oracle that shares no code with the
tools, and keeps everything, so that it is slow.

    waits_oracle.py STREAM PROGRAM...   a line each, most time first:
        block LOCK FUNCTION NS COUNT    so long FUNCTION waited for LOCK until it was woken
        ready LOCK FUNCTION NS COUNT    and from then until it ran
        alone LOCK FUNCTION NS COUNT    it waited for LOCK, but no thread was seen to end that
        ready alone LOCK ...            and from the timer or signal that ended it until it ran
        mutex LOCK FUNCTION NS COUNT    so long others waited because of FUNCTION, by the unlocks
        last LOCK FUNCTION NS COUNT     the same, if all is due to the one that ended the wait

FUNCTION is that of the PROGRAMs nearest to the leaf, LOCK the variable or address, or - where it is
not a futex.  Names come from nm and /proc/kallsyms, so this must run where the stream was recorded.

A wait starts with a sample of context-switches whose switch is not a preemption, and ends with the
first sched_waking of its thread.  New kernels have no sample where a thread ends: who waits for the
end of one is woken by the last EXIT of its process, or of a child.  The wakes on one futex while a
thread waits for it are ends of critical sections: each has caused the part of the wait from the wake
before it.  Waits for what is not a lock, as condition variables, are due to the wake that ended them.
"""
import bisect
import collections
import os
import re
import struct
import subprocess
import sys

MMAP, COMM, EXIT, FORK, SAMPLE, MMAP2, SWITCH, CPU_SWITCH = 1, 3, 4, 7, 9, 10, 14, 15
ATTR, TRACING_DATA, EVENT_UPDATE, FEATURE = 64, 66, 78, 80
OUT, PREEMPT, DATA = 1 << 13, 1 << 14, 1 << 13
KERNEL_MARK, USER_MARK, MARKS = (1 << 64) - 128, (1 << 64) - 512, (1 << 64) - 4096
DI = {"x86_64": 5, "aarch64": 0}[os.uname().machine]
IN_INTERRUPT = 0x18     # common_flags: hardirq, softirq
EARLY = 20000           # ns: a wake so shortly before a switch out is meant for that wait,
LATE = 20000000         # ... if it is not longer than this
AT_SWITCH = 100000      # ns: a sample so shortly after a switch out may be of the switch itself
NOTICE = 5000000        # ns: the same, of a wait that may have been for something else
JOIN = 1000000000       # ns: an exit ends a wait for it at most so long before the thread runs
EXITS = 64              # exits that are remembered
PAUSE = 200000          # ns: who is interrupted and so soon waits at the same lock goes on waiting

# a thread that waits in none of these may wait for the end of another: that function has no name
STOPS = ("zap_process", "zap_other_threads", "do_signal_stop", "prepare_signal", "jobctl_trap")
SIGNALS = ("sigsuspend", "do_sigtimedwait", "sys_pause", "signalfd_read")
POLLS = ("do_select", "do_sys_poll", "do_poll", "ep_poll")
NAMES_OF_LOCKS = ("RwLock", "lll_lock", "pthread_", "Mutex", "mutex", "Condvar", "sem_", "Parker",
                  "parking_lot", "thread_parking")

Wake = collections.namedtuple("Wake", "time tid pid locks function kind")


class Wait:
    def __init__(self, tid, pid, time, lock, rule, function):
        self.tid, self.pid, self.lock, self.rule, self.function = tid, pid, lock, rule, function
        self.start = self.piece = time      # of all of it, of the part since it was interrupted
        self.wake = self.back = None    # Wake, ns
        self.switched = self.joins = self.idle = self.shared = self.went_on = False
        self.for_signal = self.for_child = self.for_pipe = False
        self.paused, self.stopped, self.resumed = None, time, time  # the interrupting Wake, ns, ns


def plain(name):
    """NAME, or what it is in Rust, without the hash that ends the symbol"""
    if not name.startswith("_ZN"):
        return name
    parts, rest = [], name[3:]
    while match := re.match(r"(\d+)", rest):
        start, size = match.end(), int(match[1])
        parts.append(rest[start:start + size])
        rest = rest[start + size:]
    return "::".join(parts[:-1])


def debug_file(path):
    """the file with the names of PATH that Debian's packages for debugging have, or PATH"""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", notes)
    debug = found and "/usr/lib/debug/.build-id/%s/%s.debug" % found.groups()
    return debug if debug and os.path.isfile(debug) else path


class Symbols:
    """functions and variables of an ELF file, by address"""
    def __init__(self, path, exported):
        names = debug_file(path) if exported else path
        out = subprocess.run(["nm", "-nS"] + (["-D"] if names == path and exported else []) +
                             [names], capture_output=True, text=True).stdout
        self.functions, self.variables = [], []
        for line in out.splitlines():
            words = line.split()
            if len(words) < 4:
                continue
            at, size, kind, name = int(words[0], 16), int(words[1], 16), words[2], words[3]
            if kind in "tTwWi":
                self.functions.append((at, at + size, plain(name).split("@")[0]))
            elif kind in "bBdD":
                self.variables.append((at, at + size, plain(name)))
        self.functions.sort()
        self.variables.sort()
        with open(path, "rb") as f:
            head = f.read(64).ljust(64, b"\0")
            table, = struct.unpack_from("<Q", head, 32)
            each, count = struct.unpack_from("<HH", head, 54) if head[:4] == b"\x7fELF" else (0, 0)
            f.seek(table if count else 0)
            segments = f.read(each * count)
        self.loads = [struct.unpack_from("<QQQQ", segments, i * each + 8) for i in range(count)
                      if struct.unpack_from("<I", segments, i * each)[0] == 1]

    def address(self, offset):
        for at, address, _, size in self.loads:
            if at <= offset < at + size:
                return address + offset - at
        return None

    def bias(self, start, offset):
        """where the file is in memory, by a mapping of it; None: the mapping has no segment"""
        for at, address, _, size in self.loads:
            if at < offset + 4096 and offset < at + size:
                return start - (address - at + offset)
        return None

    @staticmethod
    def find(table, address):
        i = bisect.bisect_right(table, (address, 1 << 64)) - 1
        return table[i] if i >= 0 and table[i][0] <= address < table[i][1] else None


def kernel_symbols():
    table = []
    with open("/proc/kallsyms") as f:
        for line in f:
            words = line.split()
            if words[1] in "tTwW":
                table.append((int(words[0], 16), words[2]))
    return sorted(table)


class Space:
    """the mappings of a process"""
    def __init__(self, maps=()):
        self.maps = list(maps)      # (start, end, offset, path, key), the newest last

    def find(self, address):
        for m in reversed(self.maps):
            if m[0] <= address < m[1]:
                return m
        return None


class Stream:
    """records in order of time: (time, number, type, misc, record)"""
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.attrs, self.ids, self.names, self.records, self.start, self.end = {}, [], {}, [], 0, 0
        at = 16
        while at < len(self.data):
            kind, misc, size = struct.unpack_from("<IHH", self.data, at)
            body = self.data[at + 8:at + size]
            if kind == ATTR:
                self.add_attr(body)
            elif kind == EVENT_UPDATE and struct.unpack_from("<Q", body)[0] == 2:
                self.add_name(struct.unpack_from("<Q", body, 8)[0], body[16:].split(b"\0")[0])
            elif kind == TRACING_DATA:
                at += (struct.unpack_from("<I", body)[0] + 7) & ~7
            elif kind == FEATURE and struct.unpack_from("<Q", body)[0] == 21:
                self.start, self.end = struct.unpack_from("<QQ", body, 8)
            elif kind in (MMAP, MMAP2, COMM, EXIT, FORK, SAMPLE, SWITCH, CPU_SWITCH):
                self.add(kind, misc, body)
            at += size
        self.records.sort(key=lambda r: r[:2])

    def span(self):
        return self.end - self.start

    def add_attr(self, body):
        kind, size, config, _, form, read, flags = struct.unpack_from("<IIQQQQQ", body)
        registers = struct.unpack_from("<Q", body, 80)[0]
        ids = struct.unpack_from("<%dQ" % ((len(body) - size) // 8), body, size)
        for id in ids:
            self.attrs[id] = (kind, config, form, registers)
        self.ids.append(ids)
        self.trailer = [8] + [8 for bit in (6, 9, 7, 16) if form >> bit & 1]

    def add_name(self, id, name):
        for ids in self.ids:
            if id in ids:
                self.names.update((i, name) for i in ids)

    def add(self, kind, misc, body):
        if kind == SAMPLE:
            time = self.sample(body)["time"]
        else:   # tid, time, id, stream id, cpu, identifier
            time = struct.unpack_from("<Q", body, len(body) - sum(self.trailer))[0]
        self.records.append((time, len(self.records), kind, misc, body))

    def sample(self, body):
        """the fields of a SAMPLE, in the order of linux/perf_event.h"""
        id = struct.unpack_from("<Q", body)[0]
        kind, config, form, mask = self.attrs[id]
        _, pid, tid, time = struct.unpack_from("<QIIQ", body, 8)
        s = {"id": id, "kind": kind, "config": config, "pid": pid, "tid": tid, "time": time,
             "chain": (), "raw": b"", "argument": 0}
        at = 32 + sum(8 for bit in (3, 6, 9, 7, 8) if form >> bit & 1)
        if form >> 5 & 1:
            count = struct.unpack_from("<Q", body, at)[0]
            s["chain"] = struct.unpack_from("<%dQ" % count, body, at + 8)
            at += 8 + 8 * count
        if form >> 10 & 1:
            size = struct.unpack_from("<I", body, at)[0]
            s["raw"] = body[at + 4:at + 4 + size]
            at += 4 + size
        if form >> 12 & 1:
            abi = struct.unpack_from("<Q", body, at)[0]
            if abi and mask >> DI & 1:
                below = bin(mask & ((1 << DI) - 1)).count("1")
                s["argument"] = struct.unpack_from("<Q", body, at + 8 + 8 * below)[0]
        return s


class Oracle:
    def __init__(self, stream, programs, functions=()):
        self.stream = stream
        self.programs = {os.path.realpath(p) for p in programs}
        self.wanted = set(functions)
        self.kernel = kernel_symbols()
        self.files, self.spaces = {}, collections.defaultdict(Space)
        self.waiting, self.woken = {}, {}   # tid: Wait, Wake
        self.pausing = {}                   # tid: Wait that was interrupted
        self.exited, self.exits = set(), []     # tids, (Wake, pid of its parent)
        self.wakes = collections.defaultdict(list)      # lock: [Wake], by time
        self.waits, self.named = [], {}

    def symbols(self, path):
        if path not in self.files:
            exists = path.startswith("/") and os.path.isfile(path)
            self.files[path] = Symbols(path, path not in self.programs) if exists else None
        return self.files[path]

    def place(self, pid, address):
        """the name of the function at ADDRESS, and its file"""
        m = self.spaces[pid].find(address)
        symbols = m and self.symbols(m[3])
        inside = symbols and symbols.address(address - m[0] + m[2])
        found = inside and symbols.find(symbols.functions, inside)
        return found[2] if found else "", m and m[3]

    def variable(self, pid, address):
        """the name of the variable at ADDRESS in one of the programs"""
        for start, _, offset, path, _ in self.spaces[pid].maps:
            symbols = self.symbols(path) if path in self.programs else None
            bias = symbols and symbols.bias(start, offset)
            found = bias is not None and symbols.find(symbols.variables, address - bias)
            if found:
                return found[2]
        return hex(address)

    def frames(self, s):
        """the functions of the kernel, and (name, file) of those of the program, the leaf first"""
        kernel, user, mode = [], [], None
        for ip in s["chain"]:
            if ip >= MARKS:
                mode = ip
            elif mode == KERNEL_MARK:
                i = bisect.bisect_right(self.kernel, (ip, "~")) - 1
                kernel.append(self.kernel[i][1] if i >= 0 else "")
            elif mode == USER_MARK:
                # a return address may be the start of the next function
                user.append(self.place(s["pid"], ip - 1 if user else ip))
        return kernel, user

    def function(self, user):
        for name, path in user:
            last = name.split("::")[-1].split(".")[0]
            if last in self.wanted or (not self.wanted and path in self.programs):
                return last or "?"
        return "?"

    def lock(self, s, kernel, user):
        """the key of what a futex call waits for, equal for equal locks, and how it is divided"""
        is_exit = any("do_exit" in k or "mm_release" in k for k in kernel)
        if not any("futex" in k for k in kernel) or is_exit or not s["argument"]:
            return None, "unlocks"
        rule, pair, self.idle = "unlocks", 0, False
        for name, _ in user[:16]:
            if any(part in name for part in ("pthread_rwlock", "RwLock")):
                pair = 7
                break
            if any(part in name for part in ("lll_lock", "pthread_mutex", "Mutex", "mutex")):
                break
            if any(part in name for part in ("pthread_cond", "Condvar")):
                rule, pair, self.idle = "last", 7, True
                break
            if "sem_" in name:
                self.idle = True
                break
            if "pthread_barrier" in name:
                rule = "last"
                break
            if any(part in name for part in ("pthread_join", "pthread_clockjoin")):
                rule, self.idle = "last", True
                break
            if any(part in name for part in ("Parker", "parking_lot", "thread_parking")):
                rule, self.idle = "last", True
                break
        return self.key(s, pair), rule

    def key(self, s, pair):
        address = s["argument"] & ~pair
        m = self.spaces[s["pid"]].find(address)
        if m and m[4]:
            key = (m[4], address - m[0] + m[2], pair)
            self.named[key] = "%s+0x%x" % (m[3], address - m[0] + m[2])
        else:
            key = (s["pid"], address, pair)
            if key not in self.named:
                self.named[key] = self.variable(s["pid"], address)
        return key

    def ends(self, wait, time):
        """WAIT's thread runs at TIME"""
        del self.waiting[wait.tid]
        early = self.woken.pop(wait.tid, None)
        joined = [wake for wake, parent in reversed(self.exits)
                  if wait.start < wake.time <= time
                  and self.may_join(wait, wake.pid, parent, time - wake.time)]
        if wait.wake is None and joined:
            wait.wake, wait.rule = joined[0], "last"
        elif wait.wake is None and early and early.time + EARLY >= wait.piece > time - LATE:
            wait.wake = early._replace(time=wait.piece, locks=())
        elif wait.lock and (wait.wake.kind in ("interrupt", "signal", "stop") if wait.wake
                            else not wait.shared):
            wait.paused, wait.wake = wait.wake, None
            wait.stopped = max(wait.paused.time, wait.start) if wait.paused else time
            wait.resumed = time
            self.pausing[wait.tid] = wait
            return
        wait.back = time
        self.waits.append(wait)

    def may_join(self, wait, pid, parent, ns):
        """a thread of PID, a child of PARENT, exited NS before WAIT's thread ran"""
        if wait.joins:
            return ns < JOIN and wait.pid in (pid, parent)
        return ns < NOTICE and pid != wait.pid and (
            wait.for_pipe or (wait.for_child and wait.pid == parent))

    def gives_up(self, tid):
        """the wait of TID ended when it was interrupted"""
        wait = self.pausing.pop(tid, None)
        if wait:
            wait.wake = wait.paused and wait.paused._replace(time=wait.stopped)
            wait.back = max(wait.resumed, wait.stopped)
            self.waits.append(wait)

    def runs(self, tid, time):
        if tid in self.waiting:
            self.ends(self.waiting[tid], time)
        elif tid in self.pausing and not self.pausing[tid].resumed:
            self.pausing[tid].resumed = time

    def sampled(self, tid, time):
        wait = self.waiting.get(tid)
        if wait and (wait.wake or time >= wait.piece + AT_SWITCH) or tid in self.pausing:
            self.runs(tid, time)

    def take_wake(self, s):
        kernel, user = self.frames(s)
        woken = struct.unpack_from("<i", s["raw"], 24)[0]
        if s["raw"][2] & IN_INTERRUPT and not any("local_bh_enable" in k for k in kernel):
            kind = "interrupt"
        elif any("do_exit" in k or "mm_release" in k or "do_notify_parent" in k for k in kernel):
            kind = "exit"
        elif any(part in k for k in kernel for part in STOPS):
            kind = "stop"
        elif any(part in k for k in kernel for part in ("signal_wake_up", "complete_signal")):
            kind = "signal"
        else:
            kind = "thread"
        is_futex = kind == "thread" and self.lock(s, kernel, user)[0]
        # of a pair of words or not: those who wait know
        locks = (self.key(s, 0), self.key(s, 7)) if is_futex else ()
        wake = Wake(s["time"], s["tid"], s["pid"], locks, self.function(user), kind)
        self.sampled(s["tid"], s["time"])
        for lock in locks:
            self.wakes[lock].append(wake)
        wait = self.waiting.get(woken)
        if wait and wait.wake is None:
            if wait.for_signal and kind == "signal":
                kind, wake = "thread", wake._replace(kind="thread")
            # whatever it is to itself: of an exit, the kernel knows the lock
            if wait.lock and wait.lock not in locks and kind in ("thread", "exit"):
                wake = wake._replace(locks=(*locks, wait.lock))
                self.wakes[wait.lock].append(wake)
            wait.wake = wake
        elif not wait:
            self.woken[woken] = wake

    def take_out(self, s):
        if not s["tid"] or s["tid"] in self.exited:
            return
        kernel, user = self.frames(s)
        self.idle = False
        lock, rule = self.lock(s, kernel, user)
        before = self.waiting.get(s["tid"])
        if before and not before.wake and lock and before.lock == lock:
            return      # it was looked at again
        self.runs(s["tid"], s["time"])
        paused = self.pausing.get(s["tid"])
        if paused and paused.lock == lock and (
                not paused.resumed or s["time"] < paused.resumed + PAUSE):
            self.waiting[s["tid"]] = self.pausing.pop(s["tid"])
            paused.piece, paused.went_on, paused.switched = s["time"], True, False
            return
        self.gives_up(s["tid"])
        wait = Wait(s["tid"], s["pid"], s["time"], lock, rule, self.function(user))
        is_named = any(part in u[0] for u in user[:16] for part in NAMES_OF_LOCKS)
        wait.joins = (any(k in ("do_wait", "__do_wait") or k.startswith("kernel_wait") or
                          k == "wait_for_vfork_done" for k in kernel) or
                      any(k in ("kernel_clone", "_do_fork") for k in kernel) and
                      any("wait_for_completion" in k for k in kernel) or
                      any("join" in u[0] for u in user[:16]) or
                      (any("futex" in k for k in kernel) and not is_named))
        wait.for_signal = any(part in k for k in kernel for part in SIGNALS)
        wait.for_child = wait.for_signal or any(k.startswith(POLLS) for k in kernel)
        wait.for_pipe = any(k.startswith(("pipe_read", "anon_pipe_read")) for k in kernel)
        wait.idle, wait.shared = self.idle, bool(lock) and isinstance(lock[0], tuple)
        self.waiting[s["tid"]] = wait

    def take_switch(self, misc, time, tid):
        wait = self.waiting.get(tid)
        if not misc & OUT:
            self.runs(tid, time)
        elif wait and not wait.switched:
            wait.switched = True
            if misc & PREEMPT and wait.went_on:
                self.pausing[tid] = self.waiting.pop(tid)
                wait.resumed = 0
            elif misc & PREEMPT:
                del self.waiting[tid]
                self.woken.pop(tid, None)
            elif wait.wake is None:
                wait.start = wait.start if wait.went_on else time
                wait.piece = time

    def take_mapping(self, kind, misc, body):
        pid, _, start, size, offset = struct.unpack_from("<IIQQQ", body)
        major, minor, inode = struct.unpack_from("<IIQ", body, 32) if kind == MMAP2 else (0, 0, 0)
        path = body[64 if kind == MMAP2 else 32:].split(b"\0")[0].decode(errors="replace")
        shared = kind == MMAP2 and struct.unpack_from("<I", body, 60)[0] & 1   # MAP_SHARED
        key = (major, minor, inode) if shared and inode else None
        self.spaces[pid].maps.append((start, start + size, offset, path, key))

    def run(self):
        for time, _, kind, misc, body in self.stream.records:
            if kind in (MMAP, MMAP2):
                self.take_mapping(kind, misc, body)
            elif kind == COMM and misc & 1 << 13:   # exec
                pid, tid = struct.unpack_from("<II", body)
                self.spaces[pid] = Space()
                self.forget(tid)
            elif kind == FORK:
                pid, parent, tid = struct.unpack_from("<III", body)
                if pid != parent and pid not in self.spaces:
                    self.spaces[pid] = Space(self.spaces[parent].maps)
                self.forget(tid)
            elif kind == EXIT:
                pid, parent, tid = struct.unpack_from("<III", body)
                self.forget(tid)
                self.exited.add(tid)
                self.exits = self.exits[-EXITS + 1:] + [
                    (Wake(time, tid, pid, (), "?", "exit"), parent)]
            elif kind in (SWITCH, CPU_SWITCH):
                tid = struct.unpack_from("<I", body, len(body) - sum(self.stream.trailer) - 4)[0]
                self.take_switch(misc, time, tid)
            elif kind == SAMPLE:
                self.take_sample(self.stream.sample(body))
        for tid in list(self.pausing):
            self.gives_up(tid)
        for wait in self.waiting.values():      # some began after the end that the stream states
            wait.back = max(self.stream.end, wait.wake.time if wait.wake else wait.start)
            self.waits.append(wait)
        return self

    def forget(self, tid):
        self.gives_up(tid)
        self.waiting.pop(tid, None)
        self.woken.pop(tid, None)
        self.exited.discard(tid)

    def take_sample(self, s):
        if self.stream.names.get(s["id"]) == b"sched:sched_waking":
            self.take_wake(s)
        elif s["kind"] == 1 and s["config"] == 3:
            self.take_out(s)
        else:
            self.sampled(s["tid"], s["time"])

    def stretches(self, wait):
        """(wake, ns) of WAIT"""
        if wait.rule == "last" or wait.lock not in wait.wake.locks:
            yield wait.wake, wait.wake.time - wait.start
            return
        wakes, start = self.wakes[wait.lock], wait.start
        i = bisect.bisect_right(wakes, start, key=lambda w: w.time)
        while wakes[i] is not wait.wake:
            yield wakes[i], wakes[i].time - start
            start, i = wakes[i].time, i + 1
        yield wakes[i], wakes[i].time - start

    def sums(self):
        """{(what, lock, function): [ns, count]}"""
        sums = collections.defaultdict(lambda: [0, 0])

        def add(what, lock, function, ns):
            cell = sums[what, self.named.get(lock, "-"), function]
            cell[0] += ns
            cell[1] += 1

        for w in self.waits:
            if not w.wake or w.wake.kind not in ("thread", "exit"):
                if w.lock and (not w.idle or w.shared):
                    end = w.wake.time if w.wake else w.back
                    add("alone", w.lock, w.function, end - w.start)
                    if w.wake:
                        add("ready alone", w.lock, w.function, w.back - end)
                continue
            add("block", w.lock, w.function, w.wake.time - w.start)
            add("ready", w.lock, w.function, w.back - w.wake.time)
            add("last", w.lock, w.wake.function, w.wake.time - w.start)
            for wake, ns in self.stretches(w):
                add("mutex", w.lock, wake.function, ns)
        return sums


def main():
    programs = [a for a in sys.argv[2:] if "/" in a]
    functions = [a for a in sys.argv[2:] if "/" not in a]
    sums = Oracle(Stream(sys.argv[1]), programs, functions).run().sums()
    for (what, lock, function), (ns, count) in sorted(sums.items(), key=lambda i: -i[1][0]):
        print(what, lock, function, ns, count)


if __name__ == "__main__":
    main()
