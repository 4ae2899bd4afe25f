#!/bin/sh
# pmu-unwind: what its streams have beside callchains, stacks that were cut or damaged, joined
# stacks, and callchains that the kernel recorded later.
# kinds: release asan
. tests/lib.sh

chains() { python3 "$TOP/tests/chains.py" "$@"; }
dumps() { python3 "$TOP/tests/dumps.py" "$@"; }

# One recording for all checks: s.data, of stacks with some depth, and its program.
source="$TOP/tests/chains.c"
record() {
	gcc -g -O2 -fomit-frame-pointer "$source" -o chains -lpthread &&
	pmu-sample -q -e cpu-clock -F 997 --call-graph dwarf -o s.data -- ./chains sort 150 10
}
if command -v gcc >/dev/null && command -v perf >/dev/null && command -v python3 >/dev/null; then
	(cd "$scratch" && record </dev/null >log 2>&1) || test -n "$unsampled" ||
		{ cat "$scratch/log"; exit 1; }
fi
needs_recording() {
	needs_sampling
	test -s "$scratch/s.data" || skip "no gcc, perf or python3"
}
recording=$scratch/s.data

check 'the kernel part of callchains stays as it was' <<'END'
	unsanitized
	needs_recording
	perf_record -e cpu-clock -F 999 --call-graph dwarf -o k.data -- \
		dd if=/dev/zero of=/dev/null bs=4M count=1000
	pmu-unwind -o u.data k.data
	chains kernel k.data u.data >count
	cat count
	at_least "$(cat count)" 100
END

check 'all records but ATTR, SAMPLE and the command line pass through as they are' <<'END'
	needs_recording
	pmu-unwind -o u.data "$recording"
	for file in "$recording" u.data; do
		pmu-stream --dump "$file" | sed "s/^[^ ]* *//" |
			grep -v "^SAMPLE\|^ATTR\|\"CMDLINE\"" >"${file##*/}.txt"
	done
	test "$(wc -l <s.data.txt)" -gt 20
	same s.data.txt u.data.txt
END

check 'the new events ask for callchains, and no more for registers and stacks' <<'END'
	needs_recording
	pmu-unwind -o u.data "$recording"
	# of all events, the dummy event, too
	asks() {
		pmu-stream --dump "$1" | sed -n "s/.* ATTR .*sample_type=\(0x[0-9a-f]*\).*/\1/p" | uniq
	}
	test $(($(asks "$recording") & 0x3020)) = $((0x3020))
	test $(($(asks u.data) & 0x3020)) = $((0x20))
	pmu-unwind --keep-dumps -o k.data "$recording"
	test "$(asks k.data)" = "$(asks "$recording")"
	chains frames u.data >want
	perf script -f -i k.data -F ip,uregs 2>/dev/null | grep -q " SP:0x"
END

check 'profiles say that stacks were unwound, and how they ended' <<'END'
	needs_recording
	pmu-unwind --join=no -v "$recording" 2>said | pmu-symbolize | pmu-topprof -o p.pb.gz
	go tool pprof -comments p.pb.gz 2>/dev/null >comments
	cat said comments
	# a program's end, of which there may be a sample, has no stack any more
	whole=$(sed -n "s/.* frames: \([0-9.]*\) % whole.*/\1/p" said)
	at_least "$whole" 98
	grep -q "| pmu-unwind --join=no.* ([0-9]* stacks, [0-9.]* frames: $whole % whole[,)]" comments
END

check 'compressed streams and files that can be sought in are read alike' <<'END'
	needs_recording
	pmu-unwind -o u.data "$recording"
	pmu-stream -z -o z.data "$recording"
	pmu-unwind -o from-z.data z.data
	chains frames u.data >want
	chains frames from-z.data | same want -
	perf_record -e cpu-clock -F 997 --call-graph dwarf -o f.data -- true
	pmu-unwind f.data >from-file.data
	pmu-unwind <f.data >from-stdin.data
	pmu-stream --check from-file.data
	chains frames from-file.data >want
	chains frames from-stdin.data | same want -
END

check 'a killed recorder does not say where its file is from: a note says what helps' <<'END'
	needs_recording
	perf record -q -e cpu-clock -F 999 --call-graph dwarf -o k.data -- \
		"$scratch/chains" sort 150 2 || true	# a perf that crashed here has done our work
	python3 -c "
d = bytearray(open('k.data', 'rb').read())
start = int.from_bytes(d[40:48], 'little')
end = start + (int.from_bytes(d[48:56], 'little') or len(d))
d[48:56] = bytes(8)
d[72:104] = bytes(32)
open('cut.data', 'wb').write(d[:end])"
	exits 1 pmu-unwind -o u.data cut.data 2>err
	grep -q "has no build ID of it, and may be from another machine; if .*--sysroot /$" err
	none grep "was recorded on another" err
	exits 1 pmu-unwind -v --sysroot / -o u.data cut.data 2>err
	none grep "may end in" err
END

check 'events with copies of stacks and events without may share a stream' <<'END'
	needs_recording
	perf_record -o m.data -e cpu-clock/call-graph=dwarf,period=1000000/ \
		-e task-clock/call-graph=no,period=1000000/ -- "$scratch/chains" rec 50 5 \
		</dev/null >log
	pmu-unwind -o u.data m.data
	for file in m u; do
		perf script -f -i $file.data -F event,time,ip,sym 2>/dev/null |
			awk "/task-clock/ { on = 1 } /cpu-clock/ { on = 0 } on" >$file.txt
	done
	test -s m.txt
	same m.txt u.txt
	chains whole u.data >whole
	cat whole
END

check 'a stack cut at any byte gives the first frames of the whole one' <<'END'
	needs_recording
	pmu-unwind -o whole.data "$recording"
	dumps every whole.data "$recording" e.data
	pmu-unwind -v --join=no -o u.data e.data 2>said
	cat said
	chains prefixes u.data >counts
	cat counts
	read -r longest total <counts
	at_least "$longest" 15
	at_least "$total" 1000
END

# by_kernel WHAT SKIPPED [OPTION]: stacks cut to 256 bytes, with the callchains of a kernel that
# misses the leaf's SKIPPED first callers; prints how many stacks were cut, continued, wholly or in
# part, wrong
by_kernel() {
	gcc -O2 ${3:--fno-omit-frame-pointer} "$source" -o framed -lpthread
	pmu-sample -q -e cpu-clock:u -F 997 --call-graph dwarf -o full -- ./framed "$1" 50 10
	pmu-unwind -o whole full
	dumps shorten 256 full cut.data
	dumps callchains whole "$2" full full.both
	dumps shorten 256 full.both both.data
	pmu-unwind -q --join=no -o cut cut.data
	pmu-unwind -v --join=no -o continued both.data 2>said
	cat said
	chains joined whole cut continued >counts
	cat counts
	read -r cut right part wrong <counts
	at_least "$cut" 10
	test "$wrong" = 0
}

check 'the kernel has user callers beside the copy: they continue a stack that was cut' <<'END'
	needs_recording
	by_kernel rec 0
	# as far as functions keep a frame pointer: up to the C library, which calls main()
	test $((right + part)) -ge $((cut * 4 / 5))	# of some, only the leaf is in 256 bytes
	pmu-symbolize -q continued | pmu-topprof --to folded >folded
	at_least "$(grep -c "main;rec;rec;rec;rec;rec;rec;rec;rec;rec;rec;rec;" folded)" 1
END

# There, the kernel takes whatever the register has for a frame pointer.
check 'they do not continue it over functions that keep no frame pointer' <<'END'
	needs_recording
	by_kernel rec 0 -fomit-frame-pointer
	test "$right$part" = 00
END

check 'they do not continue it where it is unknown for which frame of a recursion they are' <<'END'
	needs_recording
	by_kernel sort 1
END

check 'where many stacks are longer than what was recorded, a note says what would do' <<'END'
	needs_recording
	pmu-unwind -o u.data "$recording" 2>said
	test ! -s said
	dumps shorten 256 "$recording" c.data
	pmu-unwind -o u.data c.data 2>said
	cat said
	grep -q "cannot be followed .* in the 256 bytes .*try --call-graph dwarf,16384$" said
END

check 'pmu-top and pmu-flame, which run pmu-unwind, pass that note on, once' <<'END'
	needs_recording
	dumps shorten 256 "$recording" c.data
	pmu-top c.data >table 2>said.file
	cat c.data | pmu-top >table 2>said.pipe
	pmu-flame -o page.html c.data 2>said.page
	for said in said.*; do
		cat $said
		test "$(grep -c "stacks cannot be followed to the end in the 256 bytes" $said)" = 1
	done
END

# A leaf needs 2 words, and its stack, which was lost with the copy, 4 that say so.
check 'callers that do not fit a record are left out and counted, and nothing else changes' <<'END'
	needs_recording
	dumps full 12 "$recording" f.data
	pmu-unwind -v --keep-dumps -o u.data f.data 2>said
	cat said
	grep -q " 6 stacks are cut: they do not fit a record" said
	pmu-stream --check u.data
	chains kernel f.data u.data >count
	at_least "$(cat count)" 60000	# of each, perf prints 5,000
END

check 'registers and stacks of any values give callchains that perf reads' <<'END'
	needs_recording
	for seed in 1 2 3 4 5; do
		dumps random $seed "$recording" r.data
		exits 0 pmu-unwind -o u.data r.data
		pmu-stream --check u.data
		test "$(perf_samples u.data)" = "$(perf_samples "$recording")"
	done
END

# hostile PROGRAM RECORDING: unwind with files that were damaged in $SEEDS ways, in bounded time
# and memory; no sample is lost
hostile() {
	libc=$(ldd "$1" | awk "/libc\.so/ { print \$3 }")
	mkdir -p "root${libc%/*}" "root${1%/*}"
	cp "$libc" "root$libc"
	seeds=$(seq "${SEEDS:-20}")
	all=$(stream-stats "$2" | grep "^SAMPLE=")
	python3 "$TOP/tests/hostile-elf.py" $seeds "$1" damaged >ways
	for seed in $seeds; do
		cp "damaged.$seed" "root$1"
		grep "^$seed " ways
		(
			ulimit -t 20
			sanitized || ulimit -v 1000000
			code=0
			pmu-unwind --sysroot root -o u.data "$2" 2>err || code=$?
			test $code -le 1
		)
		test "$(stream-stats u.data | grep "^SAMPLE=")" = "$all"
	done
}

check 'a program whose call frame information is hostile does no harm' <<'END'
	needs_recording
	cp "$recording" s.data
	hostile "$scratch/chains" s.data
END

check 'a program whose .debug_frame is hostile does no harm' <<'END'
	needs_recording
	gcc -g -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables "$source" -o chains -lpthread
	pmu-sample -q -e cpu-clock -F 997 --call-graph dwarf -o s.data -- ./chains sort 100 10
	hostile "$PWD/chains" s.data
END

check 'samples that were unwound before keep their callchains' <<'END'
	needs_recording
	dumps finish "$recording" f.data
	exits 0 pmu-unwind -v -o u.data f.data 2>said
	cat said
	test "$(perf_samples u.data)" = "$(perf_samples "$recording")"
	pmu-stream --dump u.data >dump
	none grep " SAMPLE .*registers" dump
END

check 'what a machine of the other byte order recorded is not unwound, and counted' <<'END'
	needs_recording
	python3 "$TOP/tests/other-order.py" "$recording" other.data
	exits 0 pmu-unwind -v -o u.data other.data 2>said
	cat said
	grep -q " stacks not unwound: " said
	pmu-stream --check u.data
	test "$(perf_samples u.data)" = "$(perf_samples "$recording")"
END

# joins FULL SHARE BYTES...: of the recording FULL, cut to each of BYTES, 1 of SHARE cut stacks gets
# frames of earlier ones, and at most 1 of 100 of these is wrong.  Several hundred are joined, and
# far fewer than 1 of 100 wrongly, so that chance does not exceed the limit.
joins() {
	full=$1 share=$2
	shift 2
	pmu-unwind -q -o whole "$full"
	for bytes; do
		dumps shorten $bytes "$full" c.data
		pmu-unwind -q --join=no -o cut.$bytes c.data
		pmu-unwind -v -o joined.$bytes c.data
		set -- "$@" cut.$bytes joined.$bytes
		shift
	done
	chains joined whole "$@" >counts
	cat counts
	read -r cut right part wrong <counts
	at_least "$cut" $(($(perf_samples "$full") / 10))
	at_least $((right + part)) $((cut / share))
	at_most "$wrong" $(((right + part + wrong) / 100 + 1))
}

check 'a compiler: cut stacks are joined to earlier ones, nearly none of them wrongly' <<'END'
	unsanitized
	needs_recording
	needs_command g++
	g++ -E -std=c++17 "$TOP/tests/recursion.cc" -o r.ii
	pmu-sample -q -e cpu-clock -F 997 --call-graph dwarf,65528 -o w.data -- \
		"$(g++ -print-prog-name=cc1plus)" -quiet -fpreprocessed -O1 -std=c++17 r.ii -o r.s
	cp r.s "$scratch"	# the next check's program
	joins w.data 5 1024 2048 4096
END

check 'a recursion, whose frames are often where others were: the same' <<'END'
	needs_recording
	needs "$scratch/r.s"
	g++ "$scratch/r.s" -o recursion
	pmu-sample -q -e cpu-clock:u -F 1997 --call-graph dwarf,65528 -o w.data -- \
		./recursion 0.4 30 >sum
	joins w.data 5 1024 2048
END

check 'three callers of one function, at one place of the stack, with one object: the same' <<'END'
	unsanitized
	needs_recording
	needs_command gcc
	cat >callers.c <<-"C"
		#include <stdlib.h>
		#include <string.h>
		#define APART __attribute__((noinline)) static
		struct object { int *p; int n; };
		static volatile unsigned sink;
		APART void burn(struct object *o, int n)
		{
			unsigned c = 0;
			for (int k = 0; k < n * 100; k++)
				c = c * 31 + o->p[k % o->n];
			sink += c;
		}
		APART void down(struct object *o, int depth)
		{
			char b[64];
			memset(b, 0, sizeof(b));
			__asm__ volatile("" : : "r"(b) : "memory");
			if (depth)
				down(o, depth - 1);
			else
				burn(o, 40);
			sink += b[9];
		}
		APART void helper(struct object *o, int depth) { down(o, depth); sink++; }
		APART void a(struct object *o, int depth) { helper(o, depth); sink++; }
		APART void b(struct object *o, int depth) { helper(o, depth); sink += 2; }
		APART void c(struct object *o, int depth) { helper(o, depth); sink += 3; }
		int main(void)
		{
			struct object *o = malloc(sizeof(*o));
			o->n = 1000;
			o->p = calloc(o->n, sizeof(int));
			srand(1);
			for (int i = 0; i < 60000; i++) {
				int which = rand() % 10, depth = rand() % 20;
				(which < 7 ? a : which < 9 ? b : c)(o, depth);
			}
		}
	C
	gcc -O2 -fno-optimize-sibling-calls -fno-ipa-icf -fno-ipa-sra callers.c -o callers
	pmu-sample -q -e cpu-clock:u -F 997 --call-graph dwarf,65528 -o w.data -- ./callers
	joins w.data 10 1024
END

check 'deferred callchains: the sample keeps its place and gets the words of its cookie' <<'END'
	needs_recording
	compose d.data <<-"X"
		KERNEL, USER, DEFERRED = (2 ** 64 - n for n in (128, 512, 640))
		kind = IP | TID | TIME | CHAIN | PERIOD
		def sample(time, tid, *words):
		    return record(9, struct.pack("<QIIQQQ", 0x400100, 5, tid, time, 1000, len(words)) +
		                  struct.pack("<%dQ" % len(words), *words))
		def late(time, tid, cookie, *words):
		    return record(22, struct.pack("<QQ", cookie, len(words)) +
		                  struct.pack("<%dQ" % len(words), *words) + struct.pack("<IIQ", 5, tid, time))
		flags = 1 << 18 | 3 << 38
		out = pipe(record(64, attr(1, 0, 1000, kind, flags, 128)),
		    record(1, mmap(5, 0x400000, 0x10000, b"/nosuch/program") + struct.pack("<IIQ", 5, 5, 1)),
		    sample(100, 5, KERNEL, 0xffffffff81000001, DEFERRED, 77),
		    sample(200, 5, KERNEL, 0xffffffff81000002, DEFERRED, 77),
		    sample(300, 6, KERNEL, 0xffffffff81000003, DEFERRED, 77),
		    sample(400, 7, USER, 0x400400),
		    late(500, 5, 77, USER, 0x400500, 0x400600),
		    late(600, 6, 77, 0x400700),
		    sample(700, 8, DEFERRED, 99), record(68, b""), record(68, b""), record(68, b""),
		    sample(800, 8, USER, 0x400800))
	X
	pmu-unwind -v -o u.data d.data 2>said
	cat said
	grep -q "3 callchains got their deferred user part, 1 did not" said
	pmu-stream --dump u.data | sed -n "s/.* SAMPLE .*time=\([0-9]*\) .* period=1000/\1/p" >got
	cat >want <<-"X"
		100 callchain=[0xffffffffffffff80, 0xffffffff81000001, 0xfffffffffffffe00, 0x400500, 0x400600]
		200 callchain=[0xffffffffffffff80, 0xffffffff81000002, 0xfffffffffffffe00, 0x400500, 0x400600]
		300 callchain=[0xffffffffffffff80, 0xffffffff81000003, 0xfffffffffffffe00, 0x400700]
		400 callchain=[0xfffffffffffffe00, 0x400400]
		700
		800 callchain=[0xfffffffffffffe00, 0x400800]
	X
	sed -i "s/\[0x.*, 0xfffffffffffffe00/[..., user/" want got
	same want got
	# perf, which does not know the new record, reads the result
	perf script -f -i u.data -F time,ip >theirs 2>/dev/null
	test "$(awk "/unknown/ { printf \$1 \" \" }" theirs)" = "ffffffff81000001 500 600 $(
		)ffffffff81000002 500 600 ffffffff81000003 700 400 800 "
	# without pmu-unwind, the cookie is not an address either
	pmu-symbolize d.data 2>/dev/null | pmu-stream --dump - >resolved
	grep -q CHAIN_SAMPLE resolved
	none grep -E "address=0x4[cd]( |$)" resolved
END

done_testing
