"""branches.py - makes streams with branch stacks, and what pmu-branch must say of each.

    branches.py DIR ID      writes DIR/NAME.data, and beside it NAME.want, the text of --to bolt,
                            and NAME.says, a line that -v prints

ID is the build ID of the program of t688-branch-rules.sh: its code is mapped from file offset
0x1000, at the address 0x401000, and has the functions f, of 0xa1 bytes, g at 0x401100, and h at
0x401180, which goes on into k at 0x4011c0, and a stub at 0x401200.  All expectations are worked out
by hand.
"""
import struct
import sys

CODE, KERNEL, OTHER = 0x401000, 0xffffffff81000000, 0x7f0000000000
ANY, ANY_CALL, CALL_STACK, HW_INDEX, COUNTERS, USER = 1 << 3, 1 << 4, 1 << 11, 1 << 17, 1 << 19, 1
IP, TID, TIME, PERIOD, BRANCHES = 1, 2, 4, 1 << 8, 1 << 11
HARDWARE, RAW_EVENT = 0, 4
MISPREDICTED, PREDICTED, WRONG_PATH = 1, 2, 1 << 24
SHORT_ID = bytes.fromhex("1122334455667788")
IRQ, ERET, EXTENDED = 12 << 20, 11 << 20, 15 << 20


def cycles(count):
    return count << 4


class Stream:
    def __init__(self, kinds=ANY | USER, event=(RAW_EVENT, 0xc4), path="/x/program", ident=None):
        self.kinds, self.time = kinds, 1000
        attr = struct.pack("<IIQQQQQIIQQQ", event[0], 80, event[1], 1000,
                           IP | TID | TIME | PERIOD | BRANCHES, 0, 1 << 18, 0, 0, 0, 0, kinds)
        self.bytes = b"PERFILE2" + struct.pack("<Q", 16)
        self.record(64, 0, attr + struct.pack("<Q", 1))
        if path:
            self.map(42, CODE, 0x1000, 0x1000, path, ident)

    def record(self, kind, misc, body):
        body += bytes(-len(body) % 8)
        self.bytes += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def trailer(self):
        """The sample_id: pid, tid, time."""
        self.time += 1
        return struct.pack("<iiQ", 42, 42, self.time)

    def map(self, pid, start, size, offset, path, ident=None):
        """An MMAP2 record, with a build ID or with device and inode."""
        name = path.encode() + bytes(8 - len(path) % 8)
        if ident:
            file = struct.pack("<BBH", len(ident), 0, 0) + ident.ljust(20, b"\0")
        else:
            file = struct.pack("<IIQQ", 8, 1, 77, 0)
        self.record(10, 2 | (1 << 14 if ident else 0),
                    struct.pack("<iiQQQ", pid, pid, start, size, offset) + file +
                    struct.pack("<II", 5, 2) + name + self.trailer())

    def build_id(self, path, ident):
        """Readers have all before it: two rounds are finished."""
        self.record(68, 0, b"")
        self.record(68, 0, b"")
        name = path.encode() + bytes(8 - len(path) % 8)
        self.record(67, 2, struct.pack("<i", -1) + ident.ljust(24, b"\0") + name)

    def sample(self, *entries, pid=42, ip=CODE, claims=None):
        """The newest entry comes first; each is FROM, TO and perhaps flags."""
        self.time += 1
        count = len(entries) if claims is None else claims
        body = struct.pack("<QiiQQQ", ip, pid, pid, self.time, 1000, count)
        if self.kinds & HW_INDEX:
            body += struct.pack("<Q", 7)
        for entry in entries:
            body += struct.pack("<QQQ", *entry, *[0] * (3 - len(entry)))
        if self.kinds & COUNTERS:
            body += bytes(8 * len(entries))
        self.record(9, 2, body)
        return self


# A short way through f: from its end to 0x10, and on to its jump at 0x40.
JUMP, BACK = (CODE + 0x40, CODE + 0x80), (CODE + 0xa0, CODE + 0x10)
USUAL = ["B 401040 401080 1 0", "B 4010a0 401010 1 0", "F 401010 401040 1"]


def cases():
    """Name, stream, lines of --to bolt, what -v says."""
    yield "usual", Stream().sample(JUMP, BACK), USUAL, "ranges left out: 0 duplicates, 0 that"
    yield "flags", Stream().sample((*JUMP, MISPREDICTED), (*BACK, PREDICTED)), \
        ["B 401040 401080 1 1", *USUAL[1:]], "1 samples read, 1 of them with branches"
    yield "empty", Stream().sample(JUMP, BACK, (0, 0), (0, 0)), USUAL, "out: 2 empty, 0 on a wrong"
    wrong = (CODE + 0x20, CODE + 0x110, WRONG_PATH)
    yield "wrong-path", Stream().sample(JUMP, wrong, BACK), USUAL, "0 empty, 1 on a wrong path"
    # BRBE: an exception of a type of its own; an interrupt, and a return from one, without a target
    for name, flags in ("extended", EXTENDED), ("irq", IRQ), ("eret", ERET):
        yield name, Stream().sample((CODE + 0x88, 0, flags), JUMP, BACK), USUAL, "1 interrupts"
    # only at the head: further down, such an entry is a branch to outside
    yield "irq-below", Stream().sample(JUMP, (CODE + 0x30, 0, IRQ), BACK), \
        ["B 401030 0 1 0", "B 401040 401080 1 0", "B 4010a0 401010 1 0", "F 401010 401030 1"], \
        "0 interrupts"
    # no range leads into the kernel and back; the one after it came from outside
    yield "kernel", Stream().sample(JUMP, (KERNEL + 9, CODE + 0x20), (CODE + 0x10, KERNEL), BACK), \
        ["B 0 401020 1 0", "B 401010 0 1 0", "B 401040 401080 1 0", "B 4010a0 401010 1 0",
         "F 401010 401010 1", "f 401020 401040 1"], "; 2 have one end in the kernel"
    other = Stream()
    other.map(42, OTHER, 0x1000, 0, "/x/library")
    yield "other-object", other.sample(JUMP, (OTHER + 9, CODE + 0x20), (OTHER + 1, OTHER + 5),
                                       (CODE + 0x10, OTHER), BACK), \
        ["B 0 401020 1 0", "B 401010 0 1 0", "B 401040 401080 1 0", "B 4010a0 401010 1 0",
         "F 401010 401010 1", "f 401020 401040 1"], "; 0 have one end in the kernel"
    # the same far jump twice at the head, forward: from - to wraps around
    far = (CODE + 0x10, CODE + 0x60)
    yield "duplicate", Stream().sample(far, far, (CODE + 0x90, CODE + 0x8)), \
        ["B 401010 401060 2 0", "B 401090 401008 1 0", "F 401008 401010 1"], "out: 1 duplicates"
    # a loop of a few bytes is not a duplicate
    loop = (CODE + 0x20, CODE + 0x10)
    yield "tight-loop", Stream().sample(loop, loop, loop), \
        ["B 401020 401010 3 0", "F 401010 401020 2"], "out: 0 duplicates"
    yield "backward", Stream().sample(JUMP, (CODE + 0xa0, CODE + 0x50)), \
        ["B 401040 401080 1 0", "B 4010a0 401050 1 0"], "duplicates, 1 that end before"
    # over the jump at 0x40; into the next function
    yield "jump-inside", Stream().sample((CODE + 0xa0, CODE + 0x110), BACK), \
        ["B 4010a0 401010 1 0", "B 4010a0 401110 1 0"], "longer than 1 MiB, 1 broken"
    yield "two-functions", Stream().sample((CODE + 0x1d0, CODE), (CODE + 0xa0, CODE + 0x190)), \
        ["B 4010a0 401190 1 0", "B 4011d0 401000 1 0"], "longer than 1 MiB, 1 broken"
    yield "hw-index", Stream(ANY | USER | HW_INDEX).sample(JUMP, BACK), USUAL, "0 empty"
    yield "counters", Stream(ANY | USER | COUNTERS | HW_INDEX).sample(JUMP, BACK), USUAL, "0 empty"
    yield "deep", Stream().sample(*[loop] * 64), \
        ["B 401020 401010 64 0", "F 401010 401020 63"], "1 of them with branches"
    two = Stream()
    two.map(43, 0x9000000, 0x1000, 0x1000, "/x/program")
    moved = [(a - CODE + 0x9000000, b - CODE + 0x9000000) for a, b in (JUMP, BACK)]
    for _ in range(3):
        two.sample(JUMP, BACK).sample(*moved, pid=43)
    yield "two-processes", two, [line.replace(" 1 0", " 6 0") if line[0] == "B" else line[:-1] + "6"
                                 for line in USUAL], "6 samples read"
    timed = Stream(event=(HARDWARE, 0))
    yield "cycles", timed.sample(JUMP, BACK), USUAL, "br_inst_retired.near_taken"


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def special(folder, ident):
    """Streams for the other checks, without an expectation beside them."""
    usual, other = [JUMP, BACK], bytes(range(20))
    made = {
        "any-call": Stream(ANY_CALL | USER).sample(JUMP, BACK),
        "call-stack": Stream(ANY_CALL | CALL_STACK | USER).sample(JUMP, BACK),
        "none": Stream().sample(),
        "same-id": Stream(path="/x/other-name", ident=ident).sample(*usual),
        # lld's build IDs have 8 bytes, and recorders fill them up with zeros
        "padded-id": Stream(path="/x/y", ident=SHORT_ID.ljust(20, b"\0")).sample(*usual),
        "longer-id": Stream(ident=SHORT_ID + bytes(range(12))).sample(*usual),
        "short-id": Stream(path="/x/y", ident=SHORT_ID).sample(*usual),
        "other-id": Stream(path="/x/program", ident=other).sample(*usual),
        "nowhere": Stream(path="/x/nobody").sample(*usual),
        "kernel-only": Stream(path=None).sample((KERNEL, KERNEL + 64), (KERNEL + 99, KERNEL)),
        "counted-cycles": Stream().sample((*JUMP, cycles(50)), (*BACK, cycles(7))),
    }
    late = made["late-other-id"] = Stream().sample(*usual)
    late.build_id("/x/program", other)
    late = made["late-id"] = Stream(path="/x/other-name").sample(*usual)
    late.build_id("/x/other-name", ident)
    stub = (CODE + 0x200, CODE + 0x10)
    made["stub"] = Stream(ident=ident).sample(JUMP, stub)
    late = made["late-stub"] = Stream(path="/x/other-name").sample(JUMP, stub)
    late.build_id("/x/other-name", ident)
    # offsets in the file that wrap around, and those at the limit of what is counted
    for name, offset in ("wraps", (1 << 64) - 0x1000), ("limit", (1 << 40) - 0x1000):
        made[name] = Stream(path=None)
        made[name].map(42, CODE, 0x2000, offset, "/x/program")
        made[name].sample((CODE + 0xff8, CODE + 0xff5), (CODE + 0xfff, CODE + 0xff1), *usual)
    for name, second in ("mixed-id", None), ("upgraded", other):
        made[name] = Stream(ident=ident)
        made[name].map(43, CODE, 0x1000, 0x1000, "/x/program", second)
        made[name].sample(*usual).sample(*usual, pid=43)
    few = made["few"] = Stream()
    few.map(42, OTHER, 0x1000, 0, "/x/library")
    few.sample(*usual)
    for _ in range(300):
        few.sample((OTHER + 9, OTHER + 3), (OTHER + 9, OTHER + 3))
    long = made["long"] = Stream(path=None)
    long.map(42, 0x10000000, 0x1000000, 0, "/x/large", other)
    long.sample((0x10200000, 0x10000010), (0x10300000, 0x10000020), (0x10400000, 0x10300040))
    claims = made["claims"] = Stream().sample(*usual)
    claims.sample(*usual, claims=1 << 40)
    claims.sample(*usual)
    for name, stream in made.items():
        with open(f"{folder}/{name}.data", "wb") as file:
            file.write(stream.bytes)


def main(folder, ident):
    for name, stream, want, says in cases():
        with open(f"{folder}/{name}.data", "wb") as file:
            file.write(stream.bytes)
        write(f"{folder}/{name}.want", "".join(line + "\n" for line in want))
        write(f"{folder}/{name}.says", says + "\n")
    special(folder, bytes.fromhex(ident))


if __name__ == "__main__":
    main(*sys.argv[1:])
