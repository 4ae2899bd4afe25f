#!/usr/bin/env python3
"""dumps.py - changes the copies of stacks in a stream of pmu-sample, for the tests of pmu-unwind.

    dumps.py shorten BYTES IN OUT   as if only BYTES of each stack had been recorded
    dumps.py every WHOLE IN OUT     of the sample that has the longest callchain in WHOLE, which was
                                    made from the same samples: one sample for each length of its
                                    bytes from 0 to 3000, the times say which
    dumps.py finish IN OUT          as if all had been unwound: no registers and no stack
    dumps.py callchains WHOLE SKIPPED IN OUT
                                    as if the kernel had found the callchains of WHOLE, which was
                                    made from the same samples, too, but for the SKIPPED first
                                    callers of a leaf that has no frame; IN has whole stacks
    dumps.py random SEED IN OUT     other values in registers and stacks
    dumps.py full COUNT IN OUT      the first COUNT samples, without stacks, and as if the kernel's
                                    callchains filled the records: sample I but for I words
"""
import random
import struct
import sys

RECORD_MAX, CONTEXT_KERNEL, KERNEL = 65528, (1 << 64) - 128, 0xffffffff81000000
CALLCHAIN, REGS, STACK = 1 << 5, 1 << 12, 1 << 13
BP, SP = 6, 7  # of x86-64
FIXED = [1 << i for i in (16, 0, 1, 2, 3, 6, 9, 7, 8)]  # in the order of a sample's fields


class Sample:
    """A sample, taken apart: before + registers + stack + after."""

    def __init__(self, body, kind, mask):
        at = 8 * sum(bool(kind & flag) for flag in FIXED)
        self.time_at = 8 * sum(bool(kind & flag) for flag in (1 << 16, 1, 2))
        assert not kind & (1 << 4 | 1 << 10 | 1 << 11), "READ, RAW, BRANCH_STACK"
        chain_at = at
        if kind & CALLCHAIN:
            at += 8 + 8 * struct.unpack_from("<Q", body, at)[0]
        self.chain = body[chain_at:at]
        self.before = bytearray(body[:at])
        if not kind & REGS:
            return
        self.abi, = struct.unpack_from("<Q", body, at)
        at += 8
        count = bin(mask).count("1") if self.abi else 0
        self.regs = list(struct.unpack_from("<%dQ" % count, body, at))
        at += 8 * count
        size, = struct.unpack_from("<Q", body, at)
        used = struct.unpack_from("<Q", body, at + 8 + size)[0] if size else 0
        self.stack = body[at + 8:at + 8 + used]
        at += 8 + size + (8 if size else 0)
        self.after = body[at:]

    def word_at(self, address):
        """The word there in the copy of the stack, or None."""
        at = address - self.regs[SP]
        if not 0 <= at <= len(self.stack) - 8:
            return None
        return struct.unpack_from("<Q", self.stack, at)[0]

    def bytes(self, size=None):
        size = -(-len(self.stack) // 8) * 8 if size is None else size
        out = bytes(self.before) + struct.pack("<Q", self.abi)
        out += struct.pack("<%dQ" % len(self.regs), *self.regs) + struct.pack("<Q", size)
        if size:
            out += self.stack[:size].ljust(size, b"\0")
            out += struct.pack("<Q", min(size, len(self.stack)))
        return out + self.after


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def records(data):
    """The type, misc and body of each record, and the last event's sample_type and registers."""
    at, kind, mask = 16, 0, 0
    while at < len(data):
        type_, misc, size = struct.unpack_from("<IHH", data, at)
        body = data[at + 8:at + size]
        if type_ == 64:
            kind, = struct.unpack_from("<Q", body, 24)
            mask, = struct.unpack_from("<Q", body, 80)
        yield type_, misc, body, kind, mask
        at += size


def callchains(path):
    """The words of each sample's callchain, in the order of the stream."""
    data = open(path, "rb").read()
    for type_, misc, body, kind, mask in records(data):
        if type_ == 9:
            chain = Sample(body, kind, mask).chain
            yield list(struct.unpack_from("<%dQ" % (len(chain) // 8 - 1), chain, 8))


def main(what, *arguments):
    data = open(arguments[-2], "rb").read()
    rng = random.Random(arguments[0])
    out = bytearray(data[:16])
    longest = None
    filled = 0
    chains = callchains(arguments[0]) if what in ("callchains", "every") else None
    for type_, misc, body, kind, mask in records(data):
        if type_ == 64 and what == "shorten":
            body = bytearray(body)
            struct.pack_into("<I", body, 88, int(arguments[0]))
        if type_ != 9:
            out += record(type_, misc, bytes(body))
            continue
        sample = Sample(body, kind, mask)
        if what == "shorten":
            sample.stack = sample.stack[:int(arguments[0])]
            out += record(9, misc, sample.bytes())
        elif what == "callchains":
            words = next(chains)
            # the marker, the leaf, its callers
            has_frame = words[2:3] == [sample.word_at(sample.regs[BP] + 8)]
            words = words[:2] + words[2 + (0 if has_frame else int(arguments[1])):]
            if words[2:3] == words[3:4]:
                # the leaf is in a recursion: what the kernel finds depends on whether it has
                # its frame yet
                words = words[:2]
            del sample.before[-len(sample.chain):]
            sample.before += struct.pack("<%dQ" % (1 + len(words)), len(words), *words)
            out += record(9, misc, sample.bytes())
        elif what == "full":
            if filled == int(arguments[0]):
                continue
            sample.stack = b""
            del sample.before[-len(sample.chain):]
            rest = len(sample.bytes()) + 8
            words = (RECORD_MAX - 8 - rest) // 8 - filled
            sample.before += struct.pack("<%dQ" % (1 + words), words, CONTEXT_KERNEL,
                                         *range(KERNEL, KERNEL + words - 1))
            out += record(9, misc, sample.bytes())
            filled += 1
        elif what == "finish":
            sample.abi, sample.regs, sample.stack = 0, [], b""
            out += record(9, misc, sample.bytes())
        elif what == "random":
            for i in range(rng.choice((0, 0, 1, 3))):
                sample.regs[rng.randrange(len(sample.regs))] = rng.choice(
                    (0, 8, rng.randrange(1 << 64),
                     sample.regs[SP] + rng.randrange(-64, 9000) & (1 << 64) - 1))
            stack = bytearray(sample.stack)
            for i in range(rng.choice((0, 1, 5, 100)) if len(stack) > 8 else 0):
                struct.pack_into("<Q", stack, rng.randrange(len(stack) - 8), rng.choice(
                    (0, rng.randrange(1 << 64), sample.regs[8], sample.regs[SP])))
            sample.stack = bytes(stack)
            out += record(9, misc, sample.bytes())
        else:
            words = len(next(chains))
            if misc & 7 == 2 and (longest is None or words >= longest[0]):
                longest = words, misc, sample
    if what == "every":
        _, misc, sample = longest
        whole, first = sample.stack, struct.unpack_from("<Q", sample.before, sample.time_at)[0]
        for used in range(min(len(whole), 3000) + 1):
            sample.stack = whole[:used]
            struct.pack_into("<Q", sample.before, sample.time_at, first + 1000 * used)
            out += record(9, misc, sample.bytes(-(-len(whole) // 8) * 8 if used % 2 else None))
    open(arguments[-1], "wb").write(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
