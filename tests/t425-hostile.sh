#!/bin/sh
# Debug information that was made to do harm: it costs a lookup, no more, and others go on.
# kinds: release asan
. tests/lib.sh

# library: t.so of t.s
library() {
	as t.s -o t.o
	ld -shared --build-id t.o -o t.so
}

# made: a library with the function "code", whose debug information is what Python on
# stdin appends to INFO, the DIEs of one unit, and to SECTION, by name; both as lines for as(1)
made() {
	cat >made.py
	PYTHONDONTWRITEBYTECODE=1 python3 - >t.s <<-'END'
	info, section = [], {}
	def abbrev(code, tag, children, *attributes):
	    return f".uleb128 {code}, {tag}\n.byte {children}\n" + "".join(
	        f".uleb128 {a}, {f}\n" for a, f in attributes) + ".byte 0, 0"
	LOW, HIGH, NAME, ORIGIN = (0x11, 1), (0x12, 7), (3, 8), (0x31, 0x13)
	ABBREVS = [abbrev(1, 0x11, 1, NAME, LOW, HIGH, (0x10, 0x17)),
	           abbrev(2, 0x2e, 1, NAME, LOW, HIGH),
	           abbrev(3, 0x1d, 1, ORIGIN, LOW, HIGH, (0x59, 0xf)),
	           abbrev(4, 0x2e, 0, ORIGIN),
	           abbrev(5, 0x2e, 0, ORIGIN, LOW, HIGH),
	           abbrev(6, 0x2e, 0, (0x55, 0x17)),
	           abbrev(7, 0x2e, 0, (3, 0x1a), LOW, HIGH),
	           abbrev(8, 0x1d, 0, ORIGIN, LOW, HIGH, (0x59, 0xf))]
	CODE = ".quad code, 4096"
	FUNCTION = [".uleb128 2", ".asciz \"code\"", CODE, ".byte 0"]
	def line_table(version, sizes, *tables):	# one row, for all of the code
	    return [".long lend - lbegin", f"lbegin: .short {version}", *sizes,
	            ".long hend - hbegin", "hbegin: .byte 1, 1, 1, -5, 14, 13",
	            ".byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1", *tables,
	            "hend:", ".byte 0, 9, 2", ".quad code", ".byte 1",
	            ".byte 2", ".uleb128 4096", ".byte 0, 1, 1", "lend:"]
	exec(open("made.py").read())
	out = []
	def put(*lines):	# print() writes each by itself
	    out.extend(lines)
	put(".text\n.globl code\n.type code, @function\ncode: .skip 4096, 0x90\n.size code, 4096")
	put(".section .debug_abbrev\nabbrevs:", *ABBREVS, *section.pop("abbrev", []), ".byte 0")
	put(".section .debug_info\nunit: .long end - begin\nbegin: .short 5\n.byte 1, 8\n.long 0")
	put(".uleb128 1\n.asciz \"unit\"\n" + CODE + "\n.long 0")
	put(*info, ".byte 0\nend:")
	for name, lines in section.items():
	    put(".section .debug_" + name, *lines)
	print("\n".join(out))
	END
	library
	address=$(nm t.so | sed -n 's/ T code//p')
}

# bounded COMMAND...: in 20 s of CPU time, and $memory KiB of memory, 1 GB (a sanitizer takes
# terabytes)
bounded() {
	(
		ulimit -t 20
		sanitized || ulimit -v ${memory:-1000000}
		exec "$@"
	)
}

# asked: frames at some addresses of it, in bounded time and memory
asked() {
	start=$((0x$address))
	printf '%x\n' $start $((start + 1)) $((start + 7)) $((start + 100)) $((start + 2000)) \
		$((start + 4095)) >addresses
	bounded addr2frames t.so <addresses >frames
	test "$(grep -c '^$' frames)" = 6
}

# code_found: asked, and the function "code" is in the frames
code_found() {
	asked
	grep -q "^code" frames
}

check 'references to themselves, in a circle, out of the section' <<'END'
	made <<-END
	info += ["self: .uleb128 5", ".long self - unit", ".quad code, 50"]
	info += ["one: .uleb128 4", ".long other - unit", "other: .uleb128 4", ".long one - unit"]
	info += [".uleb128 5", ".long one - unit", ".quad code + 50, 1000"]
	info += [".uleb128 5", ".long 0x7fffffff", ".quad code + 1050, 3046"]
	END
	code_found
END

check 'calls inlined into each other a hundred thousand deep' <<'END'
	made <<-END
	info += ["f: .uleb128 2", ".asciz \\"f\\"", CODE]
	info += [".uleb128 3", ".long f - unit", CODE, ".uleb128 9"] * 100000
	info += [".byte 0"] * 100001
	END
	asked
	test "$(grep -c "^f" frames)" -ge 600
	at_most "$(grep -c "^f" frames)" 6000	# 1,000 deep at each of 6 addresses
END

check 'functions, and calls, that cover each other a hundred thousand times' <<'END'
	made <<-END
	info += ["f: .uleb128 2", ".asciz \\"f\\"", CODE, ".byte 0"]
	for i in range(50000):
	    info += [".uleb128 2", ".asciz \\"g\\"", f".quad code + {i % 4000}, 4096", ".byte 0"]
	info += [".uleb128 2", ".asciz \\"code\\"", CODE]
	for i in range(50000):
	    info += [".uleb128 8", ".long f - unit", f".quad code + {i % 3000}, {1 + i % 1000}",
	             ".uleb128 9"]
	info += [".byte 0"]
	END
	asked
END

check 'lengths, counts, codes and indices of 2^60' <<'END'
	made <<-END
	big = 1 << 60
	section["abbrev"] = [f".uleb128 {big}, 0x2e", ".byte 0, 0, 0"]
	section["str_offsets"] = [".long 0xffffffff", f".quad {big}", ".short 5, 0", ".quad 1, 2"]
	section["rnglists"] = [".long 0xffffffff", f".quad {big}", ".short 5", ".byte 8, 0",
	                       ".long 0xffffffff", "list: .byte 3", f".uleb128 {big}, {big}",
	                       ".byte 0"]
	section["line"] = [".long lend - lbegin", "lbegin: .short 5", ".byte 8, 0",
	                   ".long 0x7fffffff", ".byte 1, 1, 1, -5, 14, 13",
	                   ".byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1", ".byte 255",
	                   f".uleb128 {big}, {big}", f".uleb128 {big}", "lend:"]
	info += [".uleb128 7", f".uleb128 {big}", CODE]
	info += [".uleb128 6", ".long 20"]
	info += [f".uleb128 {big}"]
	END
	code_found
END

check 'a line program without an end, and three million rows of one address' <<'END'
	made <<-END
	section["line"] = [".long lend - lbegin", "lbegin: .short 4", ".long hend - hbegin",
	                   "hbegin: .byte 1, 1, 1, -5, 14, 13",
	                   ".byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1", ".byte 0",
	                   ".asciz \\"a.c\\"", ".byte 0, 0, 0", ".byte 0", "hend:",
	                   ".byte 0, 9, 2", ".quad code"] + [".fill 1000, 1, 0x4b",
	                   ".fill 3000000, 1, 0x13", "lend:"]
	info += FUNCTION
	END
	code_found
	grep -q "a\.c:501:" frames	# at 2000, a line for 4 bytes
END

# tables FORM...: a line table of version 5, whose directories have these forms, and are 2^60.
# There is room for ten million of a byte, and no memory for 14 bytes of each.
tables() {
	made <<-END
	forms = "$*".split()
	section["line"] = line_table(5, [".byte 8, 0"], f".byte {len(forms)}",
	                             *[f".uleb128 1, {form}" for form in forms],
	                             f".uleb128 {1 << 60}", ".zero 10000000")
	info += FUNCTION
	END
	memory=150000
	asked
	grep -q ":1:0" frames
}

check '2^60 directories that take no bytes, or one' <<'END'
	tables 0x19
	tables 0x21
	tables 0x19 0x21
	tables 0x0f
	tables 0x0a
	tables 0x16
END

check 'as many directories, or files, of version 4 as there is room for' <<'END'
	memory=150000	# for 25 bytes of each
	for entries in "5000000, 2, 97" "1, 1, 0; .fill 2500000, 5, 97"; do
		made <<-END
		section["line"] = line_table(4, [], ".fill $entries", ".byte 0, 0")
		info += FUNCTION
		END
		asked
		grep -q ":1:0" frames
	done
END

check 'sections that are beyond the file, or as large as all memory' <<'END'
	made <<-END
	info += FUNCTION
	END
	values="2**64 - 1, 1 << 63, 1 << 60, 2**32 - 1, 1" least=50
	! sanitized || test -n "$ALL" || values="2**64 - 1, 1 << 63" least=20	# starts slowly
	python3 - <<-END
	import struct
	b = open("t.so", "rb").read()
	at, = struct.unpack_from("<Q", b, 40)
	size, count = struct.unpack_from("<HH", b, 58)
	for value in $values:
	    for field in 24, 32:	# sh_offset, sh_size: elf(5)
	        for i in range(1, count):
	            c = bytearray(b)
	            struct.pack_into("<Q", c, at + i * size + field, value)
	            open(f"s{i}-{field}-{value}.so", "wb").write(c)
	END
	test "$(ls s*.so | wc -l)" -gt $least
	for file in s*.so; do
		mv $file t.so
		asked
	done
END

check 'codes above a million are not known, also in a table that has room for them' <<'END'
	unsanitized
	for code in 1000000 1100000; do
		made <<-END
		section["abbrev"] = [abbrev($code, 0x1d, 0, ORIGIN, LOW, HIGH), ".zero 3400000"]
		info += ["f: .uleb128 2", ".asciz \"f\"", CODE,
		         ".uleb128 $code", ".long f - unit", ".quad code + 2048, 2048", ".byte 0"]
		END
		asked
		grep -c "^f$" frames >>inlined || :
	done
	cat frames
	printf "%s\n" 1 0 | same - inlined
END

check 'lines of code that repeats itself are packed at 190 to 1, and read' <<'END'
	unsanitized	# others read packed sections
	{
		echo "int f(int n) { volatile int s = 0;"
		yes "s += n;" | head -n 4000
		echo "return s; }"
	} >t.c
	gcc -O1 -g -shared -fPIC t.c -o plain.so
	address=$(nm plain.so | sed -n "s/ T f$//p")
	size=$(nm -S plain.so | sed -n "s/^[0-9a-f]* \([0-9a-f]*\) T f$/\1/p")
	for at in $(seq 0 311 $((0x$size - 1))); do
		printf "%x\n" $((0x$address + at))
	done >addresses
	addr2frames plain.so <addresses >want
	test "$(grep -c "/t\.c:" want)" -gt 100
	none grep ":0:0" want
	for how in zlib zlib-gnu zstd; do
		objcopy --compress-debug-sections=$how plain.so packed.so 2>err || continue
		addr2frames packed.so <addresses >got
		same want got
	done
	test -s got
END

# streamed: hostile.data has samples in t.so, which is below the directory "root"
streamed() {
	compose hostile.data <<-END
	import os
	path = os.path.abspath("t.so").encode()
	fields = struct.pack("<IIQQQQQQII", 5, 5, 0x10000, 0x2000, 0x1000, 0, 0, 0, 5, 2)
	out = pipe(record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0)),
	           record(10, fields + pad(path)),
	           *[record(9, struct.pack("<QIIQQ", 0x10000 + i, 5, 5, 1000 + i, 1))
	             for i in range(100)])
	END
	mkdir -p "root$PWD"
	cp t.so "root$PWD"
}

check 'debug information packed more densely than in any real file is skipped, and reported' <<'END'
	made <<-END
	section["line"] = [".long lend - lbegin", "lbegin: .short 4", ".long hend - hbegin",
	                   "hbegin: .byte 1, 1, 1, -5, 14, 13",
	                   ".byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1", ".byte 0",
	                   ".asciz \"a.c\"", ".byte 0, 0, 0", ".byte 0", "hend:",
	                   ".byte 0, 9, 2", ".quad code", ".fill 9000000, 1, 0x13", "lend:"]
	section["str"] = [".zero 9000000"]
	info += FUNCTION
	END
	objcopy --compress-debug-sections=zlib t.so packed.so
	mv packed.so t.so
	test "$(stat -c %s t.so)" -lt 100000
	code_found
	streamed
	bounded pmu-symbolize --sysroot root hostile.data 2>said >r.data
	cat said
	grep -q "/t\.so.: some of its debug information overlaps, or is compressed too" said
	test "$(wc -l <said)" = 1
END

check 'the first damage in each section is reported once, with its offset; the rest is used' <<'END'
	made <<-END
	section["abbrev"] = ["badabbrev: .uleb128 9, 0x2e", ".byte 0", ".uleb128 3, 0x7777"]
	rows = line_table(4, [], ".byte 0", ".asciz \"a.c\"", ".byte 0, 0, 0", ".byte 0")
	section["line"] = rows[:-1] + ["badline: .byte 0, 0x7f, 5", "lend:"]
	info += [".uleb128 2", ".asciz \"code\"", CODE, ".byte 0", "badinfo: .uleb128 99"]
	END
	code_found
	grep -q "^a\.c:" frames
	streamed
	bounded pmu-symbolize --sysroot root hostile.data 2>messages >r.data
	cat messages
	for section in abbrev info line; do
		at=$(nm t.so | sed -n "s/^0*\([0-9a-f]*\) [A-Za-z] bad$section\$/\1/p")
		grep -q "/t\.so.: .debug_$section is damaged at 0x$at;" messages
	done
	test "$(wc -l <messages)" = 3
	made <<-END
	info += FUNCTION
	END
	streamed
	bounded pmu-symbolize --sysroot root hostile.data 2>messages >r.data
	test ! -s messages
END

# rewritten: t.so as the lines of Python on stdin make it of its bytes B, with its sections,
# lists of the fields of Elf64_Shdr, by name in SECTION; and put() what is changed of them
rewritten() {
	cat >made.py
	python3 - <<-END
	import struct
	b = bytearray(open("t.so", "rb").read())
	headers, = struct.unpack_from("<Q", b, 40)
	size, count, names = struct.unpack_from("<HHH", b, 58)
	table = [list(struct.unpack_from("<IIQQQQIIQQ", b, headers + i * size))
	         for i in range(count)]
	def name(s):
	    at = table[names][4] + s[0]
	    return b[at:b.index(b"\0", at)].decode()
	section = {name(s): s for s in table}
	exec(open("made.py").read())
	for i, s in enumerate(table):
	    struct.pack_into("<IIQQQQIIQQ", b, headers + i * size, *s)
	open("t.so", "wb").write(b)
	END
}

# damaged_at SECTION:OFFSET...: pmu-symbolize reports this damage of t.so, and no other
damaged_at() {
	streamed
	bounded pmu-symbolize --sysroot root hostile.data 2>messages >r.data
	cat messages
	for place; do
		grep -q "/t\.so.: .${place%:*} is damaged at ${place#*:};" messages
	done
	test "$(wc -l <messages)" = $#
}

# named VERSION: pmu-symbolize says once, and nothing else, that it does not read DWARF VERSION
named() {
	streamed
	bounded pmu-symbolize --sysroot root hostile.data 2>messages >r.data
	cat messages
	grep "/t\.so.: some of its debug information is DWARF $1, which is not read;" messages
	test "$(wc -l <messages)" = 1
}

check 'a version of DWARF that is not read is named, once; 0 is not a version' <<'END'
	info="info += FUNCTION * 3"
	for version in 1 6 65535 0; do
		echo "$info" | made
		rewritten <<-END
		struct.pack_into("<H", b, section[".debug_info"][4] + 4, $version)
		END
		if test $version = 0; then
			streamed
			bounded pmu-symbolize --sysroot root hostile.data 2>messages >r.data
			test ! -s messages
		else
			named $version
		fi
	done
	made <<-END
	info += FUNCTION
	section["line"] = line_table(6, [], ".byte 0", ".byte 0")
	END
	named 6
	echo "$info" | made		# the only section of DWARF 1 is .debug
	objcopy --rename-section .debug_info=.debug --remove-section .debug_abbrev t.so
	named 1
END

check 'damage in tables of strings, addresses, ranges and symbols is reported once, too' <<'END'
	made <<-END
	section["abbrev"] = [abbrev(9, 0x2e, 0, NAME, (0x11, 0x1b), HIGH)]
	for name in "str_offsets", "addr":
	    section[name] = [".long 12", ".short 5", ".byte 8, 0", ".quad 0"]
	section["rnglists"] = [".long 12", ".byte 0x77"]
	info += FUNCTION
	info += [".uleb128 7, 9", ".quad code, 16"] * 2
	info += [".uleb128 9", ".asciz \"a\"", ".uleb128 5", ".quad 16"] * 2
	info += [".uleb128 6", ".long 4"] * 2
	END
	damaged_at debug_str_offsets:0x2c debug_addr:0x30 debug_rnglists:0x4
	strip -g t.so
	rewritten <<-END
	symbols, strings = section[".symtab"], section[".strtab"]
	for at in range(symbols[4], symbols[4] + symbols[5], 24):
	    if b[at + 4] & 15 == 2:	# STT_FUNC
	        struct.pack_into("<I", b, at, strings[5])
	        print("%x" % (at - symbols[4]), file=open("want", "w"))
	section[".dynstr"][4] = 1 << 40
	END
	damaged_at dynstr:0x0 symtab:0x$(cat want)
END

check 'damage in the table of a Go program is reported once, with its offset' <<'END'
	made <<-END
	info += FUNCTION
	END
	printf "%s\n" ".section .gopclntab,\"a\"" ".long 0xfffffff1" ".byte 0, 0, 1, 8" \
		".quad 1, 1, 0, 80, 80, 80, 80, 72" ".long 0, 0x7000, 0x100000" ".quad 0" >>t.s
	library
	strip t.so
	damaged_at gopclntab:0x7048
END

check 'a hundred thousand symbols of one address that share a name of 4 MB' <<'END'
	made <<-END
	info += FUNCTION
	END
	rewritten <<-END
	symbols, strings = section[".symtab"], section[".strtab"]
	entries = bytes(b[symbols[4]:symbols[4] + symbols[5]])
	names = bytes(b[strings[4]:strings[4] + strings[5]])
	one = next(entries[i:i + 24] for i in range(0, len(entries), 24) if names[
	    struct.unpack_from("<I", entries, i)[0]:].startswith(b"code\0"))
	entries += (struct.pack("<I", len(names)) + one[4:]) * 100000
	names += b"n" * 4000000 + b"\0"
	for s, bytes_ in ((symbols, entries), (strings, names)):
	    s[4], s[5] = len(b), len(bytes_)
	    b += bytes_
	END
	code_found
END

# go_like: t.so is taken for a Go program whose table the C linker moved
go_like() {
	made <<-END
	info += FUNCTION
	END
	printf "%s\n" ".section .go.buildinfo,\"a\"" ".quad 0" \
		".section .data.rel.ro,\"aw\"" ".skip 4096" >>t.s
	library
	strip -g t.so
}

check 'a table of Go, somewhere in 2^62 bytes that are not there' <<'END'
	go_like
	rewritten <<-END
	section[".data.rel.ro"][5] = 1 << 62
	END
	printf "%x\n" 4096 >addresses
	bounded addr2frames -g t.so <addresses >frames || test $? = 1
END

check 'sixty thousand headers of the same megabytes of notes' <<'END'
	made <<-END
	info += FUNCTION
	END
	rewritten <<-END
	notes = len(b)
	b += struct.pack("<III4s", 4, 0, 1, b"XXX\0") * 262144
	struct.pack_into("<QQ", b, 32, len(b), headers)
	struct.pack_into("<H", b, 56, 60000)
	b += struct.pack("<IIQQQQQQ", 4, 4, notes, 0, 0, 4 << 20, 4 << 20, 4) * 60000
	END
	asked
END

# sparse SECTION: of t.so it is at the end now, and before 80 MB that take no space on the disk,
# but for two: where there are fewer the file is not read at all
sparse() {
	rewritten <<-END
	s = section["$1"]
	bytes_ = b[s[4]:s[4] + s[5]]
	s[4], s[5] = len(b), 80 << 20
	b += bytes_ + bytes(2 << 20)
	END
	truncate -s 90M t.so
}

check 'units without bytes, in a sparse file' <<'END'
	made <<-END
	info += FUNCTION
	END
	sparse .debug_info
	code_found
END

check 'a list of a hundred thousand ranges, for two thousand functions of a sparse file' <<'END'
	sanitized && skip "it is about time, which is limited without sanitizers, too"
	made <<-END
	section["rnglists"] = ["list:"] + [f".byte 4, {i % 100}, {1 + i % 100}"
	                                   for i in range(100000)] + [".byte 0"]
	info += [".uleb128 6", ".long list"] * 2000
	info += FUNCTION
	END
	sparse .debug_info
	code_found
END

check 'a hundred tables of abbreviations, each with a code of a million' <<'END'
	made <<-END
	tables = range(100)
	section["info"] = [line for i in tables for line in (".long 12", ".short 5", ".byte 1, 8",
	                   f".long t{i} - abbrevs", ".uleb128 1048575", ".byte 0")]
	section["info"] += [".section .debug_abbrev"] + [line for i in tables for line in (
	                    f"t{i}: .uleb128 1048575, 0x11", ".byte 0, 0x1b, 8, 0, 0, 0")]
	section["info"] += [".zero 4000000"]
	info += FUNCTION
	END
	code_found
END

check 'root DIEs with codes of 2^60 and 2^64 - 1' <<'END'
	made <<-END
	codes = [1 << 60, (1 << 64) - 1]
	section["info"] = [line for i, code in enumerate(codes) for line in (
	                   f".long e{i} - b{i}", f"b{i}: .short 5", ".byte 1, 8",
	                   f".long t{i} - abbrevs", f".uleb128 {code}",
	                   f".quad code + {4096 * (i + 1)}, 4096", ".uleb128 5000000, 0",
	                   f"e{i}:")]
	entry = ".byte 0x11, 1, 0x11, 1, 0x12, 7, 0, 0, 0"
	section["info"] += [".section .debug_abbrev", f"t0: .uleb128 {codes[0]}", entry,
	                    f"t1: .uleb128 {codes[1]}", entry]
	info += FUNCTION
	END
	code_found
	printf "%x\n" $((0x$address + 5000)) $((0x$address + 9000)) | bounded addr2frames t.so
END

check 'the pipe survives all these: each address stays, and other functions have names' <<'END'
	made <<-END
	info += ["self: .uleb128 5", ".long self - unit", CODE]
	info += ["f: .uleb128 2", ".asciz \\"f\\"", CODE]
	info += [".uleb128 3", ".long f - unit", CODE, ".uleb128 9"] * 20000
	info += [".byte 0"] * 20001
	END
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ten serial 0.3
	streamed
	bounded pmu-symbolize --sysroot root hostile.data >r.data
	pmu-topprof r.data >p.pb.gz
	go tool pprof -raw p.pb.gz >raw 2>/dev/null
	test "$(sed -n "/^Samples/,/^Locations/p" raw | grep -c "^  *1 ")" = 100
	pmu-symbolize s.data | pmu-topprof >p.pb.gz
	go tool pprof -top p.pb.gz 2>/dev/null | grep -q " J$"
END

done_testing
