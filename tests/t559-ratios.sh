#!/bin/sh
# pmu-top --ratio: two events sampled each by itself, or read together.
# kinds: release asan
. tests/lib.sh

# events: samples of events into s.data, by Python on stdin that sets "samples", a list of
# (event, counted from 1; function; period), in the order of time.  The events are cycles and
# instructions, or those in "kinds", numbers of hardware events.
events() {
	{
		cat
		cat <<-'END'
			t = IP | TID | TIME | ID | PERIOD
			at = 10**12
			kinds = globals().get("kinds", (0, 1))
			out = [record(64, attr(0, e, 1000, t) + struct.pack("<Q", 1 + i), 0)
			       for i, e in enumerate(kinds)]
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

# profile NAME...: a profile p.pb with these sample types, and samples of one function, "count"
profile() {
	python3 - "$@" <<-'PY' >p.pb
		import sys
		def field(n, kind, body): return bytes([n << 3 | kind]) + body
		def text(n, b): return field(n, 2, bytes([len(b)]) + b)
		names = ["", "count"] + sys.argv[1:]
		out = b"".join(text(1, bytes([8, 2 + i, 16, 1])) for i in range(len(names) - 2))
		out += text(2, bytes([8, 1]) + text(2, bytes([10 + i for i in range(len(names) - 2)])))
		out += text(4, bytes([8, 1, 34, 2, 8, 1])) + text(5, bytes([8, 1, 16, 1]))
		out += b"".join(text(6, n.encode()) for n in names)
		sys.stdout.buffer.write(out)
	PY
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

check 'ipc, mpki and miss-rate are names of ratios, under all names of their events' <<'END'
	# the same numbers of samples as in the first check: 40 of 30, 0 of 50
	counts='samples = [(e, f, 1000) for i in range(50)
	           for e, f, most in ((1, 0, 30), (2, 0, 40), (2, 1, 50)) if i < most]'
	# linux/perf_event.h: cycles 0, instructions 1, references 2, misses 3, branches 4, misses 5
	try() {	# KINDS NAME A/B VALUE LOW HIGH: of f0
		printf 'kinds = %s\n%s\n' "$1" "$counts" | events
		pmu-topprof --slices 0 -o p.pb.gz s.data
		pmu-top --by object -j --ratio $2 p.pb.gz >got
		set -- "$@" $(ratio $2 f0 <got)
		near $7 $4 0.00001
		near $8 $5 0.00001
		near $9 $6 0.00001
		pmu-top --by object --ratio $2 p.pb.gz | grep "^$2 of all: .* of $3$"
		pmu-flame --ratio $2 --to svg p.pb.gz >picture
		grep -q ">${3%/*} .*; colour: per ${3#*/}," picture
	}
	try "(1, 0)" ipc instructions/cycles 0.75 0.469190536 1.198873288
	try "(3, 1)" mpki cache-misses/instructions 750 469.190536 1198.873288
	try "(5, 1)" mpki branch-misses/instructions 750 469.190536 1198.873288
	try "(3, 2)" miss-rate cache-misses/cache-references 0.75 0.469190536 1.198873288
	try "(5, 4)" miss-rate branch-misses/branches 0.75 0.469190536 1.198873288
	# of several misses, those of the cache
	try "(3, 1, 5)" mpki cache-misses/instructions 750 469.190536 1198.873288
	try "(3, 2, 4, 5)" miss-rate cache-misses/cache-references 0.75 0.469190536 1.198873288
	pmu-top --by object -j --ratio 'miss-rate*100=PERCENT' p.pb.gz >got
	near "$(ratio PERCENT f0 <got | cut -d " " -f 1)" 75 0.001
	pmu-top --by object --ratio miss-rate=rate --ratio 0/1=x p.pb.gz >got
	grep -q "^rate of all: .* of cache-misses/cache-references$" got
	grep -Eq "^x of all: [^]]*\] *$" got
END

check 'the event of a named ratio that a profile lacks is named' <<'END'
	lacks() {	# RATIO TYPE
		for tool in pmu-top "pmu-flame -o x.html"; do
			exits 1 $tool --ratio $1 p.pb.gz >out 2>err
			grep -x "pmu-[a-z]*: the profile has no sample type '$2'; it has .*" err
			none grep . out
		done
	}
	events <<-'PY'
		kinds, samples = (0, 5), [(1 + i % 2, 0, 1000) for i in range(100)]
	PY
	lacks ipc instructions
	lacks mpki instructions
	lacks miss-rate branches
	events <<-'PY'
		kinds, samples = (1, 4), [(1 + i % 2, 0, 1000) for i in range(100)]
	PY
	lacks ipc cycles
	lacks mpki cache-misses
	lacks miss-rate cache-misses
	# two kinds of misses, and none is the usual one
	profile instructions branch-misses:u LLC-load-misses LLC-loads
	exits 1 pmu-top --ratio mpki p.pb 2>err
	grep "mpki: the profile has branch-misses and LLC-load-misses: .* branch-misses/instructions$" err
	exits 1 pmu-top --ratio miss-rate p.pb 2>err
	grep "name two sample types, such as branch-misses/branches$" err
	exits 1 pmu-flame -o x.html --ratio mpki p.pb 2>err
	grep "has branch-misses and LLC-load-misses" err
	profile instructions LLC-load-misses:u LLC-loads:u
	pmu-flame --to svg --ratio miss-rate p.pb | grep -q ">LLC-load-misses:u .*: per LLC-loads:u,"
	exits 2 pmu-top --ratio ipcs p.pb.gz 2>err
	grep "or ipc, mpki or miss-rate, or topdown, not 'ipcs'" err
END

check 'a type is found without the modifiers of its event, if only one is' <<'END'
	total() {	# TYPE: of the profile
		pmu-top --to csv -t "$1" p.pb 2>err | awk -F , 'END { print $1 }'
	}
	profile cycles:u page-faults:SH cpu/instructions/ppu page-faults:u_samples
	test "$(total cycles)" = 10 -a "$(total page-faults)" = 11 -a "$(total instructions)" = 12
	test "$(total cpu/instructions/)" = 12 -a "$(total page-faults_samples)" = 13
	pmu-flame -t page-faults -o x.html p.pb
	pmu-annotate -t page-faults '^count$' p.pb | grep "^page-faults:SH "
	exits 1 pmu-annotate --ratio miss-rate '^count$' p.pb 2>err
	grep "the profile has no sample type 'cache-misses'" err
	profile cycles:u cycles:k cpu_core/instructions/ cpu_atom/instructions/ sched:sched_switch
	for name in cycles instructions sched cpu_core/instructions; do
		exits 1 pmu-top -t $name p.pb 2>err
		grep "no sample type '$name'; it has cycles:u cycles:k cpu_core" err
	done
	test "$(total cycles:k)" = 11 -a "$(total cpu_atom/instructions/)" = 13
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
	# CSV has the same numbers, in three columns before the name
	pmu-top --by object --to csv --ratio cycles/instructions=R p.pb.gz | tr -d '\r' >got
	sed -n 1p got | grep -q ',cum_mark,R,R_low,R_high,name$'
	pmu-top --by object -j --ratio cycles/instructions=R p.pb.gz | ratio R f0 >want
	awk -F , 'NR == 2 { print $(NF - 3), $(NF - 2), $(NF - 1) }' got >csv
	test "$(awk '{ printf "%.6f %.6f %.6f", $1, $2, $3 }' csv)" = \
		"$(awk '{ printf "%.6f %.6f %.6f", $1, $2, $3 }' want)"
END

done_testing
