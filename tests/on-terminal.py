"""Runs a command on a terminal of its own.

    on-terminal.py FILE COMMAND... <STEPS

Steps, a line each:
    wait REGEX       wait until the command has written what matches, after the last match
    type TEXT        type; \\n, \\x03 (Ctrl-C) and the like are keys
    press REGEX      type Ctrl-C every 0.3 s until the command has written what matches
    pause SECONDS    wait so long
    kill NAME        send the command a signal, alone
    killpg NAME      send it to the command's whole process group
    run COMMAND      run a shell command, off the terminal
    size COLUMNS     change the width of the terminal, at first 80
Then it waits for the end.  FILE gets the bytes that the terminal received.  The exit status is that
of the command, 128 + the number if a signal ended it.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PATIENCE = float(os.environ.get("PATIENCE", 600))


class Terminal:
    def __init__(self, command):
        self.bytes, self.seen = b"", 0
        ready, go = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.read(ready, 1)
            os.execvp(command[0], command)
        self.size(80)
        os.write(go, b"x")

    def size(self, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self, seconds):
        """Read what comes; False at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            new = os.read(self.fd, 1 << 16)
        except OSError:
            new = b""
        self.bytes += new
        return bool(new)

    def wait(self, pattern, meanwhile=lambda: None):
        end, more = time.monotonic() + PATIENCE, True
        while not (match := re.compile(pattern.encode()).search(self.bytes, self.seen)):
            if not more or time.monotonic() > end:
                sys.exit(f"never: {pattern}\n{self.bytes.decode('utf-8', 'replace')}")
            meanwhile()
            more = self.read(0.2)
        self.seen = match.end()

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)

    def press(self):
        try:
            os.write(self.fd, b"\x03")
        except OSError:         # the command has ended
            pass
        self.pause(0.3)

    def settle(self):
        """Wait until our tools have handled each SIGINT: they look at the time between two."""
        def waits():
            for pid in os.listdir("/proc"):
                try:
                    if os.getsid(int(pid)) != self.pid:
                        continue
                    with open(f"/proc/{pid}/status") as status:
                        fields = dict(line.rstrip("\n").split(":\t", 1) for line in status)
                except (ValueError, OSError):
                    continue
                # pmu-prof has its filters keep the signal for ever
                handles = fields["Name"] in ("pmu-prof", "pmu-sample") or (
                    fields["Name"].startswith("pmu-") and not int(fields["SigBlk"], 16) & 2)
                if handles and int(fields["ShdPnd"], 16) & 2:
                    return True
            return False
        end = time.monotonic() + PATIENCE
        while waits() and time.monotonic() < end:
            self.read(0.05)

    def run(self, word, rest):
        if word in ("type", "kill", "killpg", "pause"):
            self.settle()
        if word == "wait":
            self.wait(rest)
        elif word == "type":
            os.write(self.fd, rest.encode().decode("unicode_escape").encode("latin-1"))
        elif word == "press":
            self.wait(rest, self.press)
        elif word == "pause":
            self.pause(float(rest))
        elif word == "kill":
            os.kill(self.pid, getattr(signal, rest))
        elif word == "killpg":
            os.killpg(self.pid, getattr(signal, rest))
        elif word == "run":
            subprocess.run(rest, shell=True, check=True)
        elif word == "size":
            self.size(int(rest))
        else:
            sys.exit(f"no step is called {word}")


terminal = Terminal(sys.argv[2:])
try:
    for step in sys.stdin:
        terminal.run(*(step.rstrip("\n").split(" ", 1) + [""])[:2])
    while terminal.read(PATIENCE):
        pass
finally:
    with open(sys.argv[1], "wb") as file:
        file.write(terminal.bytes)
status = os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1])
sys.exit(status if status >= 0 else 128 - status)
