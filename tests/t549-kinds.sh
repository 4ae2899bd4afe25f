#!/bin/sh
# CPUs of two kinds (cpu_core and cpu_atom; big.LITTLE): events that are open on some CPUs only,
# for how long they counted, and what profiles make of that.
# kinds: release asan
. tests/lib.sh

# made FILE RECORDS: ten samples of period 100 of cpu_core/cycles/, of the ids 11 and 12, and
# ten of period 7 of cpu_atom/cycles/, of the ids 21 and 22; then the RECORDS
made() {
	compose "$1" <<-PYTHON
		KIND, TIMES_AND_ID = IDENT | IP | TID | PERIOD, 7
		def event(pmu, name, *ids):
		    a = attr(pmu, 0x3c, 100, KIND, flags=0, read=TIMES_AND_ID)
		    yield record(64, a + struct.pack("<%dQ" % len(ids), *ids), 0)
		    yield record(78, struct.pack("<QQ", 2, ids[0]) + pad(name), 0)
		def sample(event, period):
		    return record(9, struct.pack("<QQIIQ", event, 0x400010, 7, 7, period))
		def read(event, tid, value, enabled, running):
		    return record(8, struct.pack("<iiQQQQ", tid, tid, value, enabled * 10**6,
		                                 running * 10**6, event), 0)
		out = pipe(*event(4, b"cpu_core/cycles/", 11, 12),
		           *event(10, b"cpu_atom/cycles/", 21, 22),
		           record(1, mmap(7, 0x400000, 0x100000, b"/bin/prog")),
		           *[sample(11 + i % 2, 100) for i in range(10)],
		           *[sample(21 + i % 2, 7) for i in range(10)], $2)
	PYTHON
}

# values STREAM [OPTION...]: what the profile has of each kind
values() {
	stream=$1
	shift
	pmu-topprof "$@" -o p.pb.gz "$stream"
	for kind in core atom; do
		go tool pprof -symbolize=none -raw p.pb.gz 2>/dev/null >raw
		awk -v kind="cpu_$kind" '
			/\/count/ && !column { for (i = 1; i <= NF; i++) if (index($i, kind) &&
				$i !~ /^samples/) column = i }
			/^Locations/ { exit }
			/^ +[0-9]+ .*: / { sub(/:.*/, ""); sum += $column }
			END { print kind, sum }' raw
	done
}

check 'a task that ran on both kinds, 50 ms on each: nothing is scaled' <<'END'
	made s.data 'read(11, -1, 1000, 50, 50), read(21, -1, 70, 50, 50)'
	values s.data >got
	printf '%s\n' "cpu_core 1000" "cpu_atom 70" | same - got
END

check 'one kind shared its counters among events: its values alone are scaled' <<'END'
	made s.data 'read(11, -1, 1000, 60, 20), read(21, -1, 70, 40, 40)'
	values s.data >got
	printf '%s\n' "cpu_core 3000" "cpu_atom 70" | same - got
	values s.data --no-scale >got
	printf '%s\n' "cpu_core 1000" "cpu_atom 70" | same - got
END

check 'perf record -s: times of one task on one CPU, in which that of others is; not scaled' <<'END'
	made s.data 'read(11, 7, 600, 100, 30), read(12, 7, 400, 100, 20), \
		read(21, 7, 50, 100, 40), read(22, 7, 20, 100, 10)'
	values s.data >got
	printf '%s\n' "cpu_core 1000" "cpu_atom 70" | same - got
END

check 'streams joined: the times of each event add up' <<'END'
	made one.data 'read(11, -1, 1000, 50, 50), read(21, -1, 70, 50, 50)'
	made two.data 'read(11, -1, 1000, 50, 0), read(21, -1, 70, 50, 25)'
	pmu-stream --cat one.data two.data >s.data
	values s.data >got
	printf '%s\n' "cpu_core 4000" "cpu_atom 187" | same - got	# 140 * 100 / 75
END

check 'a value that does not fit after it was scaled is the largest that does' <<'END'
	made s.data 'sample(11, 1 << 62), read(11, -1, 1000, 100, 1), read(21, -1, 70, 40, 40)'
	values s.data >got
	grep -q 'cpu_core 9.22337[0-9]*e+18\|cpu_core 922337203685477580[78]' got
	pmu-topprof --to folded s.data >folded
	cat folded
	grep -q ' 9223372036854775807$' folded
END

done_testing
