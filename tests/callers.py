#!/usr/bin/env python3
"""callers.py - looks for callers that cannot be, in what pmu-unwind made of x86-64 programs.

    callers.py STREAM    prints "CALLERS UNREAD PUSHED IMPOSSIBLE": how many callers STREAM's stacks
                         have; of these, in code that no file has; put on the stack without a
                         call; and impossible.  Impossible ones are on standard error, counted

A caller is possible if a call instruction ends at its return address, and if that call, where it
is direct, leads to the callee: it names the callee's function or one that jumps there.  Calls
through a procedure linkage table must name a symbol that leads there.  Addresses that are put on
the stack without a call are a list: the return from handlers of signals and what these interrupted;
first instructions of functions, as Go's goexit(); where make_fcontext() lets a context end; and
the callers of a function of libgcc that throws, since that writes its handler's address and
registers over its own frame before it goes there.  A call through a linkage table may also lead to
the dynamic loader, which looks up the function.

objdump decodes all code; functions come from symbols and from the files' .eh_frame_hdr.  Nothing
is taken from pmukit's own knowledge of code.
"""
import bisect
import collections
import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile

from dumps import FIXED, records

EXEC, USER, CONTEXT_MAX = 1 << 13, (1 << 64) - 512, (1 << 64) - 4095
LINE = re.compile(r"^ *([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(.*)$")
TARGET = re.compile(r"0x([0-9a-f]+)$")
PREFIXES = re.compile(r"^(?:(?:bnd|notrack|data16|rex(?:\.\w+)?|[c-g]s|ss) +)*")
THROWING = ("_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_ForcedUnwind",
            "_Unwind_Resume_or_Rethrow")
SLOT = 16  # bytes: more than any instruction has
SIGRETURN = (b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", b"\xb8\x0f\0\0\0\x0f\x05",
             b"\xf3\x0f\x1e\xfa\x48\xc7\xc0\x0f\0\0\0\x0f\x05")
FINISH = re.compile(rb"\x48?\x31\xff\xe8....\xf4", re.S)


def disassemble(code, address):
    """The instructions of CODE: address, length, text."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        text = subprocess.run(
            ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "--insn-width=15",
             "--adjust-vma=%#x" % address, file.name],
            stdout=subprocess.PIPE, check=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            at = int(match[1], 16)
            length = len(line.split("\t")[1].split())
            found.append((at, length, PREFIXES.sub("", re.sub(r" *[#<].*", "", match[2])).strip()))
    return found


class File:
    """An ELF file: its bytes by address, its functions, and the symbols of its linkage table."""

    def __init__(self, path):
        self.known = {}  # by address: length and text of the instruction
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:5] != b"\x7fELF\x02":
            raise ValueError
        at, = struct.unpack_from("<Q", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 54)
        parts = [struct.unpack_from("<IIQQQQQ", self.data, at + i * size) for i in range(count)]
        self.loads = [(p[3], p[2], p[5]) for p in parts if p[0] == 1]
        self.headers = [(p[3], p[5]) for p in parts if p[0] == 0x6474e550]
        self.ranges = self.slots = self.symbols = None
        self.path = path

    def address_of(self, offset):
        for address, start, size in self.loads:
            if start <= offset < start + size:
                return address + offset - start
        # mappings are of whole pages
        return next((a + offset - s for a, s, n in self.loads if s & ~4095 <= offset < s + n), None)

    def bytes_at(self, address, size):
        for start, offset, length in self.loads:
            if start <= address < start + length:
                size = min(size, start + length - address)
                return self.data[offset + address - start:offset + address - start + size]
        return b""

    def instruction(self, address):
        """Its length and text, or None."""
        code = b"" if address in self.known else self.bytes_at(address, 1024)
        if code:
            for at, length, text in disassemble(code, address)[:-1]:
                if at in self.known:
                    break
                self.known[at] = length, text
        return self.known.get(address)

    def addresses(self, start, end):
        """Of the instructions from START to END."""
        while start < end and self.instruction(start):
            yield start
            start += self.instruction(start)[0]

    def read_symbols(self):
        self.symbols, self.slots, self.ranges = collections.defaultdict(list), {}, []
        run = lambda *how: subprocess.run(["readelf", "-W", *how, self.path], text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for line in run("-s", "-D", "--dyn-syms").splitlines() + run("-s").splitlines():
            words = line.split()
            if len(words) > 7 and words[3] in ("FUNC", "IFUNC") and words[6] != "UND":
                start, size = int(words[1], 16), int(words[2], 0)
                name = words[7].split("@")[0]
                if (start, words[3]) not in self.symbols[name]:
                    self.symbols[name].append((start, words[3]))
                if size:
                    self.ranges.append((start, start + size))
        for line in run("-r").splitlines():
            words = line.split()
            if len(words) > 4 and words[2] in ("R_X86_64_JUMP_SLOT", "R_X86_64_JUMP_SLO",
                                               "R_X86_64_GLOB_DAT"):
                self.slots[int(words[0], 16)] = words[4].split("@")[0]
        for address, size in self.headers:
            self.ranges += self.frames(address, size)
        self.ranges = sorted(set(self.ranges))

    def frames(self, address, size):
        """The address ranges of .eh_frame, by its index, which is at ADDRESS."""
        data = self.bytes_at(address, size)
        if data[:4] != b"\x01\x1b\x03\x3b":
            return
        for i in range(struct.unpack_from("<I", data, 8)[0]):
            start, entry = struct.unpack_from("<ii", data, 12 + 8 * i)
            fde = self.bytes_at(address + entry, 16)
            length = struct.unpack_from("<I", fde, 12)[0]  # the usual encoding: 4 bytes
            yield address + start, address + start + length

    def range_of(self, address):
        """The ranges of functions at ADDRESS."""
        if self.ranges is None:
            self.read_symbols()
        at = bisect.bisect_right(self.ranges, (address, 1 << 64))
        return [r for r in self.ranges[max(0, at - 8):at] if r[0] <= address < r[1]]

    def has_symbol(self, name):
        if self.symbols is None:
            self.read_symbols()
        return self.symbols.get(name, [])


class Space:
    """The mappings of a process."""

    def __init__(self, other=None):
        self.starts, self.maps = (list(other.starts), list(other.maps)) if other else ([], [])

    def add(self, start, size, offset, path):
        while True:  # what lies there is not there any more
            at = bisect.bisect_left(self.starts, start + size) - 1
            if at < 0 or self.maps[at][0] + self.maps[at][1] <= start:
                break
            old = self.maps.pop(at)
            del self.starts[at]
            if old[0] < start:
                self.put((old[0], start - old[0], old[2], old[3]))
            if old[0] + old[1] > start + size:
                rest = start + size - old[0]
                self.put((start + size, old[1] - rest, old[2] + rest, old[3]))
        self.put((start, size, offset, path))

    def put(self, mapping):
        at = bisect.bisect_left(self.starts, mapping[0])
        self.starts.insert(at, mapping[0])
        self.maps.insert(at, mapping)

    def find(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        if at >= 0 and address < self.maps[at][0] + self.maps[at][1]:
            return self.maps[at]


class Place:
    """Code at an address: the file and the file's own address, or None."""

    def __init__(self, checker, space, address, back):
        mapping = space.find(address - back)
        self.path = mapping[3] if mapping else "?"
        self.file = checker.file(self.path) if mapping else None
        self.own = None
        if self.file:
            self.own = self.file.address_of(address - back - mapping[0] + mapping[2])
            if self.own is None:
                self.file = None
            else:
                self.own += back

    def key(self):
        return (self.path, self.own) if self.file else None

    def __str__(self):
        return "%s+%#x" % (self.path, self.own) if self.file else self.path


class Checker:
    def __init__(self):
        self.files, self.answers, self.calls, self.throwing = {}, {}, {}, {}
        self.counts, self.bad = collections.Counter(), collections.Counter()

    def file(self, path):
        if path not in self.files:
            try:
                self.files[path] = File(path)
            except (OSError, ValueError):
                self.files[path] = None
        return self.files[path]

    def find_calls(self, places):
        """Decode what lies before each return address, all in one run of objdump."""
        blob, of = bytearray(), []
        for place in places:
            for length in range(2, 10):
                code = place.file.bytes_at(place.own - length, length)
                if len(code) == length:
                    of.append((place, length))
                    blob += code.ljust(2 * SLOT, b"\x90")
        self.calls.update((p.key(), []) for p in places)
        for at, length, text in disassemble(bytes(blob), 0):
            if at % (2 * SLOT):
                continue
            place, want = of[at // (2 * SLOT)]
            if length == want and text.startswith("call"):
                target = TARGET.search(text) if "*" not in text else None
                self.calls[place.key()].append(
                    (place.own - want + int(target[1], 16) - at) % (1 << 64) if target else None)

    def leads(self, file, target, callee, files, depth=0):
        """Whether the code at TARGET of FILE is or jumps to the function of CALLEE."""
        todo, seen = [target], set()
        while todo and len(seen) < 30000:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            if callee.file is file and (at == callee.own or at == target and any(
                    s == at and s <= callee.own <= e for s, e in file.range_of(at)) or
                    at != target and at in self.starts_of(callee)):
                return True
            known = file.instruction(at)
            if not known:
                continue
            length, text = known
            # handlers of exceptions are in the function, but no jump leads there
            todo += [a for s, e in file.range_of(at) if s == at for a in file.addresses(s, e)]
            if text.startswith("jmp") and "*" in text:
                if self.through(file, at + length, text, callee, files, depth):
                    return True
                if self.slot_of(file, at + length, text):  # not looked up yet: it goes on
                    todo.append(at + length)
                continue
            match = TARGET.search(text) if re.match("j|loop|xbegin", text) else None
            if match:
                todo.append(int(match[1], 16))
            if not re.match(r"jmp|ret|hlt|ud2|\(bad\)", text):
                todo.append(at + length)
        return False

    def starts_of(self, callee):
        """First addresses of the functions that CALLEE is in."""
        ranges = callee.file.range_of(callee.own - 1) + callee.file.range_of(callee.own)
        return [start for start, end in ranges]

    def slot_of(self, file, end, text):
        """The symbol of the linkage table's slot that the instruction before END jumps by."""
        match = re.search(r"(-?0x[0-9a-f]+)\(%rip\)", text)
        file.range_of(end)
        return file.slots.get(end + int(match[1], 16)) if match else None

    def through(self, file, end, text, callee, files, depth):
        """Whether an indirect jump may lead to CALLEE."""
        name = self.slot_of(file, end, text)
        if not name or not callee.file or depth > 3 or \
                os.path.basename(callee.path).startswith("ld-"):
            return True
        found = [(f, s) for f in files for s in f.has_symbol(name)]
        return not found or any(
            kind == "IFUNC" or self.leads(f, start, callee, files, depth + 1)
            for f, (start, kind) in found)

    def is_throwing(self, place):
        key = place.key()
        if key not in self.throwing:
            self.throwing[key] = bool(place.file) and any(
                start in self.starts_of(place)
                for name in THROWING for start, _ in place.file.has_symbol(name))
        return self.throwing[key]

    def is_sigreturn(self, place):
        return bool(place.file) and place.file.bytes_at(place.own, 13).startswith(SIGRETURN)

    def judge(self, callee, caller, is_exact, exact_callee, files):
        if is_exact or self.is_sigreturn(caller):
            if callee.path == "[vdso]" or self.is_sigreturn(callee) or self.is_sigreturn(caller):
                return "pushed"
            if not caller.file:
                return "unread"
            starts = self.starts_of(caller)
            return "pushed" if caller.own in starts or caller.own - 1 in starts else "impossible"
        if not caller.file:
            return "unread"
        calls = self.calls[caller.key()]
        if any(target is None or self.leads(caller.file, target, callee, files)
               for target in calls):
            return "called"
        # It is not known who pushed a first instruction that was pushed.  Go's goexit() has its
        # return address at its second byte.
        is_pushed = exact_callee and callee.own in self.starts_of(callee) or not calls and (
            caller.own - 1 in self.starts_of(caller) or
            FINISH.match(caller.file.bytes_at(caller.own, 9)))
        return "pushed" if is_pushed else "impossible"

    def check(self, stacks, spaces):
        """STACKS: counted, as stacks() returns them."""
        places = {}
        for space, frames in stacks:
            for address, is_exact in frames:
                if (space, address, is_exact) not in places:
                    places[space, address, is_exact] = Place(self, spaces[space], address,
                                                             not is_exact)
        self.find_calls({p.key(): p for p in places.values() if p.file}.values())
        for (space, frames), count in stacks.items():
            found = [places[space, *frame] for frame in frames]
            is_throwing = False
            for i in range(1, len(found)):
                is_throwing |= self.is_throwing(found[i - 1])
                answer = self.answer(found[i - 1], found[i], frames[i][1],
                                     i > 1 and frames[i - 1][1], spaces[space])
                if answer == "impossible" and is_throwing:
                    answer = "pushed"
                self.counts[answer] += count
                if answer == "impossible":
                    self.bad[str(found[i - 1]), str(found[i])] += count

    def answer(self, callee, caller, is_exact, exact_callee, space):
        key = callee.key(), caller.key(), is_exact, exact_callee
        if None in key:
            key += (id(space), callee.path, caller.path)
        if key not in self.answers:
            files = {f for f in (self.file(m[3]) for m in space.maps) if f}
            self.answers[key] = self.judge(callee, caller, is_exact, exact_callee, files)
        return self.answers[key]


def stacks(path):
    """Return the stacks of a stream, (space, frames), counted, and the spaces."""
    spaces, kept, found = {}, [], collections.Counter()
    number = {}  # of the space of a process, until its mappings change
    for type_, misc, body, kind, _ in records(open(path, "rb").read()):
        if type_ in (1, 10):
            pid, _, start, size, offset = struct.unpack_from("<IIQQQ", body)
            if not misc & EXEC and misc & 7 == 2:
                name = body[32 if type_ == 1 else 64:].split(b"\0")[0].decode(errors="replace")
                spaces.setdefault(pid, Space()).add(start, size, offset, name)
                number.pop(pid, None)
        elif type_ == 7:
            pid, parent = struct.unpack_from("<II", body)
            if pid != parent and parent in spaces:
                spaces[pid] = Space(spaces[parent])
                number.pop(pid, None)
        elif type_ == 3 and misc & EXEC:
            pid, = struct.unpack_from("<I", body)
            spaces[pid] = Space()
            number.pop(pid, None)
        elif type_ == 9:
            at = 8 * bool(kind & 1 << 16) + 8 * bool(kind & 1)
            pid, = struct.unpack_from("<I", body, at)
            at = 8 * sum(bool(kind & flag) for flag in FIXED)
            words = struct.unpack_from("<%dQ" % struct.unpack_from("<Q", body, at), body, at + 8)
            if pid not in number and pid in spaces:
                number[pid] = len(kept)
                kept.append(Space(spaces[pid]))
            if pid in number:
                found[number[pid], tuple(user_frames(words))] += 1
    return found, kept


def user_frames(words):
    """(address, whether it is exact)"""
    is_user = is_exact = False
    for word in words:
        if word >= CONTEXT_MAX:
            is_user = is_exact = word == USER
        elif is_user:
            yield word, is_exact
            is_exact = False


def main(path):
    checker = Checker()
    checker.check(*stacks(path))
    for (callee, caller), count in checker.bad.most_common(20):
        print(count, callee, "is not called by", caller, file=sys.stderr)
    c = checker.counts
    print(sum(c.values()), c["unread"], c["pushed"], c["impossible"])


main(*sys.argv[1:])
