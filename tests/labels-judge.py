"""Judge the labels in a raw stream: labels-judge.py PROGRAM STREAM [KEY]

The truth is the function that ran: workA runs with the label user=A, workB with user=B, and so on.
Prints one line: samples, labels records, samples with their labels record right before them and
the same thread, address and time, labels records that have no such sample, right, wrong, none:
samples in these functions whose label is the function's, another, or missing.  It knows nothing of
pmukit: it reads the records, ELF's symbols and headers.
"""
import os
import struct
import subprocess
import sys

program, stream = sys.argv[1:3]
key = sys.argv[3].encode() if len(sys.argv) > 3 else b'user'
data = open(stream, 'rb').read()
path = os.path.realpath(program).encode() + b'\0'  # in MMAP2; others may have the same name

functions = []
for line in subprocess.run(['nm', program], capture_output=True, text=True).stdout.splitlines():
    word = line.split()
    if len(word) == 3 and word[1] in 'tT':
        functions.append((int(word[0], 16), word[2]))
functions.sort()
code = 0
for line in subprocess.run(['readelf', '-lW', program], capture_output=True,
                           text=True).stdout.splitlines():
    word = line.split()
    if word[:1] == ['LOAD'] and 'E' in line[60:]:
        code = int(word[2], 16) - int(word[1], 16)


def letter(ip, bias):
    """The letter of the function at IP, or None."""
    low, high = 0, len(functions)
    while low < high:
        middle = (low + high) // 2
        if functions[middle][0] <= ip - bias:
            low = middle + 1
        else:
            high = middle
    name = functions[low - 1][1] if low else ''
    return name[name.index('work') + 4] if 'work' in name and ip < 1 << 63 else None


def payload(raw):
    """The status, pairs, flags and count in RAW."""
    magic, status, n, flags, form, event, ip, used, count = struct.unpack_from('<IBBBBQQII', raw)
    assert magic == 0x314c4247 and len(raw) >= 32 + used, (magic, used, len(raw))
    at, pairs = 32, []
    for _ in range(2 * n):
        pairs.append(raw[at + 1:at + 1 + raw[at]])
        at += 1 + raw[at]
    assert at == 32 + used, (at, used)
    return status, list(zip(pairs[::2], pairs[1::2])), flags, count, event, ip


at, labels_id, bias, kept = 16, set(), 0, None
count = dict.fromkeys('samples labels joined alone right wrong none cut full'.split(), 0)
statuses = {}
while at < len(data):
    kind, misc, size = struct.unpack_from('<IHH', data, at)
    body = data[at + 8:at + size]
    at += size
    if kind == 64:
        attr_size, = struct.unpack_from('<I', body, 4)
        if struct.unpack_from('<IIQ', body) == (1, attr_size, 10):
            labels_id = set(struct.unpack_from(f'<{(len(body) - attr_size) // 8}Q', body,
                                               attr_size))
            sample_type, = struct.unpack_from('<Q', body, 24)
            fields = bin(sample_type & ~0x400).count('1')
    elif kind == 10 and body[64:64 + len(path)] == path and not bias:
        pid, tid, start, length, offset = struct.unpack_from('<IIQQQ', body)
        bias = start - offset - code
    elif kind == 9:
        ident, ip, pid, tid, time = struct.unpack_from('<QQIIQ', body)
        if ident in labels_id:
            count['labels'] += 1
            count['alone'] += kept is not None
            raw_size, = struct.unpack_from('<I', body, 8 * fields)
            kept = (ip, pid, tid, time, payload(body[8 * fields + 4:][:raw_size]))
            assert kept[4][5] == ip
            continue
        count['samples'] += 1
        pairs, status, flags = [], -1, 0
        if kept and kept[:4] == (ip, pid, tid, time):
            count['joined'] += 1
            status, pairs, flags, all_pairs, event, same_ip = kept[4]
            count['cut'] += all_pairs > len(pairs) or flags & 1
            count['full'] += len(pairs) == all_pairs
        elif kept:
            count['alone'] += 1
        kept = None
        statuses[status] = statuses.get(status, 0) + 1
        want = letter(ip, bias)
        if want in ('A', 'B', 'S'):
            have = dict(pairs).get(key)
            if have and flags & 1:
                have = have[:1]
            count['none' if have is None else 'right' if have == want.encode() else 'wrong'] += 1
print(*(f'{k}={v}' for k, v in count.items()),
      *(f'status{k}={v}' for k, v in sorted(statuses.items())))
