# SPDX-License-Identifier: Apache-2.0
"""Compare a recording of branch-step with objdump: branch-walk.py RECORDING PROGRAM

Each entry of PROGRAM must start at a branch instruction, and end where this instruction jumps to,
if objdump knows that.  From the end of an entry to the start of the next one, there must be
nothing but whole instructions that do not jump.  Entries and ranges of other files are left out.

Prints the number of entries and of ranges in PROGRAM, and what is wrong."""
import os
import re
import subprocess
import sys

BRANCH = re.compile(r'(bnd |notrack |rep |repz )*(j\w+|call|ret|loop\w*)\b')
ALWAYS = re.compile(r'(bnd |notrack |rep |repz )*(jmp|call|ret)\b')


def instructions(program):
    """Return {address: (next address, text)} of the code in PROGRAM."""
    lines = subprocess.run(['objdump', '-dw', '--no-show-raw-insn', program], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    found = [(int(m[1], 16), m[2]) for m in
             (re.match(r' +([0-9a-f]+):\t(.*)', line) for line in lines) if m]
    return {at: (found[i + 1][0] if i + 1 < len(found) else at, text)
            for i, (at, text) in enumerate(found)}


def perf_script(recording):
    return subprocess.run(['perf', 'script', '--kallsyms', '/dev/null', '-i', recording,
                           '--show-mmap-events', '-F', 'ip,brstack'], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout.splitlines()


def code_segment(program):
    """Return the file offset and the address of the segment with code."""
    lines = subprocess.run(['readelf', '-lW', program], check=True, stdout=subprocess.PIPE,
                           text=True).stdout
    m = re.search(r'LOAD +(0x\w+) (0x\w+) 0x\w+ 0x\w+ 0x\w+ R E', lines)
    return int(m[1], 16), int(m[2], 16)


def stacks(recording, program):
    """Yield the entries of each sample, the oldest first, as addresses in PROGRAM or None."""
    offset, address = code_segment(program)
    maps = []

    def place(at):
        for start, size, file_offset in maps:
            if start <= at < start + size:
                return at - start + file_offset - offset + address
        return None

    for line in perf_script(recording):
        m = re.search(r'PERF_RECORD_MMAP2 .*\[(0x\w+)\((0x\w+)\) @ (\w+) .*: r.xp (.*)', line)
        if m and m[4] == os.path.realpath(program):
            maps.append((int(m[1], 16), int(m[2], 16), int(m[3], 0)))
        entries = re.findall(r'(0x\w+)/(0x\w+)/[MP]/', line)
        if entries:
            yield [(place(int(f, 16)), place(int(t, 16))) for f, t in reversed(entries)]


def main(recording, program):
    code = instructions(program)
    entries = ranges = 0
    wrong = []
    for stack in stacks(recording, program):
        last = None
        for start, end in stack:
            if last is not None and start is not None:
                ranges += 1
                while last in code and last < start and not ALWAYS.match(code[last][1]):
                    last = code[last][0]
                if last != start:
                    wrong.append('a range to %#x has %#x' % (start, last))
            last = end
            if start is None:
                continue
            entries += 1
            text = code.get(start, (0, 'nothing'))[1]
            target = re.search(r'(?:j\w+|call) +([0-9a-f]+)\b', text)
            if not BRANCH.match(text):
                wrong.append('%#x is no branch: %s' % (start, text))
            if end is not None and end not in code:
                wrong.append('%#x leads to %#x, no instruction' % (start, end))
            if target and int(target[1], 16) != end:
                wrong.append('%#x leads to %s: %s' % (start, end and hex(end), text))
    for line in wrong[:20]:
        print(line)
    print(entries, 'entries', ranges, 'ranges', len(wrong), 'wrong')


main(*sys.argv[1:])
