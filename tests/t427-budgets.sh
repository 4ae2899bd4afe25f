#!/bin/sh
# As t426: packages of debug information and files beside programs (.dwp, .dwo), Go's tables,
# dumps of JIT compilers, and how many files are open.
# kinds: release
. tests/lib.sh
. tests/budgets.sh

# skeletons UNITS ID NAME: make the sections of so many units of 16 bytes of code. Each says that
# its functions are in the unit ID (in terms of i) of the file NAME.
skeletons() {
	units "$1" "bytes([1, 0x4a, 0, 0x11, 1, 0x12, 6, 0x76, 8, 0, 0, 0])" \
		"pack('<HBBIQBQI', 5, 4, 8, 0, $2, 1, 0x401000 + 16 * i, 16) + b'$3\\0'"
	elf q.elf $((16 * $1))
}

# packed FILE SECTION...: make an ELF file of files that are called as its sections
packed() {
	file=$1
	shift
	: | as -o "$file"
	for section; do
		objcopy --add-section ".$section=$section" "$file"
	done
}

# in_package UNITS: so many units are looked up in a package that has almost nothing but the index
# that Python on stdin writes
in_package() {
	{ echo 'from struct import pack'; cat; } | python3 -
	head -c 100 /dev/zero >debug_info.dwo
	packed q.dwp debug_info.dwo debug_cu_index
	stepped $1 16 >addresses
	within 5 200 addr2frames q.elf "" "" q.dwp <addresses
}

check 'a package whose index has no free place: each place is looked at a few times' <<'END'
	skeletons 40000 'i + 1 << 32' none.dwo
	in_package 40000 <<-EOF
	SLOTS = 1 << 18
	open("debug_cu_index", "wb").write(
	    pack("<HHIII", 5, 0, 1, 1, SLOTS) + pack("<Q", 5) * SLOTS +
	    pack("<I", 1) * SLOTS + pack("<III", 1, 0, 0))
	EOF
END

check 'a package whose index has a million columns' <<'END'
	skeletons 20000 5 none.dwo
	in_package 20000 <<-EOF
	COLUMNS = 1000000
	open("debug_cu_index", "wb").write(
	    pack("<HHIII", 5, 0, COLUMNS, 1, 8) + pack("<Q", 5) * 8 +
	    pack("<I", 1) * 8 + pack("<I", 1) * 2 * COLUMNS)
	EOF
END

# beside TYPE: a .dwo file of 100,000 units that all have the ID 7, and the type TYPE
beside() {
	python3 - <<-EOF
	import struct
	unit = struct.pack("<HBBIQQI", 5, $1, 8, 0, 7, 7, 0) + bytes(1)
	open("debug_info.dwo", "wb").write((struct.pack("<I", len(unit)) + unit) * 100000)
	EOF
	packed all.dwo debug_info.dwo
}

# asked UNITS: a stream of samples in so many units of q.elf
asked() {
	with_local s.data <<-EOF
	R.append(executable(1, 0x401000, 16 * $1, os.path.abspath("q.elf"), 0x1000))
	R += [sample(1, 0x401000 + 16 * i) for i in range($1)]
	EOF
}

check 'a .dwo file of many units, all of types, which all units of a program name' <<'END'
	skeletons 10000 7 "$PWD/all.dwo"
	beside 6
	asked 10000
	within 5 200 pmu-symbolize -o r.data s.data
END

check 'a .dwo file of many units of one ID' <<'END'
	skeletons 20 7 "$PWD/all.dwo"
	beside 5
	asked 20
	within 5 200 pmu-symbolize -o r.data s.data
END

# go_table LENGTH: the table (of Go 1.2) of one function of 1 GiB, whose lines are described by
# so many bytes, and end after its last address
go_table() {
	python3 - "$1" <<-'EOF'
		import struct, sys
		length = int(sys.argv[1])
		LAST = 0x401000 + (1 << 30)
		at, values = 8 + 8 + 8 * 3 + 4, 8 + 8 + 8 * 3 + 4 + 40
		table = (struct.pack("<IBBBBQQQQI", 0xfffffffb, 0, 0, 1, 8, 1, 0x401000, at, LAST, 0) +
		         struct.pack("<QIIIIIIII", 0x401000, 4, 0, 0, 0, values, values, 0, 0))
		open("gopclntab", "wb").write(table + bytes(values - len(table)) + b"\2\0" * length)
	EOF
}

check 'tables of forty Go programs whose lines are in one long run' <<'END'
	go_table 50000
	touch debug_str
	elf q.elf 16384
	objcopy --add-section .gopclntab=gopclntab q.elf
	with_local s.data <<-EOF
	bytes_ = open("q.elf", "rb").read()
	for i in range(40):
	    open("q%d" % i, "wb").write(bytes_)
	    R.append(executable(1, 0x10000000 + 0x10000 * i, 0x4000, os.path.abspath("q%d" % i), 0x1000))
	    R += [sample(1, 0x10000000 + 0x10000 * i + 8 * k) for k in range(2000)]
	EOF
	ls -l s.data q0
	within 4 100 pmu-symbolize -o r.data s.data
END

check 'a jitdump file of functions that each cover the ones before, and move; lines descend' <<'END'
	PYTHONPATH=$TOP/tests PYTHONDONTWRITEBYTECODE=1 python3 - <<-EOF
	from jitdumps import *
	FUNCTIONS, LINES = 50000, 200000
	d = Dump()
	out = [d.out]
	def add(kind, body):
	    out.append(d.pack("IIQ", kind, 16 + len(body), len(out)) + body)
	add(2, d.pack("QQ", 0x10000, LINES) + b"".join(
	    d.pack("QII", 0x10000 + LINES - i, i, 0) + b"a\0" for i in range(LINES)))
	for i in range(FUNCTIONS):
	    add(0, d.pack("IIQQQQ", PID, PID, 0, 0x10000 + i, 4 * FUNCTIONS - 2 * i, i) +
	        b"f%d\0" % i)
	for i in range(FUNCTIONS):
	    add(1, d.pack("IIQQQQQ", PID, PID, 0, 0x10000, 0x20000 + i, 3 * FUNCTIONS - i, 0))
	open("jit-4194000.dump", "wb").write(b"".join(out))
	open("s.data", "wb").write(wrap(process(PID, "jit-4194000.dump") + [
	    sample(PID, PID, 2 * i, 0x10000 + i) for i in range(FUNCTIONS)]))
	EOF
	ls -l jit-4194000.dump s.data
	within 10 200 pmu-symbolize -o r.data s.data
	pmu-topprof --to folded r.data >folded
	head -n 3 folded
	at_least "$(grep -c "f[0-9]" folded)" 1000
END

check 'where a user may have few files open, all files of a program are used in turn' <<'END'
	program
	with_local s.data <<-EOF
	here, bytes_ = os.getcwd(), open("t", "rb").read()
	for i in range(300):
	    open("t%d" % i, "wb").write(bytes_)
	    R.append(executable(1, 0x10000000 + 0x2000 * i, 0x2000, "%s/t%d" % (here, i)))
	R += [sample(1, 0x10000000 + 0x2000 * i + $offset + 8) for i in range(300)]
	EOF
	ulimit -n 20
	within 5 64 pmu-symbolize -o r.data s.data
	pmu-topprof --to folded r.data >folded
	head -n 3 folded
	grep -qx "code 300" folded
END

check 'a file of --cache that holds one name 200,000 times' <<'END'
	program --build-id
	with_local s.data <<-EOF
	R += [executable(1, 0x10000000, 0x2000, os.getcwd() + "/t"), sample(1, 0x10000100 + $offset)]
	EOF
	pmu-symbolize --cache kept -o r.data s.data
	python3 - kept/*.index <<-'EOF'
	import struct, sys, zlib
	HEADER = "<QIIQ4I"	# magic, version, checksum from byte 16 on, key, sizes of four tables
	data = open(sys.argv[1], "rb").read()
	magic, version, _, key, *sizes = struct.unpack_from(HEADER, data)
	tables = data[struct.calcsize(HEADER):]
	assert len(tables) == sum(sizes)
	# without its ranges it answers nothing, so it is written anew
	rest = struct.pack("<Q4I", key, 0, *sizes[1:3], sizes[3] + 200000)
	rest += tables[sizes[0]:] + bytes(200000)
	open(sys.argv[1], "wb").write(struct.pack("<QII", magic, version, zlib.crc32(rest)) + rest)
	EOF
	cksum kept/*.index >before
	within 2 64 pmu-symbolize --cache kept -o r.data s.data
	exits 1 sh -c "cksum kept/*.index | cmp -s - before"
	pmu-topprof --to folded r.data >folded
	head -n 3 folded
	grep -qx "code 1" folded
END

check 'records without a time that are joined: what waits for one is bounded' <<'END'
	compose s.data <<-EOF
	kind = IP | TID | PERIOD
	records = [record(64, attr(1, 0, 1, kind, flags=0))]
	records += [record(1, mmap(5, 4096 * i, 4096, b"x" * 1000)) for i in range(100000)]
	out = pipe(*records)
	EOF
	within 5 64 pmu-stream --cat s.data -o j.data
	test "$(pmu-stream j.data | awk '$1 == "MMAP" { print $2 }')" = 100000
END

check 'of 500 files whose symbols were read, the pages of 256 stay in memory' <<'END'
	unsanitized
	{
		echo '.globl _start'
		for i in $(seq 12000); do echo "a_function_with_a_name_of_some_length_$i: nop"; done
		echo '_start: nop'
	} >many.s
	gcc -nostdlib -static -Wl,--build-id=none many.s -o many
	offset=$(readelf -lW many | awk '$1 == "LOAD" && $7 == "R" && $8 == "E" { print $2 }')
	at=$(nm many | awk '$3 == "_start" { print "0x" $1 }')
	start=$(readelf -lW many | awk '$1 == "LOAD" && $7 == "R" && $8 == "E" { print $3 }')
	with_local s.data <<-EOF
	here, bytes_ = os.getcwd(), open("many", "rb").read()
	for i in range(500):
	    open("many%d" % i, "wb").write(bytes_)
	    R.append(executable(1, 0x10000000 + 0x10000 * i, 0x10000, "%s/many%d" % (here, i), $offset))
	R += [sample(1, 0x10000000 + 0x10000 * i + $at - $start) for i in range(500)]
	EOF
	kib=$(($(wc -c <many) / 1024))
	echo "each has $kib KiB"
	at_least "$kib" 600
	within 10 $((256 * kib / 1024 + 40)) pmu-symbolize -o r.data s.data
	pmu-topprof --to folded r.data >folded
	head -n 3 folded
	grep -qx "_start 500" folded
	rm many*
END

# shared_ids BYTES: x.data, a perf.data file of 4096 events that all have the same list of ids, and
# one sample; its messages, of a tool that counts its records, are in "said"
shared_ids() {
	compose x.data <<-EOF
	EVENTS, ENTRY, BYTES = 4096, 80, $1
	a = attr(1, 0, 1, IP | TID | TIME | PERIOD | ID, flags=0, size=64)
	ids = 104 + ENTRY * EVENTS
	sample = record(9, struct.pack("<QIIQQQ", 0x1000, 1, 1, 1000, 1, 1))
	out = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, ENTRY, 104, ENTRY * EVENTS, ids + BYTES,
	                                len(sample), 0, 0) + bytes(32)
	out += (a + struct.pack("<QQ", ids, BYTES)) * EVENTS
	out += struct.pack("<%dQ" % (BYTES // 8), *range(1, BYTES // 8 + 1)) + sample
	EOF
}

check 'events of a perf.data file that share a list of ids: the list is read a few times' <<'END'
	for size in 9600000 65536; do
		shared_ids $size
		within 5 100 pmu-stream x.data
		cat said
		grep -q "x.data.*: a list of event ids of $size bytes is not read: .* overlap" said
		pmu-stream x.data 2>err >shown || :
		head -n 2 shown
		grep -q "^SAMPLE *1$" shown
	done
END

# names EVENTS RECORDS: n.data, a stream of so many equal events, then these records, in Python
names() {
	compose n.data <<-EOF
	a = attr(6, 5, 1, IP | TID | TIME | PERIOD | ID, flags=0, size=64)
	def info(lines):
	    body = struct.pack("<Q", 129) + pad(b"event_type_info\0" + lines + b"\0")
	    return record(80, body)
	def update(name):
	    return record(78, struct.pack("<QQ", 2, 1) + pad(name))
	out = pipe(*[record(64, a + struct.pack("<Q", i + 1)) for i in range($1)], $2,
	           record(9, struct.pack("<QIIQQQ", 0x1000, 1, 1, 1000, 1, 1)))
	EOF
}

check 'a name of many events is kept once; many names of an event are kept up to 16 MB' <<'END'
	names 4096 'info(b"a" * 60000 + b",6,5\n")'
	within 2 30 pmu-stream n.data
	test ! -s said
	names 4096 'info(b"a,6,5\n" * 8000), info(b"a,6,5\nb,6,5\n" * 3000)'
	within 2 30 pmu-stream n.data
	test ! -s said
	names 1 '*[update(b"n" * 8000) for i in range(8000)]'
	within 2 30 pmu-stream n.data
	test ! -s said
	names 1 '*[update(b"%d" % i + b"n" * 8000) for i in range(8000)]'
	within 3 60 pmu-stream n.data
	cat said
	grep -q "more names of events than any recording has" said
	# comparisons are limited, too
	names 4096 '*[info(b",6,5\n".join(b"%d" % i for i in range(6000)))] * 20'
	within 3 60 pmu-stream n.data
	grep -q "more names of events than any recording has" said
END

# long_function ROWS: ./long runs for $1 seconds of CPU time in a function of so many rows
long_function() {
	cat >rows.s <<-ASM
		.globl rows
		.type rows, @function
	rows:	.cfi_startproc
		.rept $1
		nop
		.cfi_remember_state
		.cfi_def_cfa 7, 16
		.cfi_offset 3, -16
		.cfi_restore_state
		.endr
		ret
		.cfi_endproc
		.size rows, . - rows
		.section .note.GNU-stack, "", @progbits
	ASM
	cat >main.c <<-C
		#include <stdlib.h>
		#include <time.h>
		void rows(void);
		int main(int argc, char **argv)
		{
			while (clock() < atof(argv[argc - 1]) * CLOCKS_PER_SEC)
				rows();
			return 0;
		}
	C
	gcc -O2 main.c rows.s -o long
}

check 'stacks in a function of 300,000 rows of call frame information' <<'END'
	needs_command gcc
	long_function 300000
	pmu-sample -q -e cpu-clock:u -F 1000 --call-graph dwarf,1024 -o s.data -- ./long 0.7
	within 1 100 pmu-unwind -v -o u.data s.data
	cat said
	grep -Eq " (9[0-9]|100)[.][0-9] % whole" said
	none grep damaged said
END

done_testing
