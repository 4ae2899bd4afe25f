#!/bin/sh
# Stacks of programs: their dumps are trimmed; what cuts them short is shown.
# kinds: release user
. tests/lib.sh

dumps() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/dumps.py" "$@"; }

# A program whose chain is known: 20 calls of down(), then leaf(), without frame pointers.
cat >"$scratch/deep.c" <<'END'
#include <stdlib.h>
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
	unsigned long x = 1;

	for (long end = cpu_ms() + ms; cpu_ms() < end; )
		for (int i = 0; i < 100000; i++)
			x = x * 6364136223846793005u + 1;
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
chains_of() {
	samples "$1" ip,sym | awk '
		NF > 1 { chain = chain " " $2 }
		NF == 0 && chain != "" { print chain; chain = "" }
		END { if (chain != "") print chain }' | sort | uniq -c
}

check 'dumps of stacks are as long as the stack, and unwind as if they had been recorded whole' <<'END'
	pmu-sample -e cpu-clock:u -F 1000 --call-graph dwarf,32768 -o s.data -- "$scratch/deep" 200
	dumps sizes s.data >sizes
	at_least "$(wc -l <sizes)" 100
	# 20 frames of 256 bytes and more: less than 16 KiB with arguments and environment
	awk '{ if ($1 % 8 || $1 < $2 || $1 >= $2 + 8 || $2 < 5120) wrong++; all += $1 }
		END { print all / NR, wrong + 0; exit wrong > 0 || all / NR > 16384 }' sizes
	dumps fill 32768 s.data filled.data
	at_least "$(wc -c <filled.data)" $((2 * $(wc -c <s.data)))
	samples s.data time,ip,sym,dso >got
	samples filled.data time,ip,sym,dso >want
	same want got
	chains_of s.data >chains
	cat chains
	down=$(printf ' down%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
	at_least "$(awk -v chain=" leaf$down main " 'index($0, chain) { n += $1 } END { print n }' \
		chains)" 100
END

check 'dumps are trimmed for several events, and in the flight recorder' <<'END'
	pmu-sample -e cpu-clock:u -e task-clock:u -F 500 --call-graph dwarf,65528 -o s.data -- \
		"$scratch/deep" 100
	pmu-sample --flight-recorder -m 4Mi -e cpu-clock:u -F 500 --call-graph dwarf,65528 \
		-o f.data -- "$scratch/deep" 100
	for stream in s f; do
		dumps sizes $stream.data >sizes
		at_least "$(wc -l <sizes)" 20
		none awk '$1 % 8 || $1 < $2 || $1 >= $2 + 8' sizes
		at_least "$(chains_of $stream.data | grep -c 'down down main')" 1
	done
END

done_testing
