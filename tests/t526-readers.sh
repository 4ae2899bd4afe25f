#!/bin/sh
# What readers make of recordings by others: nothing lost, nothing that was not there.
# kinds: release asan
. tests/lib.sh

simpleperf=$SHARED/simpleperf

# Counts of record types in a perf.data file, by a walk over its data section.
cat >"$scratch/walk.py" <<'END'
import struct, sys
names = {1: "MMAP", 2: "LOST", 3: "COMM", 4: "EXIT", 5: "THROTTLE", 6: "UNTHROTTLE", 7: "FORK",
         9: "SAMPLE", 10: "MMAP2", 66: "TRACING_DATA"}
data = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", data, 40)
end, count = at + size, {}
while at < end:
    kind, misc, size = struct.unpack_from("<IHH", data, at)
    count[names[kind]] = count.get(names[kind], 0) + 1
    at += size
for name in sorted(count):
    print(name, count[name])
END

# counts FILE: the same, by our reader
counts() { pmu-stream "$1" | awk '/^[A-Z0-9_]+ +[0-9]+$/ { print $1, $2 }' | sort; }

check "simpleperf's recordings are read without loss, tracing data and all" <<'END'
	for file in "$simpleperf"/*.data; do
		needs "$file"
		python3 "$scratch/walk.py" "$file" >want
		counts "$file" 2>said | same want -
		none cat said
		cat "$file" | counts - 2>said | same want -
		none cat said
	done
END

check "fields of simpleperf's tracepoints are read, from the file and through pipes" <<'END'
	needs "$simpleperf/perf_sched_stat_runtime.data"
	cp "$simpleperf/perf_sched_stat_runtime.data" s.data
	pmu-stream -d s.data >pipe.data
	pmu-stream --cat s.data >joined.data
	for file in s.data pipe.data joined.data; do
		pmu-topprof --label field:comm,field:runtime $file -o p.pb.gz
		go tool pprof -tags p.pb.gz >tags 2>err
		grep -q '3846048370.*BusyThread' tags
		grep -q ' runtime: ' tags
	done
END

# TRACING_DATA with ten bytes of data.
cat >"$scratch/tracing.py" <<'END'
def stream(tracing):
    one = record(9, struct.pack("<QIIQ", 0x10100, 1, 1, 7))
    return pipe(record(64, attr(1, 0, 7, IP | TID | PERIOD)), one, tracing, one, one)
def inside(kind, data, extra):
    body = struct.pack("<I", len(data)) + data + bytes(extra)
    size = 8 + len(body)
    return struct.pack("<IHH", kind, size >> 16, size & 0xffff) + body
END

check 'tracing data is inside its record or behind it, and may be cut anywhere' <<'END'
	{ cat "$scratch/tracing.py"; echo 'out = stream(inside(66, bytes(10), 6))'; } | compose 1.data
	{ cat "$scratch/tracing.py"; echo 'out = stream(inside(66, bytes(16), 64))'; } | compose 2.data
	{ cat "$scratch/tracing.py"; echo 'out = stream(inside(32777, bytes(10), 6))'; } | compose 3.data
	{ cat "$scratch/tracing.py"
		echo 'out = stream(inside(32777, bytes(100000), 0))'; } | compose 4.data
	{ cat "$scratch/tracing.py"
		echo 'out = stream(inside(66, bytes(0), 0)[:8] + struct.pack("<I", 10) + bytes(16))'
	} | compose 5.data
	for i in 1 2 3 4 5; do
		pmu-stream $i.data >got
		grep -q '^SAMPLE  *3$' got
		grep -q '^TRACING_DATA  *1$' got
		pmu-stream -d $i.data | pmu-stream >again
		grep -q '^SAMPLE  *3$' again
		grep -q '^TRACING_DATA  *1$' again
	done
	for size in 0 4 7; do
		{ cat "$scratch/tracing.py"
			echo "out = stream(struct.pack('<IHHI', 32777, 0, $size, 0))"; } | compose bad.data
		exits 1 timeout 60 pmu-stream bad.data 2>said
		grep -q 'less than its header' said
	done
	for cut in 160 172 180 190 195; do
		head -c $cut 3.data >cut.data
		exits 1 pmu-stream cut.data
	done
END

done_testing
