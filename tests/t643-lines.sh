#!/bin/sh
# pmu-data --by line: the cache lines that threads contend for.
# kinds: release asan
. tests/lib.sh

# count N: two threads; one adds N times to counters.left, the other 2 N times to counters.right.
# With -DPADDED each counter has a cache line of its own.
cat >"$scratch/count.c" <<'EOF2'
#include <pthread.h>
#include <stdlib.h>

#ifdef PADDED
#define OWN_LINE __attribute__((aligned(64)))
#else
#define OWN_LINE
#endif

struct { OWN_LINE volatile long left; OWN_LINE volatile long right; }
	counters __attribute__((aligned(64)));

__attribute__((noinline)) void *add_left(void *n)
{
	for (long i = 0; i < (long)n; i++)
		counters.left++;
	return NULL;
}

__attribute__((noinline)) void *add_right(void *n)
{
	for (long i = 0; i < 2 * (long)n; i++)
		counters.right++;
	return NULL;
}

int main(int argc, char **argv)
{
	void *n = (void *)(argc > 1 ? atol(argv[1]) : 1000);
	pthread_t left, right;

	pthread_create(&left, NULL, add_left, n);
	pthread_create(&right, NULL, add_right, n);
	pthread_join(left, NULL);
	pthread_join(right, NULL);
	return 0;
}
EOF2

# record PROGRAM OFFSET FILE: every store of both counters; the second is OFFSET bytes after the
# first
record() {
	at=$(nm "$scratch/$1" | awk '$3 == "counters" { print $1 }')
	pmu-sample -q -c 1 --record data -e "mem:0x$at/8:w:u,$(printf 'mem:0x%x/8:w:u' \
		$((0x$at + $2)))" -o "$scratch/$3" -- "$scratch/$1" 1000
}

why=
{ cc -O1 -g -no-pie -pthread -o "$scratch/shared" "$scratch/count.c" &&
	cc -O1 -g -no-pie -pthread -DPADDED -o "$scratch/padded" "$scratch/count.c"; } 2>/dev/null ||
	why='no compiler'
test -n "$why" || { record shared 8 shared.data && record padded 64 padded.data; } 2>/dev/null ||
	why='this machine has no breakpoints'

needs_recordings() {
	needs_sampling
	test -z "$why" || skip "$why"
}

check 'a line in which two threads store is reported, with every store of each thread' <<'END'
	needs_recordings
	pmu-data -q --by line -j "$scratch/shared.data" >found
	python3 - found <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
row, = d["rows"]
assert d["count"] == 1 and d["others"]["samples"] == 0 and d["total"] == 3000, d
assert (row["threads"], row["shared_offsets"], row["stores"]) == (2, 0, 3000), row
got = {(a["offset"], a["function"], a["stores"], a["loads"]) for a in row["accesses"]}
assert got == {(0, "add_left", 1000, 0), (8, "add_right", 2000, 0)}, got
assert len({a["tid"] for a in row["accesses"]}) == 2
assert int(row["address"], 16) % 64 == 0
PY
	pmu-data -q --by line "$scratch/shared.data" >text
	grep -q 'each offset is used by one thread: false sharing' text
END

check 'counters with a line each are not reported' <<'END'
	needs_recordings
	pmu-data -q --by line -j "$scratch/padded.data" >found
	python3 - found <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["rows"] == [] and d["count"] == 0, d
assert d["others"] == {"samples": 3000, "periods": 3000}, d
PY
END

done_testing
