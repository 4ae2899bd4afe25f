#!/bin/sh
# What delays the end of a program: pmu-topprof --add latency,parallelism, of context switches.
# The time of a thread, on CPUs and waiting: pmu-topprof --add wall.
# kinds: release asan
. tests/lib.sh

# latency ARGUMENT...: the oracle, tests/latency.py
latency() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/latency.py" "$@"; }

# weighed PROFILE: its sums of latency
weighed() { go tool pprof -symbolize=none -raw "$1" 2>err | latency profile; }

# made RECORDS: a stream of records of threads 1 to 4, into s.data: at times in tenths of ms
made() {
	compose s.data <<-PYTHON
		def trailer(tid, time):
		    return struct.pack("<IIQ", 7, tid, 10**9 + time * 10**5)
		def run(tid, time, ip=0x401000, period=10**6):
		    return record(9, struct.pack("<Q", ip) + trailer(tid, time) +
		                  struct.pack("<Q", period))
		def on(tid, time):
		    return record(14, trailer(tid, time), 0)
		def off(tid, time, how=0):
		    return record(14, trailer(tid, time), 1 << 13 | how)
		def end(tid, time):
		    return record(4, struct.pack("<IIIIQ", 7, 7, tid, 7, 10**9 + time * 10**5) +
		                  trailer(tid, time))
		def lost(time):
		    return record(2, struct.pack("<QQ", 1, 5) + trailer(1, time))
		kind, config, flags = ${2:-1, 0, 1 << 26}
		def total(value, enabled, running):
		    ids = struct.pack("<iiQQQQ", -1, -1, value, enabled, running, 1)
		    return 2 * record(68, b"", 0) + record(8, ids + bytes(16))
		a = attr(kind, config, 10**6, IP | TID | TIME | PERIOD, 1 << 18 | flags, read=7)
		m = record(1, mmap(7, 0x400000, 0x100000, b"/bin/prog") + trailer(7, 1))
		out = pipe(record(64, a + struct.pack("<Q", 1), 0),
		           record(80, struct.pack("<QIIQQ", 29, 1, 1, 10**18, 10**9), 0), m, $1)
	PYTHON
}

# values FILE: of the samples, in order of time: the last type, its parallelism
values() {
	go tool pprof -symbolize=none -raw "$1" 2>err | awk '/^ +[0-9]+ .*: / { v = $(NF - 1) }
		match($0, /parallelism:\[[0-9-]+/) { p = substr($0, RSTART + 13, RLENGTH - 13) }
		match($0, /timestamp_ns:\[[0-9]+/) {
			print substr($0, RSTART + 14, RLENGTH - 14), v + 0, p; p = "" }' | sort -n |
		cut -d " " -f 2-
}

reference='on(1, 0), run(1, 10), run(1, 20), on(2, 25), run(1, 30), run(2, 35), on(3, 40), \
	run(1, 40), run(2, 45), run(3, 50), off(1, 50), run(2, 55), end(3, 60), run(2, 65), \
	off(2, 70), run(4, 90)'

check 'a sample is its period, divided by the threads that run: the reference case' <<'END'
	made "$reference"
	pmu-topprof --add latency,parallelism --label timestamp_ns -o p.pb.gz s.data
	values p.pb.gz | sed "s/:$//" >got
	printf "%s\n" "1000000 1" "1000000 1" "500000 2" "500000 2" "333333 3-4" "333333 3-4" \
		"333333 3-4" "500000 2" "1000000 1" "1000000 1" >want
	same want got
	go tool pprof -comments p.pb.gz 2>err >comments
	grep -qx "latency: nothing ran for 2000 of 9000 us" comments
END

check 'of 64 threads each sample has the number that the times of their runs give' <<'END'
	for kind in cpus plain; do
		latency stream $kind >s.data
		latency truth $kind | sed "/^ran/s/[0-9]\{3\}$/000/" >want
		at_least $(wc -l <want) 9
		pmu-topprof --add latency,parallelism -o p.pb.gz s.data
		weighed p.pb.gz >got
		same want got
	done
	go tool pprof -symbolize=none -top -unit ns -tagfocus="parallelism=^1$" p.pb.gz 2>err |
		grep -q "accounting for $(sed -n "s/^1 //p" want)ns"
	# the same after a filter, and with slices
	pmu-symbolize -q s.data | pmu-topprof --add latency,parallelism --slices 20 -o q.pb.gz
	weighed q.pb.gz >got
	same want got
END

check 'where records were lost, what is left of an error is small, and is counted' <<'END'
	latency stream lost >s.data
	latency truth lost >want
	pmu-topprof --add latency,parallelism -o p.pb.gz s.data
	weighed p.pb.gz >got
	for what in total ran 1; do
		near $(sed -n "s/^$what //p" got) $(sed -n "s/^$what //p" want) \
			$(sed -n "s/^$what //p" want | awk "{ print \$1 * .05 }")
	done
	go tool pprof -comments p.pb.gz 2>err >comments
	grep -q "^latency: records were lost, so it is uncertain how many threads ran at [1-9]" comments
END

check 'a thread that exited does not run; an idle CPU is not a thread; a loss is made up' <<'END'
	# thread 2 exits without a switch; samples of thread 0 are of the idle CPU
	made 'on(1, 0), on(2, 1), run(1, 10), end(2, 12), run(1, 20), on(0, 25), run(0, 26), \
		run(1, 30)'
	pmu-topprof --add latency,parallelism --label timestamp_ns -o p.pb.gz s.data
	values p.pb.gz >got
	printf "%s\n" "500000 2" "1000000 1" "0 " "1000000 1" >want
	same want got
	# the switch out of 2 is lost, the next switch in makes up for it: uncertain until then
	made 'on(1, 0), on(2, 1), run(1, 10), lost(15), run(1, 20), on(2, 25), off(2, 26), run(1, 30)'
	pmu-topprof --frames no-lost --add latency --label timestamp_ns -o p.pb.gz s.data
	values p.pb.gz | tr -d " " >got
	printf "%s\n" 500000 500000 1000000 >want
	same want got
	go tool pprof -comments p.pb.gz 2>err | grep -q "threads ran at 1 samples"
END

check 'cycles have latency_cycles; other events, and streams without switches, are refused' <<'END'
	made "$reference" '0, 0, 1 << 26'
	pmu-topprof --add latency -o p.pb.gz s.data
	go tool pprof -raw p.pb.gz 2>err >raw
	grep -qx "samples/count cycles/count latency_cycles/count\[dflt\]" raw
	go tool pprof -top p.pb.gz 2>err | grep -q "Total samples = 6499999 "
	made "$reference" '0, 1, 1 << 26'
	exits 1 pmu-topprof --add latency -o p.pb.gz s.data 2>err
	grep -q "needs a clock or cycles" err
	made 'run(1, 10)' '1, 0, 0'
	for option in latency parallelism; do
		exits 1 pmu-topprof --add $option -o p.pb.gz s.data 2>err
		grep -q -- "--add $option needs the context switches.*--record switches" err
	done
	go tool pprof -raw p.pb.gz 2>/dev/null | grep -qx "samples/count cpu/nanoseconds\[dflt\]"
	exits 2 pmu-topprof --add latency p.pb.gz
END

check 'one thread alone, and then two: each sample is worth what perf script shows' <<'END'
	pmu-sample --record switches -e cpu-clock -F 2000 -o s.data -- ten pair 0.6
	pmu-symbolize s.data | pmu-topprof --add latency,parallelism -o p.pb.gz
	weighed p.pb.gz >got
	perf script --ns --show-switch-events --show-task-events -i s.data \
		-F comm,tid,time,period,event,ip,sym 2>err | latency script >want
	for what in A B C 1 total; do
		grep "^$what " want
		test "$(sed -n "s/^$what //p" got)" = "$(sed -n "s/^$what //p" want)"
	done
	# alone, A delays the end by all of its time; B and C by half of theirs, or more
	go tool pprof -symbolize=none -raw p.pb.gz 2>err | latency profile cpu >cpu
	test "$(sed -n "s/^A //p" got)" -eq "$(sed -n "s/^A //p" cpu)"
	for f in B C; do
		at_least $(sed -n "s/^$f //p" got) $(sed -n "s/^$f //p" cpu | awk "{ print \$1 * .49 }")
		at_most $(sed -n "s/^$f //p" got) $(sed -n "s/^$f //p" cpu)
	done
	none grep -q "\[k\]\|context-switches" got
END

check 'switches alone record neither stacks nor samples of switches, but the CPU' <<'END'
	# it sleeps: on an idle machine, what only works may end before it is switched out
	pmu-sample --record switches -e cpu-clock -F 10000 -o s.data -- ten lazy 0.01
	perf script -i s.data --show-switch-events -F comm,tid,cpu,time,event 2>err >lines
	grep -q "PERF_RECORD_SWITCH OUT" lines
	grep "cpu-clock" lines | grep -q "\[[0-9]*\]"
	none grep context-switches lines
	pmu-stream --dump s.data | sed -n "s/.* ATTR .* sample_type=//p" >type
	test "$(wc -l <type)" -eq 2		# and a dummy event
	test $(($(head -n 1 type | cut -d " " -f 1) & 0xa0)) -eq 128	# CPU, no CALLCHAIN
	pmu-stream s.data | grep -q "^SWITCH  *[1-9]"
END

check 'with an interval each profile says for how long nothing ran in it' <<'END'
	# thread 1 runs from 0 to 0.3 s, and from 1.5 s to 2.5 s
	made 'run(1, 0), off(1, 3000), on(1, 15000), run(1, 15010), run(1, 24000), off(1, 25000)'
	pmu-topprof --add latency --split 1s -o p-%s.pb.gz s.data
	for p in p-*; do
		go tool pprof -comments $p 2>err | sed -n "s/^latency: nothing ran for //p"
	done >got
	printf "%s us\n" "700000 of 1000000" "500000 of 1000000" "0 of 500000" >want
	same want got
END

# columns PROFILE: cpu, off-cpu, wall of each stack
columns() {
	go tool pprof -symbolize=none -raw "$1" 2>err | sed -n "/^Samples:/,/^Locations/p" >raw
	sed -n 2p raw
	awk '/^ +[0-9]+ .*: / { print $2, $4, $5 + 0 }' raw
}

check 'the time of a thread on CPUs is that between its switches, whatever its clock counts' <<'END'
	compose s.data <<-PYTHON
		KIND = IP | TID | TIME | PERIOD | IDENT
		def trailer(time):
		    return struct.pack("<IIQQ", 7, 7, 10**9 + time * 10**5, 1)
		def sample(event, time, ip):
		    return record(9, struct.pack("<QQIIQQ", event, ip, 7, 7, 10**9 + time * 10**5,
		                                 1500000 if event == 1 else 1))
		def on(time):
		    return record(14, trailer(time), 0)
		def off(time):
		    return record(14, trailer(time), 1 << 13)
		events = [record(64, attr(1, config, period, KIND, 1 << 18 | 1 << 26) +
		                 struct.pack("<Q", id), 0)
		          for config, period, id in ((0, 10**6, 1), (3, 1, 2))]
		out = pipe(*events, record(1, mmap(7, 0x400000, 0x100000, b"/bin/prog") + trailer(0)),
		           record(3, struct.pack("<II", 7, 7) + pad(b"prog") + trailer(0)),
		           sample(1, 20, 0x401000), sample(1, 40, 0x401000), sample(2, 49, 0x402000),
		           off(50), on(80), sample(1, 90, 0x401000), sample(2, 99, 0x402000),
		           off(100), on(150), sample(1, 160, 0x403000))
	PYTHON
	pmu-topprof --add wall -l tid -o p.pb.gz s.data
	# four samples of 1.5 ms of the clock; 8 ms on CPUs and 8 ms of waits are 16 ms
	go tool pprof -symbolize=none -raw p.pb.gz 2>err | sed -n "/^Samples/,/^Locations/p" |
		sed -nE "s/^ *([0-9 ]+): .*/\1/p" | tr -s ' ' | sort >got
	printf '%s\n' '0 0 2 8000000 8000000' '1 1500000 0 0 2000000' '3 4500000 0 0 6000000' |
		same - got
END

check 'of threads that switch often, waits and time are those of the records of switches' <<'END'
	pmu-sample -q --off-cpu -e cpu-clock -F 1000 -m 16Mi -o s.data -- turns pass 50000 0.5
	pmu-topprof --add wall -l tid -o p.pb.gz s.data
	go tool pprof -comments p.pb.gz 2>err | none grep "^lost:" || skip 'records were lost'
	go tool pprof -symbolize=none -raw p.pb.gz 2>err |
		PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/switches.py" s.data >all
	cat all
	awk '$2 >= 100' all >got	# a sanitizer has a thread of its own at the end
	test "$(wc -l <got)" = 2
	while read -r tid switches on off waits wall; do
		near $waits $off $((off / 100))
		near $wall $((on + off)) $(((on + off) / 100 + 5000000))
	done <got
END

check 'bars of time on CPUs and waits are of the sampled part; what was measured is exact' <<'END'
	any_user
	python3 - "$TOP" >p.pb <<-'PY'
		import sys
		sys.path.insert(0, sys.argv[1] + "/tests")
		from profiles import *
		names = [b"cpu_samples", b"count", b"cpu", b"nanoseconds", b"off-cpu_samples", b"off-cpu",
		         b"wall", b"hot", b"cold", b"few", b"wait"]
		at = {n: FIRST + i for i, n in enumerate(names)}
		types = [(b"cpu_samples", b"count"), (b"cpu", b"nanoseconds"), (b"off-cpu_samples", b"count"),
		         (b"off-cpu", b"nanoseconds"), (b"wall", b"nanoseconds")]
		def row(i, n, waits=0, ns=0):
		    return sample([i], [n, n * 10**6, waits, ns, n * 10**6 + ns])
		parts = [bytes_of(1, number(1, at[t]) + number(2, at[u])) for t, u in types]
		for i, name in enumerate(names[7:], 1):
		    parts += [function(i, at[name]), location(i, [i])]
		parts += [row(1, 600), row(2, 397), row(3, 3), row(4, 0, 5, 10 * 10**9)]
		# more rows than a table shows would widen bars; here all are shown, or too few
		sys.stdout.buffer.write(profile(parts, names, types=0))
	PY
	pmu-top -t wall p.pb >table
	cat table
	grep -qE ' 90.91%  exact .* wait$' table
	# 600 of 1,000 samples are 60 % +/- 3.03, of 1 s in 11
	grep -qE ' 5.45%   0.2[78] .* hot$' table
	grep -qE ' 3.61%   0.2[78] .* cold$' table
	grep -q '^1,000 samples' table
	grep -q '^1 more function, too rare to measure (under 0.0[789]' table
	pmu-top -t off-cpu p.pb >table
	grep -qE '100.00%  exact .* wait$' table
	none grep 'too rare' table
END

check 'the time of a thread is its samples of the clock and its waiting time' <<'END'
	pmu-sample --off-cpu -e cpu-clock -F 2000 -o s.data -- sh -c "ten serial 0.1; sleep 0.3"
	pmu-symbolize -q s.data | pmu-topprof --add wall --slices 20 --label thread_comm -o p.pb.gz
	columns p.pb.gz >got
	grep -q "cpu/nanoseconds .* off-cpu/nanoseconds wall/nanoseconds.dflt.$" got
	# time on CPUs is that between switches: only waits are the same
	awk 'NR > 1 && $2 && !$1 && $2 != $3 { print "wrong: " $0; bad = 1 }
	     { cpu += $1; waits += $2; wall += $3 } END { print cpu, waits, wall; exit bad }' got
	at_least "$(awk '{ wall += $3 } END { print wall }' got)" 400000000
	# as folded stacks, too: the sleeper
	pmu-symbolize -q s.data | pmu-topprof --add wall --to folded >folded
	at_least "$(awk '/^sleep;/ { s += $NF } END { print s }' folded)" 300000000
	# bars are those of the samples: a function that only waits has none of chance
	pmu-top -q p.pb.gz >table
	grep -q "^wall (nanoseconds)" table
	grep -q "within +/- in 95 of" table
	pmu-top -q -t off-cpu p.pb.gz | grep -q "^off-cpu"
END

check 'the type of waits is shown first if it exists; --add wall needs waits and a clock' <<'END'
	pmu-sample --off-cpu -e cpu-clock -F 2000 -o s.data -- sh -c "ten serial 0.02; sleep 0.01"
	pmu-topprof -o p.pb.gz s.data
	go tool pprof -raw p.pb.gz 2>/dev/null | grep -q " off-cpu/nanoseconds.dflt.$"
	pmu-topprof --add wall,latency -o p.pb.gz s.data
	go tool pprof -raw p.pb.gz 2>/dev/null |
		grep -q " off-cpu/nanoseconds latency/nanoseconds.dflt. wall/nanoseconds$"
	made "$reference"
	exits 1 pmu-topprof --add wall -o p.pb.gz s.data 2>err
	grep -q -- "--add wall needs a clock, and where threads wait" err
END

check '--add time: cycles are as much time as the totals of the event say' <<'END'
	made 'run(1, 10), run(1, 20), run(2, 30, period=500000), total(4000000, 2000000, 2000000)' \
		'0, 0, 1 << 1'
	pmu-topprof --add time --label timestamp_ns -o p.pb.gz s.data
	go tool pprof -raw p.pb.gz 2>err >raw
	grep -qx "samples/count cycles/count\[dflt\] cpu/nanoseconds" raw
	values p.pb.gz | tr -d " :" >got
	printf "%s\n" 500000 500000 250000 >want
	same want got
	grep -qx "Comment: estimated: cpu/nanoseconds is cycles at 2 GHz; this assumes each \
thread.s clock constant" raw
	# of an event that shared its counter: 2 M cycles in half of 2 ms are 4 M in all of it
	made 'run(1, 10), run(1, 20), total(2000000, 2000000, 1000000)' '0, 0, 1 << 1'
	pmu-topprof --add time -o p.pb.gz s.data
	go tool pprof -raw p.pb.gz 2>err >raw
	grep -q "^ *2 *4000000 *2000000:" raw
	grep -q "is cycles at 2 GHz;" raw
	# what was counted but not sampled took time, too
	made 'run(1, 10), run(1, 20), total(4000000, 2000000, 2000000)' '0, 0, 1 << 1'
	pmu-topprof --add time --frames not-sampled -o p.pb.gz s.data
	go tool pprof -raw p.pb.gz 2>err >raw
	test "$(grep -c "^ *2 *2000000 *1000000:" raw)" = 2
END

check '--add time refuses what is not the time of threads, and what has no totals' <<'END'
	totals='total(4000000, 2000000, 2000000)'
	while read -r event records why; do
		made "run(1, 10)$(test $records = none || echo ", $totals")" "$event"
		exits 1 pmu-topprof --add time -o p.pb.gz s.data 2>err
		grep -q -- "--add time: .*$why" err
		go tool pprof -raw p.pb.gz 2>err | none grep "cpu/nanoseconds$"
	done <<-CASES
		0,0,1<<1 none has no total of 'cycles'
		0,0,0 total idle time
		0,0,1<<1|1<<5 total only cycles of the program or of the kernel
		0,1,1<<1 total has no cycles
		1,0,1<<1 total has a clock
	CASES
	exits 2 pmu-topprof --add time --split 1s -o p-%s.pb.gz s.data
END

done_testing
