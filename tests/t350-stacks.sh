#!/bin/sh
# Stacks of programs: their dumps are trimmed; what cuts them short is shown.
# kinds: release user
. tests/lib.sh

dumps() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/stack-dumps.py" "$@"; }

# A program whose chain is known: 20 calls of down(), then leaf(), without frame pointers.  leaf()
# has a page fault about each ms.
cat >"$scratch/deep.c" <<'END'
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static volatile unsigned long sink;

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

__attribute__((noinline)) static int leaf(long ms)
{
	volatile char *page = mmap(0, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long x = 1;

	for (long end = cpu_ms() + ms; cpu_ms() < end; ) {
		madvise((void *)page, 1, MADV_DONTNEED);
		*page = 1;
		for (int i = 0; i < 700000; i++)
			x = x * 6364136223846793005u + 1;
	}
	sink = x;
	return 1;
}

__attribute__((noinline)) static int down(int depth, long ms)
{
	char room[256];

	room[depth] = (char)depth;
	sink += (unsigned long)room[depth / 2];
	return depth ? down(depth - 1, ms) + 1 : leaf(ms) + 1;
}

int main(int argc, char **argv)
{
	return down(19, argc > 1 ? atol(argv[1]) : 100) == 0;
}
END
gcc -O1 -g -fomit-frame-pointer -fno-optimize-sibling-calls "$scratch/deep.c" -o "$scratch/deep" ||
	exit 1

# chains_of STREAM: each distinct chain that perf unwinds, in one line of names, leaf first
chains_of() { samples "$1" ip,sym | in_lines; }

# in_lines: the same of what perf script has printed
in_lines() {
	awk '
		NF > 1 { chain = chain " " $2 }
		NF == 0 && chain != "" { print chain; chain = "" }
		END { if (chain != "") print chain }' | sort | uniq -c
}

check 'dumps are as long as the stack, and unwind as if they had been recorded whole' <<'END'
	pmu-sample -e cpu-clock:u -F 1000 --call-graph dwarf,32768 -o s.data -- "$scratch/deep" 100
	dumps sizes s.data >sizes
	at_least "$(wc -l <sizes)" 40
	# 20 frames of 256 bytes and more: less than 16 KiB with arguments and environment
	awk '{ if ($1 % 8 || $1 < $2 || $1 >= $2 + 8) wrong++; deep += $2 >= 5120; all += $1 }
		END { print all / NR, wrong + 0, deep
		      exit wrong > 0 || deep < 40 || all / NR > 16384 }' sizes
	dumps fill 32768 s.data filled.data
	at_least "$(wc -c <filled.data)" $((2 * $(wc -c <s.data)))
	samples s.data time,ip,sym,dso >got
	samples filled.data time,ip,sym,dso >want
	same want got
	in_lines <got >chains
	cat chains
	down=$(printf ' down%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
	at_least "$(awk -v chain=" leaf$down main " '
		index($0, chain) { n += $1 } END { print n }' chains)" 40
END

check 'dumps are trimmed for several events, and in the flight recorder' <<'END'
	any_user
	pmu-sample -e cpu-clock:u -e task-clock:u -F 500 --call-graph dwarf,65528 -o s.data -- \
		"$scratch/deep" 100
	pmu-sample --flight-recorder -m 4Mi -e cpu-clock:u -F 500 --call-graph dwarf,65528 \
		-o f.data -- "$scratch/deep" 100
	for stream in s f; do
		dumps sizes $stream.data >sizes
		# a ring holds dumps of full size, so a small one, where ulimit -l is, holds few
		least=20
		test $stream = s || least=1
		at_least "$(wc -l <sizes)" $least
		none awk '$1 % 8 || $1 < $2 || $1 >= $2 + 8' sizes
		at_least "$(chains_of $stream.data | grep -c 'down down main')" 1
	done
END

# A program that spends its time in spin(), with a frame pointer that the argument chooses:
# "text": the frame's return address is the text DLL=/bin; "null": there is no frame;
# "good": two frames, called() and caller().
cat >"$scratch/frames.c" <<'END'
#include <stdint.h>
#include <string.h>

struct frame { const struct frame *next; uint64_t return_address; };

__attribute__((noinline)) void called(void) { __asm__ volatile ("nop"); }
__attribute__((noinline)) void caller(void) { __asm__ volatile ("nop"); }

/* Run ROUNDS rounds with the frame pointer FRAME. */
__attribute__((noinline)) static void spin(const struct frame *frame, uint64_t rounds)
{
	__asm__ volatile ("push %%rbp; mov %0, %%rbp\n"
			  "1: dec %1; jnz 1b\n"
			  "pop %%rbp" : "+r" (frame), "+r" (rounds) : : "memory");
}

int main(int argc, char **argv)
{
	static const struct frame text = { NULL, 0x6e69622f3d4c4c44 };
	struct frame caller_frame = { NULL, (uint64_t)caller + 1 };
	struct frame good = { &caller_frame, (uint64_t)called + 1 };
	const char *how = argc > 1 ? argv[1] : "good";

	spin(!strcmp(how, "text") ? &text : !strcmp(how, "null") ? NULL : &good, 300000000);
	return 0;
}
END
if test "$(uname -m)" = x86_64; then
	gcc -O1 -mno-red-zone "$scratch/frames.c" -o "$scratch/frames" || exit 1
fi
needs_frames() { test -x "$scratch/frames" || skip "not x86-64"; }

# folds FILE OPTION...: its folded lines, without values and labels
folds() { pmu-topprof --label none --to folded "$@" | sed 's/ [0-9]*$//' | sort -u; }

check 'an address outside code is not a caller: the stack ends before it, counted' <<'END'
	any_user
	needs_frames
	pmu-sample -e cpu-clock:u -F 1000 -g -o s.data -- "$scratch/frames" text
	samples s.data ip | grep -q 6e69622f3d4c4c44	# so perf shows it
	pmu-symbolize -v s.data >named.data 2>err
	cat err
	test "$(grep -c '(code without frame pointers): record with --unwind$' err)" = 1
	grep -Eq ': (9[0-9]|100) % of the stacks lack callers' err
	grep -Eq 'stacks of programs, cut: (9[0-9]|100)\.[0-9] % no code' err
	folds named.data | tee folded
	none grep -i '0x\|6e69\|unknown\|cut' folded
	grep -qx spin folded
	folds named.data --frames cut | tee folded
	grep -Fqx '[cut: no code];spin' folded
	folds s.data --frames cut 2>err | grep -Fq '[cut: no code];'
	grep -q 'record with --unwind$' err
	pmu-topprof -o p.pb.gz named.data 2>err
	none cat err		# pmu-symbolize has said it
	go tool pprof -comments p.pb.gz | grep -Eq '^cut stacks.*(9[0-9]|100)\.[0-9] % no code'
END

check 'stacks of one frame are counted, and named if asked for' <<'END'
	any_user
	needs_frames
	pmu-sample -e cpu-clock:u -F 1000 -g -o s.data -- "$scratch/frames" null
	pmu-symbolize -v s.data >named.data 2>err
	grep -Eq ': (9[0-9]|100) % of the stacks lack callers' err
	grep -Eq 'stacks of programs, cut: .*(9[0-9]|100)\.[0-9] % one frame' err
	folds named.data --frames cut | grep -Fqx '[cut: no unwind information];spin'
	folds named.data | grep -Fqx spin
	# the program is not the filter of that name
	cp "$scratch/frames" pmu-unwind
	pmu-sample -e cpu-clock:u -F 1000 -g -o s.data -- ./pmu-unwind null
	pmu-symbolize -v s.data 2>&1 >named.data | grep -q 'cut: .*[0-9] % one frame'
END

check 'no word about stacks that are whole, or were not asked for' <<'END'
	any_user
	needs_frames
	for how in "text" "null" "good -g"; do
		set -- $how
		pmu-sample -e cpu-clock:u -F 1000 $2 -o s.data -- "$scratch/frames" "$1"
		pmu-symbolize s.data >named.data 2>err
		folds named.data --frames cut >folded 2>>err
		grep spin folded
		folds s.data --frames cut >unnamed 2>>err
		none grep unwind err
		# not those of the loader, which has no frame pointers
		none grep 'cut: .*spin' folded
		test -n "$2" || none grep 'cut: ' folded
	done
	folds named.data | grep -Fqx 'caller;called;spin'
END

check 'dumps that were not unwound are noticed, once; the status is 0' <<'END'
	any_user
	pmu-sample -e cpu-clock:u -F 1000 --call-graph dwarf -o s.data -- "$scratch/deep" 100
	note="samples hold stacks that were not unwound: put pmu-unwind before"
	exits 0 pmu-symbolize s.data >named.data 2>err
	test "$(cat err)" = "pmu-symbolize: $note pmu-symbolize"
	exits 0 pmu-topprof -o p.pb.gz s.data 2>err
	test "$(cat err)" = "pmu-topprof: $note pmu-topprof"
	go tool pprof -comments p.pb.gz | grep -q 'not unwound'
	exits 0 pmu-topprof -o p.pb.gz named.data 2>err
	none cat err
END

# chains FILE WORDS...: a stream of one process with code at 0x1000..0x9000, one sample for each
# line of words, a callchain
chains() {
	file=$1
	shift
	compose "$file" <<-END
		words = [[int(word, 0) for word in line.split(",")] for line in "$*".split()]
		out = pipe(record(64, attr(1, 0, 1000, IP | TID | TIME | CHAIN, 1 << 18) + bytes(8)),
		    record(3, struct.pack("<II", 7, 7) + pad(b"prog"), 0),
		    record(1, mmap(7, 0x1000, 0x8000, b"/prog", 0)),
		    *[record(9, struct.pack("<QIIQQ", line[1], 7, 7, 1 + i, len(line)) +
		        struct.pack("<%dQ" % len(line), *[word % 2 ** 64 for word in line]))
		        for i, line in enumerate(words)])
	END
}

check 'a cookie of a deferred callchain is not an address' <<'END'
	any_user
	chains s.data -512,0x2000,0x3001,0x4001 -512,0x2000,-640,0x3001
	folds s.data >folded
	cat folded
	test "$(awk -F ';' '{ print NF }' folded | sort | tr '\n' ' ')" = "1 3 "
END

check 'the cause that markers at the end of a callchain say; perf prints the same without' <<'END'
	any_user
	chain=-512,0x2000,0x3001
	chains s.data $chain $chain,-512 $chain,-512,-512 $chain,-512,-512,-512 \
		$chain,-512,-512,-512,-512
	chains plain.data $chain $chain $chain $chain $chain
	samples plain.data time,ip,sym >want
	samples s.data time,ip,sym | same want -
	at_least "$(grep -c 3001 want)" 5
	folds s.data --frames cut | grep -o '^.cut[^;]*' >marks
	printf '[cut: %s]\n' "dump too short" "no code" "no unwind information" | same - marks
	folds s.data >folded
	test "$(wc -l <folded)" = 1
	pmu-symbolize s.data | folds - --frames cut | grep -o '^.cut[^;]*' | same marks -
	# an address after the last marker: the markers are not the cause
	chains s.data $chain,-512,-512,0x4000
	folds s.data --frames cut >folded
	none grep cut folded
END

# A program that does the same for ever.
forever="$scratch/deep 1000000000"

# Which stacks are whole: leaf, 20 times down, main and what called it.
whole_chains() {
	chains_of "$1" | awk -v chain=" leaf$(printf ' down%.0s' $(seq 20)) main " '
		index($0, chain) { n += $1 } END { print n + 0 }'
}

# ordered STREAM: each sample is not older than the one before
ordered() {
	dumps times "$1" >times
	sort -nc times
}

# start_unwinding OPTION...: sample each page fault of $target into u.data; $sampler, and $helper,
# its other process.  The target stands still until its events have their rings: what it does
# between these two moments is counted, but not sampled.
start_unwinding() {
	runs 20		# it is in leaf() by now
	kill -STOP "$target"
	eventually grep -q "^State:.T" "/proc/$target/status"
	pmu-sample -v --unwind -e page-faults:u -c 1 -o u.data "$@" -p "$target" 2>err &
	sampler=$!
	eventually test -s u.data
	kill -CONT "$target"
	helper=$(cat /proc/$sampler/task/$sampler/children)
	helper=${helper% }
	test "$(cat "/proc/$helper/comm")" = pmu-unwind
}
some_files() { set -- "$1".*; test -e "$1"; }
start_target() {
	$forever &
	target=$!
}
# runs MS: the target gets so much more CPU time
runs() { eventually has_run "$target" $(($(cpu_ms "$target") + $1)); }
# some_unwound: u.data has 20 samples without dumps, at least
some_unwound() { dumps sizes u.data >so-far && at_least "$(awk '!$1' so-far | wc -l)" 20; }
# stop_unwinding: the recording ends well, and has every sample that was taken
stop_unwinding() {
	kill -INT $sampler
	wait $sampler
	cat err
	# users share what ulimit -l and kernel.perf_event_mlock_kb allow: full dumps need room
	! grep -q "rings have [0-9]* KiB, not" err || skip "others have locked the memory for rings"
	ordered u.data
	# a small ring loses samples where the sampler has to wait for a CPU, and says so
	set -- $(sed -n "s/.*page-faults:u: \([0-9]*\) counted.*lost \([0-9]*\) samples/\1 \2/p" err)
	all=$(perf_samples u.data)
	test $((all + $2)) = "$1"
}

# all_whole: so are the stacks of the samples that stop_unwinding found, but some at the start
all_whole() { at_least "$(whole_chains u.data)" $((all - all / 4)); }

check 'stacks are unwound on the way: all are whole, in order, and no dump is left' <<'END'
	exits 0 pmu-sample -v --unwind -e cpu-clock:u -F 1000 -o u.data -- "$scratch/deep" 200 2>err
	cat err
	ordered u.data
	dumps sizes u.data >sizes
	none awk '$1' sizes
	all=$(wc -l <sizes)
	at_least "$all" 80
	at_least "$(whole_chains u.data)" $((all - 20))	# not those of the loader
	pmu-symbolize u.data 2>notes | folds - >folded
	none cat notes
	grep -q "main$(printf ';down%.0s' $(seq 20));leaf$" folded
	pmu-sample --unwind -g -z -e cpu-clock:u -F 1000 -- "$scratch/deep" 100 |
		pmu-symbolize | folds - | grep -q "down;leaf$"
	exits 2 pmu-sample --unwind --call-graph fp -- true 2>err
	grep -q "copies of the stack" err
END

check 'stacks of threads that wait are unwound, too: vfork() has its caller in a register' <<'END'
	test "$(id -u)" = 0 || skip "not root, who alone sees threads switch"
	pmu-sample --unwind --off-cpu -e cpu-clock:u -F 100 -o u.data -- sh -c "
		i=0; while test \$i -lt 10; do i=\$((i + 1)); sleep 0.001; done"
	pmu-symbolize -q u.data | folds - -q --frames cut --event context-switches >folded
	grep vfork folded
	none grep 'cut: .*vfork' folded
END

check 'the process that unwinds has given up its rights' <<'END'
	start_target
	start_unwinding
	status=/proc/$helper/status
	cat $status
	grep -q "^NoNewPrivs:.1" $status
	grep -q "^Seccomp:.2" $status || sanitized
	# CAP_DAC_READ_SEARCH, SYS_PTRACE, CHECKPOINT_RESTORE at most
	none awk '/^Cap(Prm|Eff|Inh)/ && $2 !~ /^00000[01]00000[08]000[04]$/' $status
	test "$(id -u)" != 0 || test "$(awk '/^Uid/ { print $2 }' $status)" = 65534
	# stdin, stdout, stderr, and the socket
	test "$(ls /proc/$helper/fd | wc -l)" -le 4 || test "$(id -u)" != 0
	runs 100
	stop_unwinding
END

# is_killed: the recorder has seen that; unwinds_again: it has started another helper, which unwinds
is_killed() { grep -q 'process that unwinds stacks was ended by signal 9 ' err; }
unwinds_again() {
	dumps sizes u.data >so-far
	awk '$1 { seen = 1 } !$1 && seen { n++ } END { exit n < 20 }' so-far
}

check 'if the process that unwinds is killed, the recording is whole, and it starts again' <<'END'
	start_target
	start_unwinding
	runs 60
	eventually some_unwound
	kill -KILL "$helper"
	eventually is_killed
	eventually unwinds_again
	stop_unwinding
	grep -q 'ended by signal 9 (Killed): it is started again in 1 s; .* put pmu-unwind after' err
	grep -q 'stacks were recorded as they are, while the process that unwinds them did not' err
	all_whole
	dumps sizes u.data >sizes
	at_least "$(awk '$1' sizes | wc -l)" 1
	# what was left is unwound later, and what was unwound stays
	pmu-unwind u.data >later.data
	test "$(whole_chains later.data)" = "$(whole_chains u.data)"
	samples u.data time,ip | wc -l >want
	pmu-symbolize later.data 2>notes | folds - >folded
	none grep 'not unwound' notes
	grep -q "main$(printf ';down%.0s' $(seq 20));leaf$" folded
END

check 'if the process that unwinds is stopped, the recording is whole, and ends' <<'END'
	start_target
	start_unwinding
	runs 100
	kill -STOP "$helper"
	runs 300
	stop_unwinding
	grep -q 'stacks were recorded as they are: .* hung or was stopped; put pmu-unwind after' err
	none grep 'too slow' err
	gone "$helper"
	all_whole
END

check 'if the process that unwinds stops again and again, the recording is whole' <<'END'
	any_user
	start_target
	start_unwinding
	for i in 1 2 3 4 5 6; do
		kill -STOP "$helper"
		runs 50
		kill -CONT "$helper"
		runs 20
	done
	stop_unwinding
	all_whole
END

check 'a flight recorder unwinds what it writes, and so does each of several files' <<'END'
	pmu-sample -v --flight-recorder -m 4Mi --unwind --call-graph dwarf,16384 -e cpu-clock:u \
		-F 1000 -o f.data -- "$scratch/deep" 150 2>err
	cat err
	dumps sizes f.data >sizes
	at_least "$(wc -l <sizes)" 15		# a user may have no more than 512 KiB for a CPU
	none awk '$1' sizes
	at_least "$(whole_chains f.data)" $(($(wc -l <sizes) - 10))
	start_target
	start_unwinding --switch-output signal
	runs 100
	kill -USR2 $sampler
	eventually some_files u.data
	runs 100
	kill -INT $sampler
	wait $sampler
	for file in u.data.*; do
		dumps sizes "$file" >sizes
		at_least "$(wc -l <sizes)" 20
		none awk '$1' sizes
		at_least "$(whole_chains "$file")" $(($(wc -l <sizes) - 20))
	done
END

check 'perf_to_profile and go tool pprof unwind the stack dumps of a perf.data file' <<'END'
	any_user
	ln -s "$BIN/pmu-topprof" perf_to_profile
	PATH=$PWD:$PATH
	perf_record -e cpu-clock:u -F 1000 --call-graph dwarf,16384 -o perf.data -- \
		"$scratch/deep" 100
	./perf_to_profile -i perf.data -o p.pb.gz 2>err
	none cat err
	go tool pprof -traces p.pb.gz >traces
	go tool pprof -traces perf.data >same 2>err
	for file in traces same; do
		# a stack that has leaf() has all that called it
		awk '
			function judge() { if (leaf) { n++; wrong += downs != 20 || !main } }
			/^-+\+/ { judge(); leaf = downs = main = 0 }
			$NF == "leaf" { leaf = 1 }
			$NF == "down" { downs++ }
			$NF == "main" { main = 1 }
			END { judge(); print n + 0, wrong + 0; exit !n || wrong }' $file
	done
	# ours in the way: as without it
	pmu-unwind perf.data | pmu-symbolize | folds - | grep "leaf$" >want
	pmu-topprof --to folded --label none p.pb.gz | sed "s/ [0-9]*$//" | grep "leaf$" |
		sort -u | same want -
END

done_testing
