#!/bin/sh
# What data addresses are in: variables, stacks, the heap, files.
# kinds: release asan user
. tests/lib.sh
export PYTHONDONTWRITEBYTECODE=1

# named STREAM: a line for each sample: kind, address, name, offset, object, thread
named() {
	pmu-symbolize -q "$1" >"$1.resolved"
	python3 "$TOP/tests/resolved-data.py" "$1.resolved"
}

cat >"$scratch/arrays.c" <<'EOF'
/* Touches each page of two arrays once.  They have no huge pages. */
#include <sys/mman.h>
#include <sys/prctl.h>
static char small[10 << 20];
char large[40 << 20];
static void touch(volatile char *at, long size)
{
	for (long i = 0; i < size; i += 4096)
		at[i] = 1;
}
int main(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	touch(small, sizeof(small));
	touch(large, sizeof(large));
	return 0;
}
EOF

check 'page faults in arrays of 10 and 40 MB are 20 and 80 percent, by name' <<'END'
	unsanitized
	gcc -O1 "$scratch/arrays.c" -o arrays
	lossless s.data pmu-sample -q -e page-faults:u -c 1 --record data -o s.data -- ./arrays
	pmu-symbolize -q s.data | pmu-topprof -q --frames data -o p.pb.gz
	pmu-top -n 1000 --to csv p.pb.gz >top
	tr -d '\r' <top | awk -F, '{ count[$NF] += $1; all += $1 } END {
		print count["small"], count["large"], all - count["small"] - count["large"] }' >got
	read -r small large others <got
	near "$small" 2560 2
	near "$large" 10240 2
	at_most "$others" 300
END

check 'each write to a variable has its name and offset, exactly, in PIE and other files' <<'END'
	unsanitized
	cat >watched.c <<-EOF
		static struct { long first[8]; long hits[4]; } counters[2];
		int main(void)
		{
			for (int i = 0; i < 500; i++)
				*(volatile long *)&counters[1].hits[2] = i;
		}
	EOF
	for how in -no-pie -static -pie; do
		gcc -O1 $how watched.c -o watched
		address=$(nm watched | sed -n "s/^0*\([0-9a-f]*\) b counters$/0x\1/p")
		base=0
		test $how != -pie || base=0x555555554000	# where the kernel puts it if not at random
		address=$(printf "0x%x" $((base + address + 96 + 64 + 16)))
		pmu-events --check "mem:$address/8:w:u" >out || skip "$(cat out)"
		setarch -R true || skip "addresses cannot be the same each time"
		lossless s.data setarch -R pmu-sample -q -e "mem:$address/8:w:u" -c 1 --record data \
			-o s.data -- ./watched
		named s.data | cut -f 1-4 | sort | uniq -c >got
		echo "    500 variable	$address	counters	0xb0" | same - got
	done
END

cat >"$scratch/places.c" <<'EOF'
/*
 * Prints where things are, then writes 100 times to each.  The compiler gives "shared" room in a
 * program that is not PIE (a copy relocation), and "hidden" stays in the library.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern long shared[10];
long *library_hidden(void);
static long *heap;
static pthread_barrier_t ready;
static void write_to(volatile long *at)
{
	for (int i = 0; i < 100; i++)
		*at = i;
}
static void *thread(void *unused)
{
	long local[64] = { 0 };
	printf("thread %p\n", (void *)&local[7]);
	fflush(stdout);
	write_to(&local[7]);
	return unused;
}
int main(void)
{
	pthread_t t;
	long local[64] = { 0 };
	heap = calloc(100, sizeof(long));
	printf("shared %p\nhidden %p\nheap %p\nmain %p\n", (void *)&shared[3],
	       (void *)(library_hidden() + 5), (void *)(heap + 7), (void *)&local[7]);
	write_to(&shared[3]);
	write_to(library_hidden() + 5);
	write_to(heap + 7);
	write_to(&local[7]);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	return 0;
}
EOF
cat >"$scratch/library.c" <<'EOF'
long shared[10] = { 1 };
static long hidden[8] = { 2 };
long *library_hidden(void) { return hidden; }
EOF

# watched NAME...: record writes to these places of ./places, and name them
watched() {
	events=
	for name; do
		events=$events${events:+,}mem:$(sed -n "s/^$name //p" where)/8:w:u
	done
	lossless s.data setarch -R pmu-sample -q -e "$events" -c 1 --record $fields -o s.data -- \
		./places >again
	tail -n "$(wc -l <where)" again | same where -	# the addresses are the same each time
	named s.data | cut -f 1,3,4,5 | sed "s|	/[^	]*/|	|" | sort | uniq -c >got
	cat got
}

# written LINE: ./got has a line that ends so, of 100 samples or a few more: the loader writes, too
written() {
	count=$(sed -n "s|^ *\([0-9]*\) $1.*|\1|p" got)
	at_least "$count" 100
	at_most "$count" 130
}

check 'variables of a library and a program, the heap, and stacks have their names' <<'END'
	unsanitized
	setarch -R true || skip "addresses cannot be the same each time"
	gcc -O1 -shared -fPIC "$scratch/library.c" -o library.so
	gcc -O1 -no-pie -fno-pie -pthread "$scratch/places.c" -L. -l:library.so \
		-Wl,-rpath,"$PWD" -o places
	nm places | grep -q " B shared"		# it is in the program
	setarch -R ./places >where
	pmu-events --check "mem:$(sed -n "s/^heap //p" where)/8:w:u" >out || skip "$(cat out)"
	fields=data,user-regs=sp
	watched shared hidden heap main
	written "variable	shared	0x18	places"
	written "variable	hidden	0x28	library.so"
	written "heap	\[heap\]	$(sed -n "s/^heap //p" where)	"
	written "stack	\[stack of places/[0-9]*\]	$(sed -n "s/^main //p" where)	"
	fields=data
	watched main	# the kernel says where this stack is
	written "stack	\[stack of places/[0-9]*\]	$(sed -n "s/^main //p" where)	"
	fields=data	# has the stack pointer
	watched thread
	written "stack	\[stack of places/[0-9]*\]	$(sed -n "s/^thread //p" where)	"
	named s.data | cut -f 6 | sort -u >tid
	samples s.data tid | tr -d " " | sort -u | same tid -
END

check 'memory of the heap has the name of the function that touched its page first' <<'END'
	unsanitized
	cat >first.c <<-EOF
		#include <sys/mman.h>
		#include <sys/prctl.h>
		#define SIZE (200L * 4096)
		static char *allocate(void *at)
		{
			return mmap(at, SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		}
		__attribute__((noinline)) void writer(volatile char *at)
		{
			for (long i = 0; i < SIZE; i += 4096)
				at[i] = 1;
		}
		__attribute__((noinline)) void other_writer(volatile char *at)
		{
			for (long i = 0; i < SIZE; i += 4096)
				at[i] = 2;
		}
		int main(void)
		{
			prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
			char *block = allocate(0);
			writer(block);
			other_writer(block);	/* no page fault */
			munmap(block, SIZE);
			other_writer(allocate(block));	/* at the same place */
			writer(block);
			return 0;
		}
	EOF
	gcc -O1 first.c -o first
	lossless s.data pmu-sample -q -e page-faults:u -c 1 --record data -g -o s.data -- ./first
	named s.data | awk -F "\t" '$1 == "anonymous" { print $3 }' | sort | uniq -c >got
	cat got
	near "$(sed -n 's/ \[anon of 512Ki to 1Mi: first touched in writer\]$//p' got)" 200 2
	near "$(sed -n 's/ \[anon of 512Ki to 1Mi: first touched in other_writer\]$//p' got)" 200 2
END

check 'a thread has its whole stack; blocks of two sizes have two names' <<'END'
	unsanitized
	cat >blocks.c <<-EOF
		#include <pthread.h>
		#include <sys/mman.h>
		#include <sys/prctl.h>
		__attribute__((noinline)) void touch(volatile char *at, long size)
		{
			for (long i = 0; i < size; i += 4096)
				at[i] = 1;
		}
		static void *thread(void *unused)
		{
			char local[100 * 4096];
			touch(local, sizeof(local));
			return unused;
		}
		int main(void)
		{
			pthread_t t;
			prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
			for (long mib = 32; mib <= 128; mib *= 4)
				touch(mmap(0, mib << 20, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), mib * 10 * 4096);
			pthread_create(&t, NULL, thread, NULL);
			pthread_join(t, NULL);
			return 0;
		}
	EOF
	gcc -O1 -pthread blocks.c -o blocks
	lossless s.data pmu-sample -q -e page-faults:u -c 1 --record data -o s.data -- ./blocks
	named s.data | awk -F "\t" '$1 == "anonymous" || $1 == "stack" && $6 != main { print $3 }
		$1 == "stack" && !main { main = $6 }' | sort | uniq -c >got
	cat got
	near "$(sed -n 's/ \[anon of 32Mi to 64Mi: first touched in touch\]$//p' got)" 320 2
	near "$(sed -n 's/ \[anon of 128Mi to 256Mi: first touched in touch\]$//p' got)" 1280 2
	near "$(sed -n 's/ \[stack of blocks.[0-9]*\]$//p' got | sort -n | tail -n 1)" 100 3
END

# made.py FILE ADDRESS...: a stream of samples with these data addresses.  ./object is mapped at
# 0x10000000: its code, and, if "data" is given, all of it.  The heap is at 0x80000000,
# and other memory above it.
cat >"$scratch/made.py" <<'END'
import os, sys
from streams import *
name = os.path.realpath("object").encode()
fields = IP | TID | TIME | ADDR | PERIOD
segments = [s.split() for s in os.popen("readelf -lW object | grep LOAD").read().splitlines()]
records = [record(64, attr(1, 2, 1, fields, 0) + struct.pack("<Q", 1))]
for s in segments:
    offset, address, memory = int(s[1], 16), int(s[2], 16), int(s[5], 16)
    lead = address % 4096
    is_code = "E" in s[6:-1]
    start, size = 0x10000000 + address - lead, memory + lead + 4095 & ~4095
    if is_code:		# with an inode: its object is not that of the data
        records.append(record(10, struct.pack("<IIQQQIIQQII", 7, 7, start, size, offset - lead,
                                              8, 1, 5, 0, 5, 2) + pad(name)))
    elif sys.argv[2] == "data":
        records.append(record(1, mmap(7, start, size, name, offset - lead), 2 | 0x2000))
for start, size, memory in ((0x80000000, 1 << 28, b"[heap]"), (0xb0000000, 0x21000, b"[stack]"),
                            (0xa0000000, 4096, b"//anon"), (0xa1000000, 4096, b"/SYSV00000001"),
                            (0xa2000000, 4096, b"[anon:arena]"), (0xa3000000, 4096, b"/dev/shm/x")):
    records.append(record(1, mmap(7, start, size, memory, 4096), 2 | 0x2000))
for line in sys.stdin:
    address = int(line, 16) + 0x10000000
    records.append(record(9, struct.pack("<QIIQQQ", 0x10000000, 7, 7, 1, address, 1)))
open(sys.argv[1], "wb").write(pipe(*records))
END
made() { PYTHONPATH="$TOP/tests" python3 "$scratch/made.py" "$@"; }

# symbols_of FILE: address, size and name of its variables, as readelf says
symbols_of() {
	readelf -sW "$1" | awk '$4 == "OBJECT" && $7 ~ /^[0-9]+$/ && $3 != 0 { print $2, $3, $8 }'
}

check 'variables of real files are those of readelf, without records of data mappings, too' <<'END'
	any_user
	unsanitized
	how=code
	for file in "$BIN/pmu-events" "$(gcc -print-file-name=libc.so.6)"; do
		objcopy -R .note.gnu.build-id -R .gnu_debuglink "$file" object	# no debug file
		symbols_of object | sort -u | awk 'NR % 3 == 1' | head -n 400 >symbols
		test "$(wc -l <symbols)" -gt 30
		python3 - >asked <<-EOF
			for line in open("symbols"):
			    address, size, _ = line.split()
			    print("%x" % (int(address, 16) + int(size, 0) - 1))
		EOF
		made s.data $how <asked
		how=data
		pmu-symbolize -q --sysroot / s.data >s.data.resolved
		python3 "$TOP/tests/resolved-data.py" s.data.resolved >got
		symbols_of object >all
		python3 - <<-EOF
			ranges = [l.split() for l in open("all")]
			ranges = [(int(a, 16), int(s, 0), n.split("@")[0]) for a, s, n in ranges]
			lines = [l.split("\t") for l in open("got")]
			assert len(lines) == len(open("asked").readlines())
			for kind, address, name, offset, path, _ in lines:
			    at, offset = int(address, 16) - 0x10000000, int(offset, 16)
			    around = [(a, n) for a, s, n in ranges if a <= at < a + s]
			    start = max(a for a, _ in around)	# of the innermost
			    assert kind == "variable" and at - offset == start, (hex(at), name, around)
			    assert name in [n for a, n in around if a == start], (name, around)
		EOF
	done
END

check 'of several symbols one is chosen by rule; what has none has the name of its file' <<'END'
	any_user
	cat >object.s <<-EOF
		.globl global, _global, outer
		.weak weak
		.data
		.balign 4096
		.type global, @object; .size global, 64
		.type _global, @object; .size _global, 64
		.type local_of_long_name, @object; .size local_of_long_name, 64
		.type weak, @object; .size weak, 64
		global: _global: local_of_long_name: weak: label: .fill 64
		.type no_size, @object
		no_size: .fill 64
		after: .fill 64
		.type outer, @object; .size outer, 128
		.type inner, @object; .size inner, 16
		outer: .fill 32
		inner: .fill 16
		label_in_outer: .fill 80
		.fill 64
		.text
		.globl _start
		.type _start, @function; .size _start, 16
		_start: .fill 32
	EOF
	gcc -nostdlib -static -Wl,--build-id=none object.s -o object
	at() { printf "%x\n" $((0x$(nm object | sed -n "s/ . $1$//p") + $2)); }
	{ at global 5; at no_size 63; at after 8; at outer 1; at inner 3; at label_in_outer 4
	  at label_in_outer 130; at _start 3; at _start 20; } >asked
	made s.data data <asked
	pmu-symbolize -q --sysroot / s.data >r.data
	python3 "$TOP/tests/resolved-data.py" r.data | cut -f 1,3,4 >got
	tail -n 3 asked | sed -n "1s/^/file	object	0x/p; 3s/^/file	object	0x/p" >own
	{ echo "variable	global	0x5"; echo "variable	no_size	0x3f"; echo "variable	after	0x8"
	  echo "variable	outer	0x1"; echo "variable	inner	0x3"; echo "variable	outer	0x34"
	  sed -n 1p own; echo "code	_start	0x3"; sed -n 2p own; } | same - got
	strip object
	made s.data data <asked
	pmu-symbolize -q --sysroot / s.data >r.data
	python3 "$TOP/tests/resolved-data.py" r.data | cut -f 1,3,4 >got
	sed "s/^/file	object	0x/" asked | same - got
END

check 'memory has the name of its mapping; the main stack may have grown below its mapping' <<'END'
	any_user
	printf ".text\n.globl _start\n_start: .fill 32\n" >object.s
	gcc -nostdlib -static -Wl,--build-id=none object.s -o object
	printf "%x\n" 0x70000010 0xa0020010 0x9fffe000 0x98000000 0x90000010 0x91000010 0x92000010 \
		0x93000010 0x95000000 0x60000000 >asked
	made s.data data <asked
	pmu-symbolize -q --sysroot / s.data >r.data
	python3 "$TOP/tests/resolved-data.py" r.data | cut -f 1,3,4,6 >got
	same - got <<-EOF
		heap	[heap]	0x80000010	0
		stack	[stack of 7]	0xb0020010	7
		stack	[stack of 7]	0xafffe000	7
		unknown	[unknown]	0xa8000000	0
		anonymous	[anon]	0xa0000010	0
		file	/SYSV00000001	0x1010	0
		anonymous	[anon:arena]	0xa2000010	0
		file	/dev/shm/x	0x1010	0
		unknown	[unknown]	0xa5000000	0
		unknown	[unknown]	0x70000000	0
	EOF
END

check 'a child has the pages that its parent touched, until it touches them or runs exec' <<'END'
	any_user
	printf ".text\n.globl _start\n.type _start, @function\n_start: .fill 32\n" >object.s
	gcc -nostdlib -static -Wl,--build-id=none,-Ttext=0x401000 object.s -o object
	cat <<-EOF | compose s.data
		import os

		def fault(pid, ip, address):
		    return record(9, struct.pack("<QIIQQ", ip, pid, pid, address, 1))
		NAMED, NAMELESS = 0x401008, 0x500000
		fields = IP | TID | ADDR | PERIOD	# no time: records stay in this order
		out = pipe(record(64, attr(1, 2, 1, fields, 0) + struct.pack("<Q", 1)),
		    record(1, mmap(7, 0x401000, 4096, os.path.realpath("object").encode(), 4096)),
		    record(1, mmap(7, 0x800000, 1 << 20, b"[heap]"), 2 | 0x2000),
		    fault(7, NAMED, 0x800000), fault(7, NAMELESS, 0x801000),
		    record(7, struct.pack("<IIIIQ", 8, 7, 8, 7, 1)),
		    fault(8, NAMELESS, 0x800ff8), fault(8, NAMED, 0x801000), fault(7, NAMELESS, 0x801000),
		    record(3, struct.pack("<II", 8, 8) + pad(b"new"), 2 | 1 << 13),
		    record(1, mmap(8, 0x800000, 1 << 20, b"[heap]"), 2 | 0x2000),
		    fault(8, NAMELESS, 0x800000))
	EOF
	pmu-symbolize -q --sysroot / s.data >r.data
	python3 "$TOP/tests/resolved-data.py" r.data | cut -f 2,3 >got
	same - got <<-EOF
		0x800000	[heap: first touched in _start]
		0x801000	[heap]
		0x800ff8	[heap: first touched in _start]
		0x801000	[heap: first touched in _start]
		0x801000	[heap]
		0x800000	[heap]
	EOF
END

# The symbol table of hostile.py FILE COUNT has so many symbols in one place: equal, nested, of
# sizes up to the end of the address space, or without a size.
cat >"$scratch/hostile.py" <<'END'
import struct, sys
BSS, count = 0x1000000, int(sys.argv[2])
names, symbols = bytearray(b"\0"), [bytes(24)]
for i in range(count):
    start = BSS + i * 7919 % (1 << 24)
    size = (8, 1 << 24, 1 << 40, (1 << 64) - 1 - start, 0)[i % 5]
    symbols.append(struct.pack("<IBBHQQ", len(names), 1, 0, 2, start, size))
    names += b"v%d\0" % i
symbols, sections = b"".join(symbols), b"\0.text\0.bss\0.symtab\0.strtab\0"
parts = [bytes(0x1000), symbols, bytes(names), sections]
at, place = 0x1000, []
for part in parts:
    place.append((at, len(part)))
    at += len(part) + 7 & ~7
def header(name, kind, flags, address, offset, size, link, entry):
    return struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, link, 1, 8, entry)
out = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
    "<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, at, 0, 64, 56, 2, 64, 5, 4)
out += struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0x401000, 0, 0x1000, 0x1000, 4096)
out += struct.pack("<IIQQQQQQ", 1, 6, 0x2000, BSS, 0, 0, 1 << 25, 4096)
out += bytes(0x1000 - len(out)) + b"".join(part + bytes(-len(part) % 8) for part in parts)
out += bytes(64) + header(1, 1, 6, 0x401000, *place[0], 0, 0)
out += header(7, 8, 3, BSS, 0x2000, 1 << 25, 0, 0)
out += header(12, 2, 0, 0, *place[1], 4, 24) + header(20, 3, 0, 0, *place[2], 0, 0)
open(sys.argv[1], "wb").write(out)
END

# exec maps a whole program as its first segment is, records that, and gives back the rest at once
check "variables have their names where the vdso lies between a program's text and its data" <<'END'
	any_user
	printf "%s\n" .text ".globl _start" "_start: .fill 32" .data ".globl lock" \
		".type lock, @object" ".size lock, 8" "lock: .quad 1" >object.s
	gcc -nostdlib -static -Wl,--build-id=none,-Ttext=0x401000,-Tdata=0x420000 \
		-Wl,-z,noseparate-code object.s -o object
	offset=$(readelf -lW object | awk '$1 == "LOAD" && $3 ~ /420000$/ { print $2 }')
	cat <<-EOF | compose s.data
		import os

		path = os.path.realpath("object").encode()
		fields = IP | TID | ADDR | PERIOD
		out = pipe(record(64, attr(1, 2, 1, fields, 0) + struct.pack("<Q", 1)),
		    record(1, mmap(7, 0x400000, 0x22000, path)),
		    record(1, mmap(7, 0x420000, 0x1000, path, $offset), 2 | 0x2000),
		    record(1, mmap(7, 0x421000, 0x1000, b"//anon", 0x421000), 2 | 0x2000),
		    record(1, mmap(7, 0x410000, 0x1000, b"[vdso]")),
		    *[record(9, struct.pack("<QIIQQ", 0x401000, 7, 7, 0x420000 + i, 1)) for i in (0, 4)])
	EOF
	pmu-symbolize -q --sysroot / s.data >r.data
	python3 "$TOP/tests/resolved-data.py" r.data | cut -f 1,3,4 >got
	same - got <<-EOF
		variable	lock	0x0
		variable	lock	0x4
	EOF
END

check 'a million symbols in one place cost a second and little memory' <<'END'
	any_user
	count=1000000
	unlimited=
	if sanitized; then
		count=50000 unlimited=:
	fi
	python3 "$scratch/hostile.py" object $count
	for i in 1 2 3 4 5 6 7 8; do
		printf "%x\n" $((0x1000000 + i * 2000000))
	done >asked
	made s.data code <asked
	$unlimited ulimit -v 400000
	$unlimited ulimit -t 10
	pmu-symbolize -q --sysroot / s.data >r.data
	python3 "$TOP/tests/resolved-data.py" r.data >got
	test "$(grep -c "^variable	" got)" = 8
END

check 'ten thousand addresses of the heap are one datum, and a RESTART changes no name' <<'END'
	any_user
	{ echo ".text; .globl _start; _start: .fill 32; .bss; .balign 4096"
	  seq 0 499 | sed "s/.*/.type variable_&, @object; .size variable_&, 64; variable_&: .skip 64/"
	} >object.s
	gcc -nostdlib -static -Wl,--build-id=none object.s -o object
	start=$(nm object | sed -n "s/ b variable_0$//p")
	python3 - >asked <<-EOF
		for i in range(10000):
		    print("%x" % (0x$start + i * 48 % 32000 if i % 2 else 0x70000000 + 64 * i))
	EOF
	made s.data data <asked
	pmu-symbolize -q --sysroot / s.data >r.data
	pmu-symbolize -q --sysroot / --definitions 4k s.data >restarts.data
	test "$(pmu-stream -q r.data | sed -n 's/^DATA *//p')" = 501
	at_least "$(pmu-stream -q restarts.data | sed -n 's/^RESTART *//p')" 5
	python3 "$TOP/tests/resolved-data.py" r.data >want
	test "$(wc -l <want)" = 10000
	python3 "$TOP/tests/resolved-data.py" restarts.data | same want -
	pmu-topprof -q --frames data r.data -o p.pb.gz
	pmu-topprof -q --frames data restarts.data -o q.pb.gz
	pmu-top -n 1000 --to csv p.pb.gz >top
	pmu-top -n 1000 --to csv q.pb.gz | same top -
	grep -q "^5000,.*,\[heap\]" top
	test "$(grep -c ",variable_[0-9]*" top)" = 500
END

check 'variables of the kernel have the names of kallsyms; other memory of it has none' <<'END'
	any_user
	cat >kallsyms <<-EOF
		0000000000001000 D variable_of_each_cpu
		ffffffff81000000 T _text
		ffffffff81000000 T _stext
		ffffffff81800000 R constants
		ffffffff81a00000 D jiffies
		ffffffff81a00000 D jiffies_64
		ffffffff81a00040 d counters
		ffffffff81a00140 B last_variable
		ffffffffc0001000 t function	[module]
		ffffffffc0003000 b module_variable	[module]
	EOF
	cat <<-EOF | compose s.data
		fields = IP | TID | TIME | ADDR | PERIOD
		out = pipe(record(64, attr(1, 2, 1, fields, 0) + struct.pack("<Q", 1)),
		    record(1, mmap(0xffffffff, 0xffffffff81000000, 0x3f000000, b"[kernel.kallsyms]_text",
		                   0xffffffff81000000), 1),
		    *[record(9, struct.pack("<QIIQQQ", 0xffffffff81000000, 7, 7, 1, address, 1)) for address in
		      (0xffffffff81a00000, 0xffffffff81a00044, 0xffffffff81a00150, 0xffffffff81a03000,
		       0xffffffffc0003010, 0xffff888000001000, 0xffffc90000001000)])
	EOF
	pmu-symbolize -q --kallsyms kallsyms s.data >r.data
	python3 "$TOP/tests/resolved-data.py" r.data | cut -f 1,3,4 >got
	same - got <<-EOF
		kernel-variable	jiffies_64	0x0
		kernel-variable	counters	0x4
		kernel-variable	last_variable	0x10
		kernel	[kernel memory]	0xffffffff81a03000
		kernel-variable	module_variable	0x10
		kernel	[kernel memory]	0xffff888000001000
		kernel	[kernel memory]	0xffffc90000001000
	EOF
END

check 'a DATA record of an undefined object, and a sample of undefined data, are damage' <<'END'
	any_user
	printf ".text\n.globl _start\n_start: .fill 32\n" >object.s
	gcc -nostdlib -static -Wl,--build-id=none object.s -o object
	echo 70000000 | made s.data data
	pmu-symbolize -q --sysroot / s.data >r.data
	python3 - <<-EOF
		import struct
		data = open("r.data", "rb").read()
		at = 16
		while at < len(data):
		    kind, _, size = struct.unpack_from("<IHH", data, at)
		    if kind == 0x504d000a:
		        open("object.data", "wb").write(data[:at + 12] + b"\t\t\0\0" + data[at + 16:])
		    elif kind == 0x504d000c:
		        place = at + size - 16	# no RAW follows
		        open("datum.data", "wb").write(data[:place] + b"\t" + data[place + 1:])
		    at += size
	EOF
	exits 1 pmu-topprof --frames data object.data -o p.pb.gz 2>err
	grep -q "DATA record with impossible fields" err
	exits 1 pmu-topprof --frames data datum.data -o p.pb.gz 2>err
	grep -q "sample of undefined data" err
END
done_testing
