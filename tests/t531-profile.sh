#!/bin/sh
# What a profile holds: what was lost, labels, the samples that were wanted, waiting time.
# kinds: release asan
. tests/lib.sh

raw() { go tool pprof -raw "$1" 2>/dev/null; }
# samples PROFILE: the lines of its samples and their labels
samples() { raw "$1" | sed '1,/^Samples:/d; /^Locations/,$d'; }
# column PROFILE N: the sum of the Nth value of all samples
column() {
	samples "$1" |
		awk -v n="$2" '/^ +[0-9]/ { sub(":.*", ""); s += $n } END { printf "%.0f\n", s }'
}
count() { perf script -G -F "$2" -i "$1" 2>/dev/null | sed 's/^ *//' | grep -c "$3"; }

check 'lost samples are a frame of their own, by event, with its period' <<'END'
	compose s.data <<-END
		t = IP | TID | TIME | ID
		a = [attr(0, 0, 1000, t), attr(0, 1, 50, t)]
		tail = struct.pack("<IIQQ", 7, 7, 9, 2)
		def sample(i): return record(9, struct.pack("<QIIQQ", 0x1000, 7, 7, 5, i))
		out = pipe(*[record(64, x + struct.pack("<Q", i + 1), 0) for i, x in enumerate(a)],
		    sample(1), sample(2), sample(2), record(2, struct.pack("<QQ", 1, 4) + tail),
		    record(13, struct.pack("<Q", 3) + tail))
	END
	pmu-topprof -o p.pb.gz s.data
	raw p.pb.gz >out
	# cycles: 4 of 1000; instructions: 3 of 50
	grep -q "^ *4 *4000 *3 *150: " out
	grep -q "\[lost\]" out
	grep -q "0x9.*/.*\[lost\]" out
	test "$(column p.pb.gz 1) $(column p.pb.gz 2)" = "5 5000"
	test "$(column p.pb.gz 3) $(column p.pb.gz 4)" = "5 250"
	go tool pprof -comments p.pb.gz 2>err | grep -q "lost: 7 samples"
	go tool pprof -top -sample_index=1 p.pb.gz 2>err | grep -q "\[lost\]$"
	pmu-topprof --frames no-lost -o q.pb.gz s.data
	raw q.pb.gz | none grep "\[lost\]"
	test "$(column q.pb.gz 1) $(column q.pb.gz 4)" = "1 100"
END

check 'names of sample types: of one event, of several, of time, as perf_to_profile' <<'END'
	unsanitized
	pmu-sample -e cpu-clock -F 500 -o a.data -- ten serial 0.1
	pmu-sample -e page-faults,cpu-clock -F 500 -o b.data -- ten serial 0.1
	types() { raw "$1" | sed -n "/^Samples:/{n;p;q}"; }
	pmu-topprof -o p.pb.gz a.data
	test "$(types p.pb.gz)" = "samples/count cpu/nanoseconds[dflt]"
	pmu-topprof -o p.pb.gz b.data
	first="page-faults_samples/count page-faults/count[dflt]"
	test "$(types p.pb.gz)" = "$first cpu_samples/count cpu/nanoseconds"
	pmu-topprof --types perf -o p.pb.gz b.data
	first="page-faults_sample/count page-faults_event/count[dflt]"
	test "$(types p.pb.gz)" = "$first cpu-clock_sample/count cpu-clock_event/count"
	pmu-topprof --event cpu-clock -o p.pb.gz b.data
	test "$(types p.pb.gz)" = "samples/count cpu/nanoseconds[dflt]"
	test "$(column p.pb.gz 1)" = "$(count b.data event cpu-clock)"
	raw p.pb.gz | grep -q "^PeriodType: cpu nanoseconds"
	raw p.pb.gz | grep -q "^Period: 2000000$"
	exits 2 pmu-topprof --types other a.data 2>err
END

# two_processes: s.data, of ten threads each; and in all what perf script prints of the samples
two_processes() {
	test -e "$scratch/s.data" ||
		pmu-sample --sample-cpu -e cpu-clock -F 2000 -o "$scratch/s.data" -- \
			sh -c "ten threads 0.2 & ten threads 0.1; wait"
	cp "$scratch/s.data" .
	perf script -G -F comm,pid,tid,cpu,time -i s.data 2>/dev/null | sed "s/^ *//" >all
}

check 'samples of a process, thread, name, CPU, time: as perf script has them' <<'END'
	unsanitized
	two_processes
	test "$(wc -l <all)" -gt 100
	pid=$(awk '$1 == "t3" { split($2, p, "/"); print p[1]; exit }' all)
	tid=$(awk '$1 == "t3" { split($2, p, "/"); print p[2]; exit }' all)
	n() { pmu-topprof "$@" s.data >p.pb.gz && column p.pb.gz 1; }
	test "$(n --pid $pid)" = "$(grep -c " $pid/" all)"
	test "$(n --tid $tid)" = "$(grep -c "/$tid " all)"
	test "$(n --comm t3)" = "$(grep -c "^t3 " all)"
	cpu=$(sed -n '1s/.*\[0*\([0-9][0-9]*\)\].*/\1/p' all)
	test "$(n --cpu $cpu)" = "$(grep -c "\[0*$cpu\]" all)"
	half=$(($(wc -l <all) / 2))
	middle=$(sed -n "${half}s/.*\] *\([0-9.]*\):.*/\1/p" all)
	before=$(n --time ,$middle) after=$(n --time $middle,)
	test $((before + after)) = "$(wc -l <all)"
	near $before $half 10
	# the same of a resolved stream
	pmu-symbolize -q s.data >r.data
	pmu-topprof --comm t3 --pid $pid r.data >p.pb.gz
	test "$(column p.pb.gz 1)" = "$(awk "\$1 == \"t3\" && \$2 ~ /^$pid\//" all | wc -l)"
	n --pid 1 >none 2>err || :
	grep -q "no sample of the stream is selected" err
END

check 'labels: what was asked for, as perf script has it' <<'END'
	unsanitized
	two_processes
	pmu-topprof --label tid,cpu -o p.pb.gz s.data
	samples p.pb.gz | sed -n "s/.*tid:\[\([0-9]*\)\].*/\1/p" | sort -u >got
	awk '{ split($2, p, "/"); print p[2] }' all | sort -u | same - got
	samples p.pb.gz | grep -q "cpu:\[[01] cpu\]"
	# a line of values, then one of labels
	samples p.pb.gz | awk '/^ +[0-9]/ { v = $1 } /cpu:\[1 cpu\]/ { n += v }
		END { print n + 0 }' >got
	grep -c "\[001\]" all | same - got
	# timestamps: each sample is one
	pmu-topprof --label timestamp_ns,execution_mode,thread_comm -o p.pb.gz s.data
	test "$(samples p.pb.gz | grep -c "timestamp_ns:")" = "$(wc -l <all)"
	samples p.pb.gz | grep -q "execution_mode:\[Host User\]"
	samples p.pb.gz | grep -q "thread_comm:\[t7\]"
	exits 2 pmu-topprof --label pid,colour s.data >out 2>err
	grep -q "none, not .colour." err
	exits 2 pmu-topprof --label pid,field:pid s.data >out 2>err
	exits 0 pmu-topprof --label pid,pid s.data -o p.pb.gz
	grep -q "snoop_status" err
END

check 'control groups by their paths, as the stream has them' <<'END'
	unsanitized
	perf_record --all-cgroups -e cpu-clock -F 1000 -o p.data -- ten serial 0.05 || exit 77
	pmu-stream --dump p.data >dump
	id=$(sed -n "s/.* SAMPLE .* cgroup=\([0-9]*\) .*/\1/p" dump | sort -u | head -n 1)
	path=$(sed -n "s/.* CGROUP .* id=$id path=\"\(.*\)\"/\1/p" dump | head -n 1)
	test -n "$id" && test -n "$path" || { echo "perf records no control group here"; exit 77; }
	pmu-topprof --label cgroup -o p.pb.gz p.data
	samples p.pb.gz | grep -qF "cgroup:[$path]"
END

check 'usual labels: where there are several processes, unless an option says otherwise' <<'END'
	unsanitized
	# a sanitizer looks for leaks in a process of its own
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 \
		pmu-sample -e cpu-clock -F 1000 -o one.data -- ten threads 0.1
	pmu-sample -e cpu-clock -F 1000 -o two.data -- sh -c "ten serial 0.1; ten threads 0.1"
	pmu-topprof --slices 0 -o p.pb.gz one.data
	samples p.pb.gz | none grep ":\["
	pmu-topprof -o p.pb.gz two.data
	samples p.pb.gz | grep -q "pid:\[[0-9]*\]"
	samples p.pb.gz | grep -q "thread_comm:\[ten\]"
	pmu-topprof --label none -o p.pb.gz two.data
	samples p.pb.gz | none grep ":\["
END

check 'a weight of three numbers: the latency is the first, of 32 bits' <<'END'
	compose s.data <<-END
		WEIGHT, WEIGHT_STRUCT = 1 << 14, 1 << 24
		def stream(weight_type, *weights):
		    return pipe(record(64, attr(1, 0, 1, IP | TID | weight_type)),
		                *(record(9, struct.pack("<QIIQ", 16, 1, 1, w)) for w in weights))
		open("whole.data", "wb").write(stream(WEIGHT, 7 << 32 | 5))
		out = stream(WEIGHT_STRUCT, 7 << 48 | 3 << 32 | 0xfffffffe, 1 << 32 | 12)
	END
	for stream in s.data whole.data; do
		pmu-topprof --label weight $stream -o p.pb.gz
		samples p.pb.gz | sed -n "s/.*weight:\[\([0-9]*\).*/\1/p"
	done >got
	printf "%s\n" 12 4294967294 30064771077 | same - got
END

check 'where data came from, its address and cost: of a recording of loads' <<'END'
	file=$SHARED/weight_struct.perf.data
	needs "$file"
	pmu-topprof --label data_src,snoop_status,weight,addr "$file" -o p.pb.gz
	samples p.pb.gz >got
	# perf has the same weights
	perf script -G -F weight -i "$file" 2>/dev/null | tr -d " " | sort -u >want
	test "$(wc -l <want)" -gt 5
	sed -n "s/.*weight:\[\([0-9]*\).*/\1/p" got | sort -u | same want -
	perf script -G -F data_src -i "$file" 2>/dev/null |
		sed "s/.*LVL [^|]* or \([^|]*\)|.*/\1/" |
		sed "s/LFB.MAB/LFB/" | sort | uniq -c >want
	grep -o "data_src:\[[^]]*" got | sed "s/.*\[//" | sort | uniq -c | same want -
	pmu-topprof --frames data "$file" -o p.pb.gz
	perf script -G -F addr -i "$file" 2>/dev/null | tr -d " " | sort -u >want
	raw p.pb.gz | sed -n "/^Locations/,/^Mappings/s/^ *[0-9]*: 0x\([0-9a-f]*\) .*/\1/p" |
		sort >frames
	comm -12 want frames | same want -
	raw p.pb.gz | grep -q "\[data\]"
END

check 'fields of tracepoints as labels, also through the whole pipe' <<'END'
	test -e /sys/kernel/tracing/events/sched/sched_switch/format ||
		test -e /sys/kernel/debug/tracing/events/sched/sched_switch/format ||
		{ echo "no tracepoints here"; exit 77; }
	pmu-sample -R -e sched:sched_switch/period=1/ -o s.data -- ten threads 0.1 ||
		{ echo "sched:sched_switch cannot be sampled"; exit 77; }
	# the name of a thread may have a line end
	perf script -i s.data -F trace 2>/dev/null | awk '
		NR > 1 && /^prev_comm=/ { print "" } { printf "%s", $0 } END { print "" }' >want
	test "$(wc -l <want)" -gt 10
	pmu-symbolize -q s.data >r.data
	for stream in s.data r.data; do
		pmu-topprof --label field:prev_comm,field:next_pid -o p.pb.gz $stream
		samples p.pb.gz | LC_ALL=C sed -n "s/.*next_pid:\[\([0-9]*\)\].*/\1/p" | sort -u >got
		LC_ALL=C sed "s/.*next_pid=\([0-9]*\).*/\1/" want | sort -u | same - got
		samples p.pb.gz | LC_ALL=C sed -n "s/.*prev_comm:\[\([^]]*\)\].*/\1/p" | sort -u >got
		LC_ALL=C sed "s/prev_comm=\(.*\) prev_pid.*/\1/" want | sort -u | same - got
	done
END

check 'a group whose counters are read with each sample: of each event what perf has' <<'END'
	unsanitized
	# of one thread: perf 6.1 takes the counters of several for one that goes back, and a
	# sanitizer looks for leaks in a process of its own
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 \
		pmu-sample -e "{cpu-clock,page-faults,context-switches}:S" -F 1000 -o s.data \
		-- ten serial 0.2
	perf script -G -F event,period -i s.data 2>/dev/null | awk '
		{ sub(/:.*/, "", $2); n[$2]++; sum[$2] += $1 }
		END { for (e in n) printf "%s %d %d\n", e, n[e], sum[e] }' | sort >want
	test "$(wc -l <want)" -ge 2
	pmu-symbolize -q s.data >r.data
	for stream in s.data r.data; do
		pmu-topprof -o p.pb.gz $stream
		i=1
		for e in cpu-clock page-faults context-switches; do
			echo "$e $(column p.pb.gz $i) $(column p.pb.gz $((i + 1)))"
			i=$((i + 2))
		done | grep -v " 0 0" | sort | same want -
	done
	# of several threads: the last value of each counter, which is one thread's on one CPU
	pmu-sample -e "{cpu-clock,page-faults}:S" -F 1000 -o t.data -- ten threads 0.2
	pmu-topprof -o p.pb.gz t.data
	perf script -D -i t.data 2>/dev/null | sed -n "
		/RECORD_SAMPLE/s/.*: \([0-9]*\/[0-9]*\): 0x.*/\1/p
		/ group nr /{n;s/.* id 0*\([0-9a-f]*\), value 0*\([0-9a-f]*\),.*/\1 \2/p}" |
		paste -d" " - - >read
	sum=0
	for last in $(awk '{ last[$1, $2] = $3 } END { for (id in last) print last[id] }' read); do
		sum=$((sum + 0x$last))
	done
	cat read
	at_least "$(cut -d" " -f1 read | sort -u | wc -l)" 2
	test "$(column p.pb.gz 1)" = "$(wc -l <read)"
	test "$(column p.pb.gz 2)" = $sum
END

check 'a profile for each process, each thread' <<'END'
	unsanitized
	two_processes
	pmu-topprof --split process -o procs s.data
	awk '{ split($2, p, "/"); print p[1] }' all | sort -u >want
	ls procs | sed "s/.*-\([0-9]*\).pb.gz/\1/" | sort -u | same want -
	test "$(ls procs | grep -c "^ten-")" = 2	# by the process, not by a thread of it
	total=0
	for file in procs/*; do total=$((total + $(column $file 1))); done
	test $total = "$(wc -l <all)"
	pmu-symbolize -q s.data | pmu-topprof --split thread -o threads
	awk '{ split($2, p, "/"); print p[2] }' all | sort -u >want
	ls threads | sed "s/.*-\([0-9]*\).pb.gz/\1/" | sort -u | same want -
	# by the name at its first sample, which may be from before it had one
	test "$(ls threads | grep -c "^t[0-9]-[0-9]*.pb.gz")" -ge 5
	for file in threads/t[0-9]-*.pb.gz; do
		function=$(echo "$file" | sed "s,threads/t\([0-9]\).*,\1," | tr 0-9 A-J)
		go tool pprof -top "$file" 2>err | grep -q " $function$"
	done
	test -z "$(ls -a procs threads | grep tmp || :)"
END

check 'the profile of an interval appears when it is over, also if nothing comes after it' <<'END'
	pmu-sample -e cpu-clock -o s.data -- ten serial 0.02
	{ cat s.data; exec sleep 600; } |
		pmu-topprof --split 1s -o "p-%s.pb.gz" &
	there() { gzip -t p-*.pb.gz; }
	eventually there
END

check 'a profile for each interval, whole when it appears, all samples in one of them' <<'END'
	unsanitized
	pmu-sample -e cpu-clock -F 1000 -o - -- \
		sh -c "until test -e stop; do ten serial 0.02; sleep 0.2; done" |
		tee s.data | pmu-symbolize -q |
		pmu-topprof --split 1s -o "p-%Y%m%d-%H%M%S.pb.gz" &
	early() { test "$(ls p-*.pb.gz | wc -l)" -ge 2; }
	eventually early	# before the end
	most=$(($(wc -c <s.data) + 6000))	# some rounds of the loop, which have samples
	more() { test "$(wc -c <s.data)" -ge $most; }
	eventually more
	touch stop
	wait
	ls p-*.pb.gz >late
	test "$(wc -l <late)" -ge 3
	total=0
	for file in p-*; do total=$((total + $(column $file 1))); done
	test $total = "$(count s.data tid .)"
	raw "$(sed -n 2p late)" | grep -q "^Duration: 1s$"
	# its name is when it begins
	day=$(sed -n "2s/p-\(....\)\(..\)\(..\)-.*/\1-\2-\3/p" late)
	raw "$(sed -n 2p late)" | grep -q "^Time: $day"
	exits 2 pmu-topprof --split 1s s.data 2>err
	exits 2 pmu-topprof --split 1s -o p.pb.gz s.data 2>err
	grep -q "needs the time in the name of -o" err
END

check 'no more stacks than allowed, the rest at [other stacks], totals as they are' <<'END'
	make-stream 20000 5000 6 >s.data
	pmu-topprof s.data >all.pb.gz
	pmu-topprof --max-stacks 100 s.data >few.pb.gz
	test "$(samples few.pb.gz | grep -c "^ *[0-9]")" -le 101
	test "$(column few.pb.gz 1)" = "$(column all.pb.gz 1)"
	test "$(column few.pb.gz 2)" = "$(column all.pb.gz 2)"
	go tool pprof -top -nodecount=1 few.pb.gz 2>err | grep -q "\[other stacks\]"
	exits 2 pmu-topprof --max-stacks 1 s.data 2>err >out
END

check 'samples are in order from the root: each has most callers of the one before' <<'END'
	unsanitized
	make-stream 5000 tree 40 >s.data
	pmu-topprof -o p.pb.gz s.data
	raw p.pb.gz >raw
	shared=$(awk '/^Locations/ { exit }
		/^ +[0-9]+ +[0-9]+: / { frames = NF - 2
			for (same = 0; same < frames && same < n && $(NF - same) == f[n - same]; )
				same++
			shared += same; all += frames; n = frames
			for (i = 1; i <= n; i++) f[i] = $(i + 2) }
		END { print 100 * shared / all }' raw)
	at_least $shared 70
END

# lasted STREAM: seconds between its first record and its last
lasted() {
	pmu-stream --dump "$1" | sed -n "s/.* time=\([0-9][0-9]*\).*/\1/p" | sort -n |
		awk 'NR == 1 { first = $1 } END { printf "%.9f\n", ($1 - first) / 1e9 }'
}

check 'waiting time, by the stack on which threads began to wait' <<'END'
	unsanitized
	pmu-sample --off-cpu -e cpu-clock -o s.data -- sh -c "sleep 0.3; sleep 0.5"
	pmu-symbolize -q s.data | pmu-topprof -o p.pb.gz
	raw p.pb.gz >raw
	grep -q "off-cpu_samples/count off-cpu/nanoseconds" raw
	go tool pprof -sample_index=off-cpu -traces p.pb.gz >traces 2>err
	# sleep slept for 0.8 s, longer on a busy machine: but never longer than all took
	go tool pprof -sample_index=off-cpu -raw -tagfocus=thread_comm=sleep p.pb.gz >sleeps 2>err
	slept=$(awk '/^ +[0-9]/ { sub(":.*", ""); s += $NF } /^Locations/ { exit }
		END { printf "%.9f\n", s / 1e9 }' sleeps)
	at_least $slept 0.78
	at_most $slept "$(lasted s.data)"
	grep -q "nanosleep" raw
	# the same from a stream of perf's
	perf_record -e context-switches -c 1 -g --switch-events -o t.data -- sleep 0.4 || exit 77
	pmu-symbolize -q t.data | pmu-topprof -o q.pb.gz
	slept=$(awk "BEGIN { printf \"%.9f\", $(column q.pb.gz 2) / 1e9 }")
	at_least $slept 0.39
	at_most $slept "$(lasted t.data)"
END

check 'a precise leaf replaces the one of the callchain; only branches of calls are a stack' <<'END'
	cat >common <<-END
		USER = -512 & 2**64 - 1
		def stream(branch, body):
		    a = attr(0, 0, 1000, IP | TID | TIME | CHAIN | 1 << 11)
		    a = a[:72] + struct.pack("<Q", branch) + a[80:]
		    m = record(1, mmap(7, 0x400000, 0x100000, b"/bin/prog", 0x10000)
		               + struct.pack("<IIQ", 7, 7, 1))
		    return pipe(record(64, a + struct.pack("<Q", 1), 0), m, body)
		def sample(ip, chain, branches, misc=2):
		    body = struct.pack("<QIIQ", ip, 7, 7, 5)
		    body += struct.pack("<%dQ" % (len(chain) + 1), len(chain), *chain)
		    body += struct.pack("<Q", len(branches))
		    body += b"".join(struct.pack("<QQQ", *b) for b in branches)
		    return record(9, body, misc)
		chain = [USER, 0x401000, 0x402000, 0x403000]
		branches = [(0x405000, 0x401000, 0), (0x406000, 0x405500, 0)]
	END
	addresses() {
		raw $1 | sed -n "/^Locations/,/^Mappings/s/^ *[0-9]*: \(0x[0-9a-f]*\) .*/\1/p" |
			sort | tr "\n" " "
	}
	made() { { cat common; echo "out = $2"; } | compose "$1"; }
	made precise.data "stream(8, sample(0x400ffc, chain, branches, 2 | 1 << 14))"
	pmu-topprof -o p.pb.gz precise.data
	# file offsets of: the leaf as it is, callers where they called
	test "$(addresses p.pb.gz)" = "0x10ffc 0x11fff 0x12fff "
	made any.data "stream(8, sample(0x401000, chain, branches))"
	pmu-topprof -o p.pb.gz any.data
	test "$(addresses p.pb.gz)" = "0x11000 0x11fff 0x12fff "
	# PERF_SAMPLE_BRANCH_CALL_STACK: where the calls were made
	made lbr.data "stream(1 << 11 | 8, sample(0x401000, [], branches))"
	pmu-topprof -o p.pb.gz lbr.data
	test "$(addresses p.pb.gz)" = "0x11000 0x15000 0x16000 "
END

check 'callers that the sample before has, too, are looked up where they are mapped now' <<'END'
	compose s.data <<-END
		USER = -512 & 2**64 - 1
		times = iter(range(1, 9))
		def code(pid, offset):
		    return record(1, mmap(pid, 0x400000, 0x100000, b"/bin/prog", offset)
		                  + struct.pack("<IIQ", pid, pid, next(times)))
		def sample(pid, leaf):
		    return record(9, struct.pack("<QIIQ6Q", leaf, pid, pid, next(times), 5, USER, leaf,
		                                 0x402000, 0x403000, 0x404000))
		a = record(64, attr(0, 0, 1000, IP | TID | TIME | CHAIN) + struct.pack("<Q", 1), 0)
		out = pipe(a, code(7, 0x10000), sample(7, 0x401000), sample(7, 0x401800),
		           code(8, 0x20000), sample(8, 0x401000), sample(7, 0x401000),
		           code(7, 0x30000), sample(7, 0x401800))
	END
	pmu-topprof -o p.pb.gz s.data
	raw p.pb.gz >raw
	for at in 1:11000 1:11800 2:21000 3:31800; do
		callers=$(for k in 2 3 4; do printf "%x " $((0x$((${at%%:*}))0000 + k * 4096 - 1)); done)
		echo "${at#*:} $callers"
	done | sed "s/ $//" | sort >want
	awk '/^Locations/ { places = 1 } /^Mappings/ { exit }
		/^ +[0-9]+: 0x/ && places { sub(":", "", $1); sub("0x", "", $2); at[$1] = $2 }
		/^ +[0-9]+ +[0-9]+: / { chain[++n] = $0 }
		END { for (i = 1; i <= n; i++) { k = split(chain[i], f); line = ""
			for (j = 3; j <= k; j++) line = line (j > 3 ? " " : "") at[f[j]]
			print line } }' raw | sort -u | same want -
END

check 'equal samples in any order make the same profile, to the byte' <<'END'
	unsanitized
	pmu-sample -g --sample-cpu -e cpu-clock,page-faults -F 2000 -o s.data -- \
		sh -c "ten threads 0.1; ten serial 0.1"
	pmu-symbolize -q s.data >r.data
	cat >shuffle.py <<-END
		import random, struct, sys
		def order(name, to, kinds, seed):
		    data = open(name, "rb").read()
		    at, records = 16, []
		    while at < len(data):
		        size, = struct.unpack_from("<H", data, at + 6)
		        records.append(data[at:at + size])
		        at += size
		    places = [i for i, r in enumerate(records)
		              if struct.unpack_from("<I", r)[0] in kinds]
		    picked = [records[i] for i in places]
		    random.Random(seed).shuffle(picked)
		    # samples after all that define what they mean
		    others = [r for r in records if struct.unpack_from("<I", r)[0] not in kinds]
		    last = others.pop()
		    open(to, "wb").write(data[:16] + b"".join(others + picked + [last]))
		for seed in 1, 2:
		    order("r.data", "r%d.data" % seed, (0x504d000c,), seed)
	END
	python3 shuffle.py
	exits 1 cmp -s r1.data r2.data
	pmu-topprof -o a.pb.gz r1.data
	pmu-topprof -o b.pb.gz r2.data
	cmp a.pb.gz b.pb.gz
	test "$(column a.pb.gz 1)" -gt 100
	pmu-topprof -o c.pb.gz r.data
	samples c.pb.gz | sort >want
	samples a.pb.gz | sort | same want -
END

# A selection that selects all makes each sample be looked up by itself.
check 'samples of threads that had one just before count as those looked up by themselves' <<'END'
	compose s.data <<-END
		import random
		random.seed(5)
		USER, KERNEL = -512 & 2**64 - 1, -128 & 2**64 - 1
		THREADS = [(7 + t % 5, 7 + t % 5 + 64 * (t // 5)) for t in range(10)]
		now = 1000
		def by(pid, tid, event):
		    return struct.pack("<IIQQ", pid, tid, now, event)
		def code(pid):
		    return record(1, mmap(pid, 0x400000, 0x100000, b"/bin/prog",
		                          random.randrange(4) << 16) + by(pid, pid, 1))
		def name(pid, tid):
		    return record(3, struct.pack("<II", pid, tid) +
		                  pad(b"name%d" % random.randrange(5)) + by(pid, tid, 1))
		def sample():
		    pid, tid = random.choice(THREADS)
		    leaf = 0x401000 + 16 * random.randrange(4)
		    words = random.choice([[], [USER, leaf], [USER, leaf, 0x402000, 0x403000],
		                           [KERNEL, 0xffffffff81000000, USER, leaf, 0x402000]])
		    return record(9, struct.pack("<QQIIQQQ%dQ" % len(words), random.choice([1, 2]),
		                                 leaf, pid, tid, now, random.choice([1, 1000]),
		                                 len(words), *words), random.choice([1, 2]))
		def event(config, id):
		    kind = IDENT | IP | TID | TIME | PERIOD | CHAIN
		    return record(64, attr(1, config, 0, kind) + struct.pack("<Q", id), 0)
		clock = struct.pack("<QIIQQ", 29, 1, 1, 10**18, 0)	# time 0 is in 2001
		records = [event(0, 1), event(2, 2), record(80, clock, 0)]
		for i in range(30000):
		    now = 1000 + i * 1000000 + random.randrange(100000000)
		    pid, tid = random.choice(THREADS)
		    kind = random.randrange(600)
		    records.append(code(pid) if kind == 0 else name(pid, tid) if kind == 1 else sample())
		    if i % 1000 == 999:
		        records.append(record(68, b"", 0))
		out = pipe(*records)
	END
	compared=0
	for options in '' '-l pid,tid,thread_comm' '-l comm' '-l none' '-l execution_mode,tid' \
		'--max-stacks 50' '--frames cut' '--to folded' '--split 1s'; do
		rm -rf short long
		mkdir short long
		for way in 'short -q' 'long --time=0,100'; do
			case $options in
			--split*) out="-o ${way%% *}/%s.pb" ;;
			*) out="-o ${way%% *}/p" ;;
			esac
			pmu-topprof ${way#* } $options -Z none $out s.data 2>"${way%% *}.said"
		done
		ls short | tail -n 1
		test -s "short/$(ls short | head -n 1)"
		diff -r short long
		compared=$((compared + 1))
	done
	test "$compared" = 9
END

done_testing
