#!/bin/sh
# pmu-top --ratio: two events sampled each by itself, or read together.
# kinds: release asan
. tests/lib.sh

# events: samples of two events into s.data, by Python on stdin that sets "samples", a list of
# (event 1 or 2, function, period), in the order of time
events() {
	{
		cat
		cat <<-'END'
			t = IP | TID | TIME | ID | PERIOD
			at = 10**12
			out = [record(64, attr(0, e, 1000, t) + struct.pack("<Q", 1 + e), 0) for e in (0, 1)]
			start = struct.pack("<IIQQ", 7, 7, at, 1)
			for f in range(3):
			    path = b"/bin/f%d" % f
			    out.append(record(1, mmap(7, (f + 1) << 16, 0x1000, path) + start))
			for i, (event, f, period) in enumerate(samples):
			    out.append(record(9, struct.pack("<QIIQQQ", (f + 1) << 16, 7, 7,
			                                     at + i * 10**6, event, period)))
			out = pipe(*out)
		END
	} >program
	compose s.data <program
	pmu-topprof --slices 20 -o p.pb.gz s.data
}

# ratio NAME ROW: value, low and high
ratio() {
	python3 -c '
import json, sys
row = [r for r in json.load(sys.stdin)["rows"] if r["name"] == sys.argv[2]][0]
r = row["ratios"][sys.argv[1]]
print(r["value"], r["low"], r["high"]) if r else print("-")' "$@"
}

check 'a ratio of two events has the interval that the formula gives' <<'END'
	# f0 has 30 samples of cycles and 40 of instructions, f1 0 and 50, f2 3 and 5
	events <<-'PY'
		samples = []
		for i in range(50):
		    samples += [(1, 0, 1000)] * (i < 30) + [(2, 0, 1000)] * (i < 40)
		    samples += [(2, 1, 1000)] + [(1, 2, 1000)] * (i < 3) + [(2, 2, 1000)] * (i < 5)
	PY
	pmu-topprof --slices 0 -o p.pb.gz s.data	# no blocks: chance only
	pmu-top --by object -j --ratio cycles/instructions p.pb.gz >got
	set -- $(ratio cycles/instructions f0 <got)
	near $1 0.75 0.000001
	near $2 0.46919053557 0.000001
	near $3 1.19887328784 0.000001
	set -- $(ratio cycles/instructions f1 <got)
	near $1 0 0
	near $2 0 0
	near $3 0.0768292 0.000001
	test "$(ratio cycles/instructions f2 <got)" = -
	pmu-top --by object -j --ratio 'cycles/instructions*1000=CPKI' p.pb.gz >got
	near "$(ratio CPKI f0 <got | cut -d " " -f 1)" 750 0.001
	pmu-top --bars none --by object --ratio cycles/instructions=CPI p.pb.gz >table
	grep -q " CPI  *$" table
	grep -q " 0.75 \[0.469, 1.2\]  *f0$" table
	grep -q " -  *f2$" table
	grep -q "^CPI of all: 0.347 " table
	none grep "counted between samples" table
END

check 'a ratio that changes from span to span has a wider interval' <<'END'
	events <<-'PY'
		samples = [(1 + (i // 25 + i % 5 // 4) % 2, 0, 1000) for i in range(1000)]
	PY
	pmu-top --by object -j --ratio cycles/instructions p.pb.gz >got
	set -- $(ratio cycles/instructions f0 <got)
	pmu-topprof --slices 0 -o p.pb.gz s.data
	pmu-top --by object -j --ratio cycles/instructions p.pb.gz >got
	set -- $* $(ratio cycles/instructions f0 <got)
	near $1 $4 0.000001
	echo $* | awk '{ exit !(log($3 / $2) > 1.1 * log($6 / $5)) }'
END

check 'the table has a caveat about the ratios of a group' <<'END'
	# linux/perf_event.h: a sample of the leader has u64 nr, and for each event u64 value, id
	cat >program <<-'PY'
		t, read, at = IP | TID | TIME | READ, 4 | 8, 10**12
		out = [record(64, attr(0, e, 1000 * (e == 0), t, read=read) +
		              struct.pack("<Q", 1 + e), 0) for e in (0, 1)]
		for i in range(1000):
		    cycles, instructions = 1000 * i, 2000 * i + i // 100 % 2
		    out.append(record(9, struct.pack("<QIIQ", 1 << 16, 7, 7, at + i * 10**6) +
		        struct.pack("<QQQQQ", 2, cycles, 1, instructions, 2)))
		out = pipe(*out)
	PY
	cp program "$scratch/group"
	compose s.data <program
	pmu-topprof --slices 20 -o p.pb.gz s.data
	facts p.pb.gz | grep -c " group=1 " | grep -qx 2
	pmu-top --by object --ratio cycles/instructions p.pb.gz >table
	grep -q "^counted between samples: a function's ratio is mixed with what ran in the PERIOD" table
	grep -q "^cycles/instructions of all: 0.501 \[0.499, 0.502\]" table
END

check 'a constant ratio of a group has a value, and the total always; names are as typed' <<'END'
	# three instructions a cycle at each sample
	sed 's/instructions = .*/instructions = 1000 * (i + 1), 3000 * (i + 1)/' "$scratch/group" >program
	compose s.data <program
	pmu-topprof --slices 20 -o p.pb.gz s.data
	pmu-top --ratio cycles/instructions p.pb.gz >table 2>err
	cat table
	grep -qE "^ *[0-9]+ .* 0.333  *[^ ]" table
	grep -q "^cycles/instructions of all: 0.333 *$" table
	pmu-top -j --ratio cycles/instructions p.pb.gz 2>err | grep -q '"value": 0.333'
	# without spans a function's ratio is not known, but the total is, and a line says why
	pmu-topprof --slices 0 -o p.pb.gz s.data
	pmu-top --ratio cycles/instructions p.pb.gz >table 2>err
	grep -q "^cycles/instructions of all: 0.333 *$" table
	grep -q "^a function's ratio of a group needs 5 spans of time or more" table
	# {a,b}:S is a way to read; the types have the names of the events
	pmu-sample -q -e '{cpu-clock,page-faults}:S' -F 500 -o g.data -- ten serial 0.2
	pmu-topprof -o g.pb.gz g.data
	pmu-top --ratio 'page-faults/cpu*1000000=FAULTS' g.pb.gz >table 2>err
	grep -q "^FAULTS of all: [0-9.]" table
	none grep ':SH' table
END

check 'malformed ratios are refused' <<'END'
	events <<-'PY'
		samples = [(1 + i % 2, 0, 1000) for i in range(100)]
	PY
	for wrong in cycles cycles/ /cycles 'cycles/instructions*x' 'cycles/instructions*0' \
		'cycles/instructions=' '' 'cycles/instructions*-1'; do
		exits 2 pmu-top --ratio "$wrong" p.pb.gz 2>err
	done
	for wrong in cycles/nothing nothing/cycles cycles/4; do
		exits 1 pmu-top --ratio $wrong p.pb.gz >out 2>err
		none grep . out
		grep -x "pmu-top: the profile has no sample type .*; it has cycles.*instructions.*" err
		exits 1 pmu-top -q --ratio $wrong p.pb.gz >out 2>&1
		none grep . out
	done
	pmu-top -j --ratio cycles/instructions=R p.pb.gz >want
	pmu-top -j --ratio 1/3=R p.pb.gz | same want -
	exits 2 pmu-top --to csv --ratio cycles/instructions p.pb.gz 2>err
END

done_testing
