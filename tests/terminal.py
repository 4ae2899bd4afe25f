"""A terminal for tests: runs a shell command on it, looks at its screen, types keys.

    terminal.py COLUMNS LINES COMMAND <STEPS

Steps, a line each:
    see REGEX        wait until the screen matches
    miss REGEX       wait until it does not
    bright REGEX     wait until its inverse line matches
    type TEXT        type; \\n, \\x03 and the like are keys
    size C L         change the size
    run COMMAND      run a shell command, off the terminal
    fits             wait until the screen is no wider than the terminal
    end              wait until the command ends; its status is ours
What came on the first screen is printed at the end, where a step fails the screen as well.
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from columns import columns

PATIENCE = float(os.environ.get("PATIENCE", 600))
SECOND, FIRST = b"\033[?1049h", b"\033[?1049l"


def set_size(fd, columns, lines):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


class Terminal:
    def __init__(self, columns, lines, command):
        self.columns = columns
        self.bytes = b""
        ready, go = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.read(ready, 1)
            os.execvp("sh", ["sh", "-c", "trap : INT\n" + command])
        set_size(self.fd, columns, lines)
        os.write(go, b"x")

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

    def screen(self):
        """The text of the last whole drawing on the second screen; empty if the first is on."""
        if self.bytes.rfind(FIRST) >= self.bytes.rfind(SECOND):
            return ""
        frames = self.bytes[self.bytes.rfind(SECOND):].split(b"\033[H")
        whole = [f for f in frames if f.endswith(b"\033[J")]
        text = (whole or [b""])[-1].decode("utf-8", "replace")
        return re.sub("\033\\[[^A-Za-z]*[A-Za-z]", "", text).replace("\r", "")

    def bright(self):
        """The inverse line of the last whole drawing; of several, the first."""
        frames = self.bytes[self.bytes.rfind(SECOND):].split(b"\033[H")
        whole = [f for f in frames if f.endswith(b"\033[J")]
        found = re.search(rb"\033\[7m(.*?)\033\[m", (whole or [b""])[-1])
        return found[1].decode("utf-8", "replace") if found else ""

    def first_screen(self):
        text = re.sub(b"(?s)" + re.escape(SECOND) + b".*?" + re.escape(FIRST), b"", self.bytes)
        return re.sub(b"\033\\[[^A-Za-z]*[A-Za-z]", b"", text).replace(b"\r", b"")

    def wait(self, what, found):
        end = time.monotonic() + PATIENCE
        while not found():
            if not self.read(0.05) and not found() or time.monotonic() > end:
                sys.exit(f"never: {what}; the screen:\n{self.screen()}\n"
                         f"the first screen:\n{self.first_screen().decode('utf-8', 'replace')}")


def run(t, word, rest):
    if word in ("see", "miss"):
        t.wait(f"{word} {rest}", lambda: bool(re.search(rest, t.screen())) == (word == "see"))
    elif word == "bright":
        t.wait(f"{word} {rest}", lambda: bool(re.search(rest, t.bright())))
    elif word == "type":
        os.write(t.fd, rest.encode().decode("unicode_escape").encode("latin-1"))
    elif word == "size":
        t.columns, lines = map(int, rest.split())
        set_size(t.fd, t.columns, lines)
    elif word == "run":
        subprocess.run(rest, shell=True, check=True)
    elif word == "fits":
        t.wait(f"no wider than {t.columns}", lambda: t.screen() and all(
            columns(line) <= t.columns for line in t.screen().split("\n")))
    elif word == "end":
        while t.read(PATIENCE):
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(t.pid, 0)[1])
        sys.stdout.buffer.write(t.first_screen())
        sys.exit(status if status >= 0 else 128 - status)
    else:
        sys.exit(f"no step is called {word}")


terminal = Terminal(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
for step in sys.stdin:
    run(terminal, *(step.rstrip("\n").split(" ", 1) + [""])[:2])
