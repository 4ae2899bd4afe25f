"""How tools use pipes, for tests/t502-pipes.sh: each command is given by its words.

    pipes.py sizes COMMAND...          stdin, a pipe with all of $STREAM, and stdout: their sizes
                                       after the run, and how many bytes came out
    pipes.py kept BYTES COMMAND...     the same with pipes of so many bytes at the start
    pipes.py crowded COMMAND...        the same where this user, who must not be root, may have no
                                       more than half of that
    pipes.py named COMMAND...          the command reads the FIFO "in" and writes the FIFO "out":
                                       wait until both are 1 MiB
    pipes.py live COMMAND...           write the first half of $STREAM, which ends with a round,
                                       and leave stdin open: wait until this round comes out
    pipes.py stopped COMMAND...        nobody reads stdout: print how much the pipe has then, and
                                       the peak memory of the command in KiB
"""
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time

F_SETPIPE_SZ, F_GETPIPE_SZ, MIB = 1031, 1032, 1 << 20
ROUND = 68


def pipe(size):
    ends = os.pipe()
    try:
        if size:
            fcntl.fcntl(ends[0], F_SETPIPE_SZ, size)
    except PermissionError:
        print("no pipe may be that large here")
        sys.exit(77)
    return ends


def waiting(fd):
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]


def start(words, size=0):
    """Return the command and our ends of its stdin and stdout."""
    into, out = pipe(size), pipe(size)
    command = subprocess.Popen(words, stdin=into[0], stdout=out[1])
    os.close(out[1])
    return command, into, out[0]


def feed(fd, data):
    """Write DATA in a process of its own, as the shell does."""
    if os.fork() == 0:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view):]
        os._exit(0)


def run(words, size=0):
    command, (read_end, write_end), out = start(words, size)
    with open(os.environ["STREAM"], "rb") as file:
        feed(write_end, file.read())
    os.close(write_end)
    total = 0
    while part := os.read(out, MIB):
        total += len(part)
    print(fcntl.fcntl(read_end, F_GETPIPE_SZ), fcntl.fcntl(out, F_GETPIPE_SZ), total)
    os.wait()
    return command.wait()


def crowded(words):
    """Take all that the kernel gives this user, but half of two pipes."""
    ours = []
    try:
        while len(ours) < 1000:
            ours.append(os.pipe())
            fcntl.fcntl(ours[-1][0], F_SETPIPE_SZ, MIB)
    except PermissionError:
        pass
    else:
        sys.exit("no limit")
    for _ in range(2):
        os.close(ours[0][0])
        os.close(ours[0][1])
        del ours[0]
    return run(words)


def named(words):
    signal.alarm(600)
    ends = []
    for name in ("in", "out"):
        os.mkfifo(name)
        ends.append(os.open(name, os.O_RDWR))
    command = subprocess.Popen(words)
    while [fcntl.fcntl(end, F_GETPIPE_SZ) for end in ends] != [MIB, MIB]:
        time.sleep(0.05)
        if command.poll() is not None:
            return 1
    print("large")
    command.kill()
    command.wait()
    return 0


def records(data):
    """Offset, type and size of each record in DATA."""
    at = 16
    while at + 8 <= len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if size < 8:
            return
        yield at, kind, size
        at += size


def live(words):
    signal.alarm(600)
    command, (_, write_end), out = start(words)
    with open(os.environ["STREAM"], "rb") as file:
        data = file.read()
    rounds = [at + size for at, kind, size in records(data) if kind == ROUND]
    assert len(rounds) > 3
    head = data[:rounds[len(rounds) // 2]]
    feed(write_end, head)
    want, got = len([end for end in rounds if end <= len(head)]), b""
    while len([1 for _, kind, _ in records(got) if kind == ROUND]) < want:
        part = os.read(out, MIB)
        if not part:
            return 1
        got += part
    print("live")
    os.close(write_end)     # the command ends, with a message: the stream was cut
    while os.read(out, MIB):
        pass
    command.wait()
    return 0


def stopped(words):
    command, (_, write_end), out = start(words)
    with open(os.environ["STREAM"], "rb") as file:
        feed(write_end, file.read())
    os.close(write_end)
    calm, last = 0, -1
    while calm < 20:        # until a write waits, and nothing more comes
        time.sleep(0.05)
        with open("/proc/%d/stat" % command.pid) as file:
            state = file.read().rsplit(") ", 1)[1][0]
        now = waiting(out)
        calm = calm + 1 if now == last and now > 0 and state == "S" else 0
        last = now
    with open("/proc/%d/status" % command.pid) as file:
        peak = [line.split()[1] for line in file if line.startswith("VmHWM")][0]
    print(last, peak)
    while os.read(out, MIB):
        pass
    os.wait()
    return command.wait()


what, words = sys.argv[1], sys.argv[2:]
if what == "kept":
    sys.exit(run(words[1:], int(words[0])))
sys.exit({"sizes": run, "crowded": crowded, "named": named, "live": live, "stopped": stopped}[what](words))
