#!/bin/sh
# Files made to take a lot of CPU time or memory: what they take is in proportion to their size.
# kinds: release
. tests/lib.sh
. tests/budgets.sh

# long: skip this check but in make check-all (ALL)
long() { test -n "$ALL" || skip "it takes long: in make check-all"; }

check 'a file of 9,000 names is opened once' <<'END'
	program
	with_local s.data <<-EOF
	os.mkdir("names")
	here = os.getcwd()
	for i in range(9000):
	    os.link("t", "names/%d" % i)
	    R.append(executable(1, 0x10000000 + 0x2000 * i, 0x2000, "%s/names/%d" % (here, i)))
	for i in range(9000):
	    R.append(sample(1, 0x10000000 + 0x2000 * i + $offset + 8))
	EOF
	within 5 100 pmu-symbolize -o r.data s.data
	test ! -s said		# all names are one file, so the limit of 8,128 files is not reached
	pmu-topprof --to folded r.data >folded
	head -n 3 folded
	grep -qx "code 9000" folded
END

check 'of 10,000 files those used last stay open; others are opened again, which is said' <<'END'
	long	# in t427 there are 300, where 20 may be open
	program
	with_local s.data <<-EOF
	os.mkdir("copies")
	here, bytes_ = os.getcwd(), open("t", "rb").read()
	for i in range(10000):
	    open("copies/%d" % i, "wb").write(bytes_)
	    R.append(executable(1, 0x10000000 + 0x2000 * i, 0x2000, "%s/copies/%d" % (here, i)))
	for i in range(10000):
	    R.append(sample(1, 0x10000000 + 0x2000 * i + $offset + 8))
	EOF
	within 10 100 pmu-symbolize -o r.data s.data
	cat said
	test "$(wc -l <said)" = 1
	grep -q "more than 8128 files are mapped" said
	pmu-topprof --to folded r.data >folded
	head -n 3 folded
	grep -qx "code 10000" folded
END

check 'line programs of many units that have one end: each byte is read once' <<'END'
	python3 - <<-EOF
	import struct
	UNITS, PROGRAM, HEADER = 20000, 4000000, 27
	open("debug_abbrev", "wb").write(bytes([1, 0x11, 0, 0x11, 1, 0x12, 6, 0x10, 0x17, 0, 0, 0]))
	info, line = bytearray(), bytearray()
	for i in range(UNITS):
	    die = b"\1" + struct.pack("<QII", 0x401000 + 16 * i, 16, HEADER * i)
	    unit = struct.pack("<HIB", 4, 0, 8) + die
	    info += struct.pack("<I", len(unit)) + unit
	    left = HEADER * (UNITS - i)
	    line += struct.pack("<IHI", left + PROGRAM - 4, 4, left - 10) + bytes(
	        [1, 1, 1, 0xfb, 14, 10]) + bytes(11)
	open("debug_info", "wb").write(info)
	open("debug_line", "wb").write(line + b"\6" * PROGRAM)
	EOF
	elf q.elf 320000
	stepped 20000 16 >addresses
	within 5 200 addr2frames q.elf <addresses
	with_local s.data <<-EOF
	R.append(executable(1, 0x401000, 320000, os.path.abspath("q.elf"), 0x1000))
	R += [sample(1, 0x401000 + 16 * i) for i in range(20000)]
	EOF
	within 5 200 pmu-symbolize -o r.data s.data
	cat said
	grep -q "q.elf.: its debug information refers to the same bytes again and again" said
	test "$(wc -l <said)" = 1
	pmu-topprof --to folded r.data | grep -qx "_start 20000"
END

check 'functions in each other, without siblings: each DIE is read once' <<'END'
	python3 - <<-EOF
	import struct
	FUNCTIONS, INSIDE = 20000, 1000000
	open("debug_abbrev", "wb").write(bytes(
	    [1, 0x11, 1, 0x11, 1, 0x12, 6, 0, 0, 2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 6, 0, 0,
	     3, 0x34, 0, 0, 0, 4, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 6, 0, 0, 0]))
	dies = bytearray(b"\1") + struct.pack("<QI", 0x401000, 16 * FUNCTIONS)
	for i in range(FUNCTIONS):
	    at = 11 + len(dies)
	    dies += b"\2f%d\0" % i + struct.pack("<QI", 0x401000 + 16 * i, 16)
	    if i % 1000 == 0:
	        dies += b"\4" + struct.pack("<IQI", 11 + 13, 0x401000 + 16 * i + 8, 4)
	dies += b"\3" * INSIDE + bytes(FUNCTIONS + 1)
	unit = struct.pack("<HIB", 4, 0, 8) + dies
	open("debug_info", "wb").write(struct.pack("<I", len(unit)) + unit)
	EOF
	elf q.elf 320000
	objcopy -N _start q.elf
	stepped 20000 16 >addresses
	within 5 200 addr2frames q.elf <addresses
	for n in 0 5000 19000; do
		printf "%x\n" $((0x401000 + 16 * n)) $((0x401000 + 16 * n + 8))
	done | addr2frames q.elf | grep -v : >frames
	printf "%s\n" f0 "" f0 f0 "" f5000 "" f0 f5000 "" f19000 "" f0 f19000 "" >want
	same want frames
END

check 'an abbreviation with a million attributes, for a hundred thousand units' <<'END'
	long
	units 100000 \
		'bytes([1, 0x11, 0, 0x11, 1, 0x12, 6]) + bytes([0x3f, 0x19]) * 1000000 + bytes(3)' \
		'pack("<HIBBQI", 4, 0, 8, 1, 0x401000 + 16 * i, 16)'
	elf q.elf 1600000
	stepped 6 16 >addresses
	within 5 200 addr2frames q.elf <addresses
END

check 'tables of abbreviations that have one end, of units that have one each' <<'END'
	units 50000 'bytes([1, 0x11, 0, 0, 0]) * 250000 + b"\0"' 'pack("<HIBB", 4, 5 * i, 8, 1)'
	elf q.elf 1600
	stepped 6 16 >addresses
	within 5 200 addr2frames q.elf <addresses
END

# named SYMBOLS BYTES STEP FILL [LENGTH]: make q.elf, with so many symbols in so many bytes of
# code.  Their names lie in 32 KB, or LENGTH bytes, of the letter FILL: each starts STEP bytes after
# the one before.
named() {
	printf '%s\n' .text "_start: .skip $2, 0x90" '.globl f' '.type f, @function' \
		'f = _start' >q.s
	as q.s -o q.o
	ld -Ttext=0x401000 -e 0x401000 q.o -o q.elf
	python3 - "$1" "$3" "$4" "${5:-32768}" <<-'EOF'
	import struct, sys
	symbols, step, fill = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
	length = int(sys.argv[4])
	b = bytearray(open("q.elf", "rb").read())
	at, = struct.unpack_from("<Q", b, 40)
	size, count = struct.unpack_from("<HH", b, 58)
	table = [list(struct.unpack_from("<IIQQQQIIQQ", b, at + i * size)) for i in range(count)]
	for s in table:
	    if s[1] == 2:
	        s[4], s[5], s[7] = len(b), 24 * (symbols + 1), 1
	        b += bytes(24) + b"".join(
	            struct.pack("<IBBHQQ", i * step % 32000, 0x12, 0, 1, 0x401000 + i, 0)
	            for i in range(symbols))
	        table[s[6]][4:6] = len(b), length
	        b += fill * (length - 1) + b"\0"
	for i, s in enumerate(table):
	    struct.pack_into("<IIQQQQIIQQ", b, at + i * size, *s)
	open("q.elf", "wb").write(b)
	EOF
}

check 'a symbol table whose names are all the same 32 KB of underscores' <<'END'
	named 200000 400000 0 _
	stepped 6 16 >addresses
	within 5 200 addr2frames q.elf <addresses
	addr2frames q.elf <addresses | grep -c "^__*$" >shown
	named 2000 4000 0 _ 32769	# longer texts are not names
	addr2frames q.elf <addresses | grep -c "^__*$" >>shown || :
	printf "%s\n" 6 0 | same - shown
END

check 'thirty thousand names that are parts of each other: 500 MB of names in a small file' <<'END'
	sanitized && skip "it is about memory, which sanitizers take themselves"
	named 32000 32000 1 n
	with_local s.data <<-EOF
	R.append(executable(1, 0x401000, 32000, os.path.abspath("q.elf"), 0x1000))
	R += [sample(1, 0x401000 + i) for i in range(32000)]
	EOF
	within 5 500 pmu-symbolize -o r.data s.data
	cat said
	test "$(grep -c "names of more than 256 bytes take 128 MiB" said)" = 1
END

check 'sixty thousand segments, for twenty thousand addresses' <<'END'
	program
	python3 - <<-EOF
	import struct
	b = bytearray(open("t", "rb").read())
	at, = struct.unpack_from("<Q", b, 32)
	first = bytes(b[at:at + 56])
	b += bytes(-len(b) % 8)
	struct.pack_into("<Q", b, 32, len(b))
	struct.pack_into("<H", b, 56, 60000)
	open("t", "wb").write(b + struct.pack("<IIQQQQQQ", 1, 5, 1 << 40, 0, 0, 9, 9, 9) * 59999 +
	                      first)
	EOF
	with_local s.data <<-EOF
	R.append(executable(1, 0x10000000, 0x2000, os.path.abspath("t")))
	R += [sample(1, 0x10000000 + i % 8192) for i in range(20000)]
	EOF
	within 5 100 pmu-symbolize -o r.data s.data
END

check 'MiniDebugInfo that unpacks to 110 MB' <<'END'
	needs_command xz
	program
	strip t
	head -c 110000000 /dev/zero | xz -0 >mini
	objcopy --add-section .gnu_debugdata=mini t
	echo 1000 >addresses
	within 5 80 addr2frames t <addresses
END

check 'a hundred files, each with sections that unpack to 16 MB: the memory is given back' <<'END'
	sanitized && skip "it is about memory, which sanitizers take themselves"
	program
	python3 - <<-EOF
	import random
	open("debug_info", "wb").write(bytes(100))
	open("debug_abbrev", "wb").write(bytes(100))
	packs = random.Random(1).randbytes(400000)	# 25 to 1; more is refused
	line = b"".join(packs[i:i + 2] + bytes(78) for i in range(0, len(packs), 2))
	open("debug_line", "wb").write(line[:15 << 20])
	EOF
	elf q.elf 4096
	objcopy --compress-debug-sections=zlib q.elf
	with_local s.data <<-EOF
	for i in range(100):
	    bytes_ = open("q.elf", "rb").read()
	    open("q%d" % i, "wb").write(bytes_)
	    R.append(executable(1, 0x10000000 + 0x10000 * i, 0x1000, os.path.abspath("q%d" % i), 0x1000))
	    R.append(sample(1, 0x10000000 + 0x10000 * i))
	EOF
	within 10 1200 pmu-symbolize -o r.data s.data
	pmu-topprof --to folded r.data | grep -qx "_start 100"
END

# relocated MB: rel.o, a relocatable file with a segment: the last of three sections .debug_info
# describes the function "code".  The second has MB megabytes and relocations, and so have six other
# sections, which are the same bytes again.
relocated() {
	cat >rel.s <<-'EOF'
		.text
		.balign 4096
		.globl code
		.type code, @function
		code: .skip 4096, 0x90
		.size code, 4096
		.section .debug_abbrev
		.byte 1, 0x11, 0, 0x11, 1, 0x12, 6, 0, 0, 0
		.section .debug_info, "", @progbits, unique, 1
		.zero 64
		.section .debug_info, "", @progbits, unique, 2
		.long end - begin
		begin: .short 9
		.quad code
	EOF
	echo ".zero $1000000" >>rel.s
	cat >>rel.s <<-'EOF'
		end:
		.section .debug_info, "", @progbits, unique, 3
		.long 20, 4, 0x01080000
		.quad code
		.long 4096
	EOF
	for section in line str line_str ranges rnglists addr; do
		printf '%s\n' ".section .debug_$section" ".quad code"
	done >>rel.s
	as rel.s -o rel.o
	python3 - <<-EOF
	import struct
	b = bytearray(open("rel.o", "rb").read())
	at, = struct.unpack_from("<Q", b, 40)
	size, count, names = struct.unpack_from("<HHH", b, 58)
	table = [list(struct.unpack_from("<IIQQQQIIQQ", b, at + i * size)) for i in range(count)]
	big = max(table, key=lambda s: s[5])
	for i, s in enumerate(table):
	    start = table[names][4] + s[0]
	    name = b[start:b.index(0, start)]
	    if name in (b".debug_line", b".debug_str", b".debug_line_str", b".debug_ranges",
	                b".debug_rnglists", b".debug_addr"):
	        s[4:6] = big[4:6]
	    if name == b".text":
	        text = s[4]
	    struct.pack_into("<IIQQQQIIQQ", b, at + i * size, *s)
	b += bytes(-len(b) % 8)
	struct.pack_into("<Q", b, 32, len(b))
	struct.pack_into("<HH", b, 54, 56, 1)
	open("rel.o", "wb").write(b + struct.pack("<IIQQQQQQ", 1, 5, text, 0, 0, 4096, 4096, 4096))
	EOF
	rel_offset=$(readelf -lW rel.o | awk '$1 == "LOAD" { print $2 }')
}

check 'a relocatable file whose sections overlap: what is copied is limited, and counted' <<'END'
	sanitized && skip "it is about memory, which sanitizers take themselves"
	relocated 20
	program
	with_local s.data <<-EOF
	R.append(executable(1, 0x10000000, 0x1000, os.path.abspath("rel.o"), $rel_offset))
	R.append(executable(1, 0x20000000, 0x2000, os.path.abspath("t")))
	R += [sample(1, 0x10000010), sample(1, 0x20000008 + $offset), sample(1, 0x10000020)]
	EOF
	within 5 80 pmu-symbolize -o r.data s.data
	cat said
	grep -q "rel.o.: some of its debug information overlaps" said
	test "$(wc -l <said)" = 1	# and not that files take more than 1024 MiB
	pmu-topprof --to folded r.data >folded
	cat folded
	grep -qx "code 3" folded
END

# overlapping BYTES FUNCTIONS: q.elf has so many functions of 16 bytes, each with 990 inlined calls
# in each other, whose functions are DIEs that start a byte apart: each has the rest of BYTES as its
# name, and refers to the next
overlapping() {
	python3 - "$@" <<-'EOF'
	from struct import pack
	import sys
	size, functions = map(int, sys.argv[1:])
	def abbrev(code, tag, children, *pairs):
	    return bytes([code, tag, children, *sum(pairs, ()), 0, 0])
	open("debug_abbrev", "wb").write(
	    abbrev(1, 0x11, 1, (0x11, 1), (0x12, 6)) + abbrev(2, 0x2e, 1, (0x11, 1), (0x12, 0xb)) +
	    abbrev(3, 0x1d, 1, (0x31, 0x13), (0x11, 1), (0x12, 0xb)) +
	    abbrev(5, 0x2e, 0, (3, 8), (0x31, 0x13)) +
	    abbrev(6, 0x34, 0, (3, 8), (0x1c, 6)) + b"\0")
	dies = bytearray(b"\1" + pack("<QI", 0x401000, 16 * functions))
	first = 11 + len(dies) + 1
	dies += b"\6" + b"\5" * size + b"\0" + pack("<I", first + 1)
	for i in range(functions):
	    dies += b"\2" + pack("<QB", 0x401000 + 16 * i, 16)
	    for k in range(990):
	        dies += b"\3" + pack("<IQB", first + 1 + i * 990 + k, 0x401000 + 16 * i, 16)
	    dies += bytes(991)
	dies += b"\0"
	open("debug_info", "wb").write(pack("<IHIB", len(dies) + 7, 4, 0, 8) + dies)
	EOF
	elf q.elf $((16 * $2))
	with_local s.data <<-EOF
	R.append(executable(1, 0x401000, 16 * $2, os.path.abspath("q.elf"), 0x1000))
	R += [sample(1, 0x401003 + 16 * i) for i in range($2)]
	EOF
}

check 'names of inlined functions that are parts of each other, in DIEs that overlap' <<'END'
	overlapping 6000000 12
	within 4 64 pmu-symbolize -o r.data s.data
	cat said
	grep -q "q.elf.: its debug information refers to the same bytes again and again" said
	test "$(wc -l <said)" = 1
	test "$(pmu-topprof --to folded r.data | awk '{ n += $NF } END { print n }')" = 12
END

check 'a hundred small files, each with MiniDebugInfo that unpacks to 32 MB' <<'END'
	needs_command xz
	program
	strip t
	{ cat t; head -c 33000000 /dev/zero; } | xz >mini
	objcopy --add-section .gnu_debugdata=mini t
	with_local s.data <<-EOF
	bytes_ = open("t", "rb").read()
	for i in range(100):
	    open("t%d" % i, "wb").write(bytes_)
	    R.append(executable(1, 0x10000000 + 0x10000 * i, 0x2000, os.path.abspath("t%d" % i)))
	    R.append(sample(1, 0x10000000 + 0x10000 * i + $offset + 8))
	EOF
	within 3 64 pmu-symbolize -o r.data s.data
END

check 'small files have a small part of what any file may unpack to, and of the fuel' <<'END'
	head -c 100 /dev/zero >debug_info
	cp debug_info debug_abbrev
	head -c 4000000 /dev/zero >debug_line
	elf q.elf 4096
	objcopy --compress-debug-sections=zlib q.elf
	with_local s.data <<-EOF
	R.append(executable(1, 0x401000, 4096, os.path.abspath("q.elf"), 0x1000))
	R.append(sample(1, 0x401003))
	EOF
	pmu-symbolize -o r.data s.data 2>said
	cat said
	grep -q "q.elf.: some of its debug information .*compressed too well" said
	rm debug_line
	overlapping 1000 1	# 7 MB are referred to
	pmu-symbolize -o r.data s.data 2>said
	cat said
	grep -q "q.elf.: its debug information refers to the same bytes again and again" said
END

check 'a stream of 20 KB that unpacks to 400 MB is read up to a limit, and reported' <<'END'
	python3 - <<-EOF | zstd -q -o s.zst
	import struct, sys
	sys.stdout.buffer.write(b"PERFILE2" + struct.pack("<Q", 16))
	for i in range(400):
	    sys.stdout.buffer.write((struct.pack("<IHH", 68, 0, 4096) + bytes(4088)) * 256)
	EOF
	for tool in 'pmu-stream --stats' pmu-symbolize pmu-topprof pmu-unwind; do
		exits 1 $tool s.zst >out 2>said
		cat said
		grep -q "expands to more than 200 times its size" said
	done
	within 10 64 pmu-symbolize s.zst
END

check 'records that are all the same, in few compressed bytes, are read up to a limit' <<'END'
	cat >samples.py <<-EOF
	import subprocess, sys
	from streams import *
	def packed(b):
	    return subprocess.run(["zstd", "-qc"], input=b, check=True,
	                          stdout=subprocess.PIPE).stdout
	start = pipe(record(64, attr(1, 0, 1, IP | TID | PERIOD, flags=0)))
	part = record(68, b"") * 1000000
	open("whole.data", "wb").write(packed(start + part * 5))
	inside = packed(part)
	parts = [inside[i:i + 60000] for i in range(0, len(inside), 60000)]
	open("inside.data", "wb").write(start + b"".join(record(81, p, 0) for p in parts) * 5)
	open("both.data", "wb").write(packed(open("inside.data", "rb").read()))
	EOF
	PYTHONPATH=$TOP/tests PYTHONDONTWRITEBYTECODE=1 python3 samples.py
	ls -l *.data
	for file in whole inside both; do
		exits 1 pmu-stream $file.data >counts 2>said
		cat said
		grep -q "to more records than it has bytes; the rest is not read" said
		near "$(sed -n 's/^FINISHED_ROUND *//p' counts)" 4000000 100000
	done
	within 8 64 pmu-symbolize -q inside.data
END

check 'kernel code at more places than are kept is shown as [unknown]' <<'END'
	printf '%s T %s\n' ffffffff81000000 _text ffffffff81000100 code >kallsyms
	printf '%s t %s\t[%s]\n' ffffffffa0000000 inside mod0 >>kallsyms
	with_local s.data <<-EOF
	PLACES, AREA = 262144, 0xffffffffa0000000
	def module(at, path):
	    return record(1, mmap(0xffffffff, at, 16, path), 1)
	def kernel_sample(at):
	    return record(9, struct.pack("<QIIQQ", at, 5, 5, 1000, 1), 1)
	R.append(record(1, mmap(0xffffffff, 0xffffffff81000000, 0x1000, b"[kernel.kallsyms]_text",
	                        0xffffffff81000000), 1))
	R += [kernel_sample(0xffffffff81000108), module(AREA, b"[mod0]"), kernel_sample(AREA + 8)]
	both = bytearray(module(0, b"[mod1]"))
	mapped_at, sampled_at = 16, len(both) + 8
	both += kernel_sample(0)
	for i in range(1, PLACES + 10):
	    struct.pack_into("<Q", both, mapped_at, AREA + 16 * i)
	    struct.pack_into("<Q", both, sampled_at, AREA + 16 * i)
	    R.append(bytes(both))
	EOF
	within 10 300 pmu-symbolize --definitions 1Gi -o r.data --kallsyms kallsyms s.data
	cat said
	grep -q "code is at more than 262144 places" said
	pmu-topprof --to folded r.data >folded
	grep -qx "code 1" folded
	grep -qx "inside 1" folded
	grep -qx "\[unknown\] 11" folded
END

check 'a perf map of four names, one for each of four processes, is read once' <<'END'
	mkdir -p root/tmp
	python3 -c "for i in range(150000): print(\"%x 1 function_%x\" % (0x10000 + i, i))" >map
	cp map root/tmp/perf-4000001.map
	for n in 2 3 4; do
		ln root/tmp/perf-4000001.map root/tmp/perf-400000$n.map
	done
	with_local one.data <<-EOF
	R += [executable(4000001, 0x10000, 0x1000000, "//anon"), sample(4000001, 0x10010)]
	EOF
	with_local four.data <<-EOF
	for pid in range(4000001, 4000005):
	    R += [executable(pid, 0x10000, 0x1000000, "//anon"), sample(pid, 0x10010)]
	EOF
	cost pmu-symbolize --sysroot root one.data >costs
	read -r s kib <costs
	within 5 $((kib / 1024 + 32)) pmu-symbolize --sysroot root -o r.data four.data
	pmu-topprof --to folded r.data | grep -qx "function_10 4"
END

check 'perf maps of many processes: names of four million functions, said where they end' <<'END'
	long
	sanitized && skip "it is about memory, which sanitizers take themselves"
	mkdir -p root/tmp
	python3 -c "for i in range(1500000): print(\"%x 1 function_%x\" % (0x10000 + i, i))" >map
	for n in 1 2 3 4 5 6 7 8; do
		cp map root/tmp/perf-400000$n.map
	done
	echo "10000 1000 small" >root/tmp/perf-4000009.map
	with_local s.data <<-EOF
	for pid in range(4000001, 4000010):
	    R += [executable(pid, 0x10000, 0x1000000, "//anon"), sample(pid, 0x10010)]
	EOF
	within 20 900 pmu-symbolize --sysroot root -o r.data s.data
	cat said
	grep -q "perf-400000.\.map.: offset .*: more functions than are kept of all such files" said
	test "$(grep -c "more functions than are kept" said)" -le 4
	pmu-topprof --to folded r.data | grep -qx "function_10 8"
	pmu-topprof --to folded r.data | grep -qx "small 1"
END

check 'a perf map that grows by a line at a time' <<'END'
	mkdir -p root/tmp
	with_local s.data <<-EOF
	R += [executable(4000001, 0x10000, 0x1000000, "//anon"), sample(4000001, 0x10010)]
	EOF
	PYTHONPATH=$TOP/tests PYTHONDONTWRITEBYTECODE=1 python3 - >cpu <<-EOF
	import os, resource, subprocess
	from streams import *
	with open("root/tmp/perf-4000001.map", "w") as m:
	    for i in range(200000):
	        m.write("%x 1 f%x\n" % (0x10000 + i, i))
	    m.flush()
	    p = subprocess.Popen(["pmu-symbolize", "--sysroot", "root"], stdin=subprocess.PIPE,
	                         stdout=subprocess.PIPE)
	    p.stdin.write(open("s.data", "rb").read())
	    for i in range(300):
	        m.write("%x 1 g%x\n" % (0x10000 + i, i))
	        m.flush()
	        s = struct.pack("<QIIQQ", 0x10000 + i, 4000001, 4000001, 2000 + i, 1)
	        p.stdin.write(record(9, s) + record(68, b""))
	        p.stdin.flush()
	        os.read(p.stdout.fileno(), 65536)
	    out = p.communicate()[0]
	    used = resource.getrusage(resource.RUSAGE_CHILDREN)
	    print(used.ru_utime + used.ru_stime)
	EOF
	cat cpu
	sanitized || at_most "$(cat cpu)" 4
END

done_testing
