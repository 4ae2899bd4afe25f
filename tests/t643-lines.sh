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

# record PROGRAM OFFSET FILE [PERIOD]: every store of both counters, or one of PERIOD stores; the
# second counter is OFFSET bytes after the first
record() {
	at=$(nm "$scratch/$1" | awk '$3 == "counters" { print $1 }')
	lossless "$scratch/$3" pmu-sample -q -c "${4:-1}" --record data \
		-e "mem:0x$at/8:w:u,$(printf 'mem:0x%x/8:w:u' $((0x$at + $2)))" \
		-o "$scratch/$3" -- "$scratch/$1" 1000
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
assert row["name"] == "counters+0x8"
got = {(a["offset"], a["function"], a["stores"], a["loads"], a["object"], a["object_offset"])
       for a in row["accesses"]}
assert got == {(0, "add_left", 1000, 0, "counters", 0),
               (8, "add_right", 2000, 0, "counters", 8)}, got
assert len({a["tid"] for a in row["accesses"]}) == 2
assert int(row["address"], 16) % 64 == 0
PY
	pmu-data -q --by line "$scratch/shared.data" >text
	grep -q 'each offset is used by one thread: false sharing' text
END

check 'of two breakpoints with a period, one of so many stores is a sample' <<'END'
	needs_recordings
	record shared 8 tenth.data 10
	pmu-data -q --by line -j "$scratch/tenth.data" >found
	python3 - found <<'PY'
import json, os, sys
row, = json.load(open(sys.argv[1]))["rows"]
got = {a["function"]: (a["samples"], a["periods"]) for a in row["accesses"]}
left, right = got["add_left"], got["add_right"]
cpus = os.cpu_count()	# the last period on each of them may not be full
assert 100 - cpus <= left[0] <= 100 and 200 - cpus <= right[0] <= 200, got
assert left[1] == 10 * left[0] and right[1] == 10 * right[0], got
PY
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

check 'a variable has the accesses of all its offsets, and the functions that made them' <<'END'
	needs_recordings
	for name in shared padded; do
		pmu-data -q -j "$scratch/$name.data" >found
		python3 - found $name <<'PY'
import json, sys
row, = json.load(open(sys.argv[1]))["rows"]
assert (row["name"], row["file"], row["stores"]) == ("counters", sys.argv[2], 3000), row
assert {f["name"]: f["stores"] for f in row["functions"]} == {"add_left": 1000, "add_right": 2000}
PY
	done
END

check 'in a profile for pprof the data is the leaf, and its callers are functions' <<'END'
	needs_recordings
	for which in 1 2; do
		event=$(pmu-stream -q "$scratch/shared.data" | sed -n 's/^event \(mem:[^ ]*\):.*/\1/p' |
			sed -n ${which}p)
		pmu-data -q --to pprof -e "$event" -o p.pb.gz "$scratch/shared.data"
		pmu-topprof -q --to folded --types one p.pb.gz
	done | sed 's/.*add_/add_/' | sort >found
	printf '%s\n' 'add_left;counters+0x0 1000' 'add_right;counters+0x8 2000' >want
	same want found
	exits 2 pmu-data -o out "$scratch/shared.data"
END

check 'memory is bounded: rare lines are summed up, and a line that is shared stays' <<'END'
	any_user
	unsanitized
	compose many <<'PY'
stores = bytearray(attr(5, 0, 1, IP | TID | TIME | ADDR | PERIOD, 1 << 18, 112))
stores[52] = 2      # bp_type: HW_BREAKPOINT_W
packed = struct.Struct("<IHHQIIQQQ")
def store(i, tid, at):
    return packed.pack(9, 2, 48, 0x400000, 7, tid, 10 ** 9 + 100 * i, at, 1)
# a line that two threads use once each, and then 70,000 lines that one thread uses twice
out = pipe(record(64, bytes(stores)), store(0, 8, 0x4000), store(0, 9, 0x4008),
           *(store(i // 2, 7, 0x10000000 + 64 * (i // 2)) for i in range(140000)))
PY
	pmu-symbolize -q many >resolved
	pmu-data -q --by line -j resolved >found
	python3 - found <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
row, = d["rows"]
assert row["address"] == "0x4000" and row["samples"] == 2, row
assert sorted(a["offset"] for a in row["accesses"]) == [0, 8]
assert d["total"] == 140002 and d["others"]["samples"] == 140000, d["others"]
PY
	pmu-data -q --by line resolved >out
	grep -q "part of them: lines with few samples" out
END

check 'names of a hostile program move no cursor, and a spreadsheet calculates none' <<'END'
	any_user
	compose hostile <<'PY'
fields = IP | TID | TIME | ADDR | PERIOD
fault = attr(1, 2, 1, fields)
name = b"\x1b[2J=1\xff\n,\"x"
records = [record(3, struct.pack("<II", 7, 7 + i) + pad(name if i else b"=1+1"))
           for i in range(2)]
records += [record(9, struct.pack("<QIIQQQ", 0x400000, 7, 7 + i % 2, 10 ** 9 + i, 0x1000 + i, 1))
            for i in range(20)]
out = file([(fault, [])], records)
PY
	for by in object line thread; do
		for to in text json csv; do
			pmu-data -q --by $by --to $to hostile >>found
		done
	done
	none grep -a "$(printf '[\001-\010\013\014\016-\037\177]')" found
	grep -q "\[2J=1" found
	pmu-data -q --by thread --to csv hostile | grep -q ",'=1+1/7"
END

done_testing
