# gdb-steps.py - the truth for the unwinder: gdb steps a program by single instructions.
#
#	STREAM=s.data TRUTH=truth STARTS='rec:3:100:1 burn:1:50:7' \
#		gdb -q -nx -batch -x tests/gdb-steps.py --args PROGRAM ARGUMENT...
#
# From the 3rd call of rec() on, 100 stops of 1 instruction each; then from the first call of burn()
# on, 50 stops of 7 each.  From ^burn on: from where burn() returned to.
#
# At each stop, two files get what is true then:
#
#	STREAM	a SAMPLE with the user's registers and BYTES (16384) of the stack, as the kernel would
#		have written it, and a record for each new executable mapping
#	TRUTH	"TIME WORD... # NAME...": the callchain by gdb, and the names of its functions
#
# Before an address where a thread was interrupted, the callchain has the marker PERF_CONTEXT_USER.
# Inlined functions and guessed tail calls have no frame.  A stack ends in one of the functions
# ENDS, and before an address that is no code.
import os
import struct
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from streams import IP, TID, TIME, attr, mmap, pad, pipe, record  # noqa: E402

REGS, STACK = 1 << 12, 1 << 13
MASK = 0xff0fff  # asm/perf_regs.h: all of x86-64 but the segments
NAMES = "rax rbx rcx rdx rsi rdi rbp rsp rip eflags cs ss r8 r9 r10 r11 r12 r13 r14 r15".split()
MARKER = 2 ** 64 - 512
BYTES = int(os.environ.get("BYTES", "16384"))
ENDS = {"_start", "__start_context", "clone3", "__clone3", "__clone"}
SETTINGS = """pagination off
confirm off
backtrace past-main on
backtrace past-entry on
backtrace limit unlimited
startup-with-shell off
breakpoint pending on
print thread-events off
print inferior-events off
debuginfod enabled off
step-mode on
unwind-on-terminating-exception off
max-completions 0"""


def feature(number, text):
    data = text.encode() + b"\0"
    return record(80, struct.pack("<QI", number, len(data)) + data + bytes(-len(data) % 8), 0)


def first_records():
    here = os.uname()
    event = bytearray(attr(1, 0, 1000000, IP | TID | TIME | REGS | STACK, flags=0))
    struct.pack_into("<QI", event, 80, MASK, BYTES)
    return [record(64, bytes(event) + struct.pack("<Q", 1), 0),
            feature(3, here.nodename), feature(4, here.release), feature(6, here.machine)]


class Steps:
    def __init__(self, stream, truth):
        self.stream, self.truth = stream, truth
        self.maps, self.known, self.time = "", set(), 10 ** 9
        stream.write(pipe(*first_records()))

    def follow(self, pid):
        """Write the mappings that are new."""
        maps = open("/proc/%d/maps" % pid).read()
        if maps == self.maps:
            return
        if not self.maps:
            self.stream.write(record(3, struct.pack("<II", pid, pid) + pad(b"steps")))
        self.maps, self.code = maps, []
        for line in maps.splitlines():
            fields = line.split(None, 5)
            if "x" not in fields[1]:
                continue
            start, end = (int(x, 16) for x in fields[0].split("-"))
            self.code.append(range(start, end))
            if line in self.known:
                continue
            self.known.add(line)
            path = fields[5] if len(fields) > 5 else "//anon"
            self.stream.write(record(1, mmap(pid, start, end - start, path.encode(),
                                             int(fields[2], 16))))

    def stack(self, sp):
        """The bytes from SP to the end of the stack, BYTES at most."""
        for line in self.maps.splitlines():
            start, end = (int(x, 16) for x in line.split()[0].split("-"))
            if start <= sp < end:
                size = min(BYTES, end - sp) & ~7
                return bytes(gdb.selected_inferior().read_memory(sp, size)) if size else b""
        return b""

    def stop(self):
        if not gdb.selected_thread():
            raise gdb.error("the program has ended: make fewer stops")
        pid, tid, _ = gdb.selected_thread().ptid
        self.follow(pid)
        frame = gdb.newest_frame()
        values = [int(frame.read_register(r)) & (2 ** 64 - 1) for r in NAMES]
        stack = self.stack(values[7])
        self.time += 1000
        body = struct.pack("<QIIQQ20QQ", values[8], pid, tid or pid, self.time, 2, *values,
                           len(stack)) + stack
        self.stream.write(record(9, body + struct.pack("<Q", len(stack)) * bool(stack)))
        self.write_truth(frame)

    def write_truth(self, frame):
        words, names, is_exact = [], [], True
        while frame and frame.is_valid():
            if not any(frame.pc() in code for code in self.code):
                break
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                words += [MARKER] * is_exact + [frame.pc()]
                names.append(frame.name() or "?")
                is_exact = frame.type() == gdb.SIGTRAMP_FRAME
                if names[-1] in ENDS:
                    break
            try:
                frame = frame.older()
            except gdb.error:
                break
        self.truth.write("%d %s # %s\n" % (self.time, " ".join(map(hex, words)), " ".join(
            name.split("(")[0].replace(" ", "") for name in names)))


def execute(command):
    gdb.execute(command, to_string=True)


def main():
    for setting in SETTINGS.splitlines():
        execute("set " + setting)
    command = "run"
    with open(os.environ["STREAM"], "wb") as stream, open(os.environ["TRUTH"], "w") as truth:
        steps = Steps(stream, truth)
        for start in os.environ["STARTS"].split():
            function, hits, stops, stride = start.rsplit(":", 3)
            point = gdb.Breakpoint(function.lstrip("^"))
            point.ignore_count = int(hits) - 1
            execute("handle SIGPROF nostop noprint pass")
            execute(command)
            command = "continue"
            point.delete()
            execute("handle SIGPROF nopass")  # or steps may do nothing but take signals
            if function[0] == "^":
                execute("finish")
            for _ in range(int(stops)):
                steps.stop()
                execute("stepi " + stride)
    execute("kill")


try:
    main()
except Exception as problem:  # the status of gdb's own is 0
    print("gdb-steps:", problem)
    gdb.execute("quit 1")
