#!/bin/sh
# pmu-sample: what it writes, as perf reads it; targets; how it ends.
# kinds: release user
. tests/lib.sh

# The samples that perf finds in STREAM.
perf_samples() {
	perf report -i "$1" --stats 2>/dev/null | awk '/SAMPLE events:/ { print $3; exit }'
}

# share STREAM KEY: the percentage of samples in which perf prints KEY as a whole word
share() {
	perf script -i "$1" -F "$3" 2>/dev/null |
	awk -v key="$2" '{ n++; if ($1 == key) k++ } END { printf "%.3f\n", n ? 100 * k / n : -1 }'
}

# near ACTUAL EXPECTED TOLERANCE
near() {
	awk -v a="$1" -v e="$2" -v t="$3" 'BEGIN { d = a - e; if (d < 0) d = -d; exit !(d <= t) }' ||
	{ echo "$1 is not within $3 of $2"; return 1; }
}

check 'perf script and perf report read the stream, from a file and from a pipe' <<'END'
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ten serial 0.2
	perf script -i s.data >script 2>err
	test ! -s err
	grep -q "cpu-clock.* J+0x.*/ten)" script
	pmu-sample -e cpu-clock -F 1000 -- ten serial 0.2 | perf script -i - >piped 2>err
	test ! -s err
	grep -q "cpu-clock.* J+0x" piped
	pmu-sample -e cpu-clock -F 1000 -- ten serial 0.2 | perf report -i - --stdio 2>/dev/null >report
	grep -q "ten .* J *$" report
END

check 'perf report --stats has our counts, with and without callchains' <<'END'
	for g in "" -g; do
		pmu-sample $g -v -e cpu-clock -F 1000 -o s.data -- ten serial 0.3 2>err
		ours=$(sed -n "s/^pmu-sample: \([0-9]*\) samples.*/\1/p" err)
		test "$ours" -gt 200
		test "$(perf_samples s.data)" = "$ours"
	done
END

check 'samples come at the frequency and the period that were asked for' <<'END'
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ten serial 0.5
	near "$(perf_samples s.data)" 550 30
	perf script -i s.data -F period | sort -u >periods
	grep -qx " *1000000 *" periods
	test "$(wc -l <periods)" = 1
	pmu-sample -e cpu-clock -c 2ms -o s.data -- true 2>err || test $? = 2
	grep -q "takes a number from 1 on" err
	pmu-sample -e cpu-clock -c 2M -o s.data -- ten serial 0.5
	near "$(perf_samples s.data)" 275 20
END

check 'a command is sampled with the processes it creates' <<'END'
	pmu-sample -e cpu-clock -F 1000 -o s.data -- sh -c "ten serial 0.2; ten serial 0.2"
	perf script -i s.data -F pid | sort | uniq -c | sort -rn >pids
	test "$(awk "\$1 > 150" pids | wc -l)" = 2
END

check 'a process is sampled with all its threads, those it creates later too' <<'END'
	ten growing 4 &
	target=$!
	sleep 0.25
	exits 0 pmu-sample -e cpu-clock -F 1000 -p $target -o s.data
	wait $target
	# The last five began after we attached: each has one tenth of 4 seconds.
	for i in 5 6 7 8 9; do
		near "$(perf script -i s.data -F comm | grep -c "t$i")" 400 40
	done
END

check 'it does not follow a process that its target creates' <<'END'
	sh -c "sleep 0.5; ten serial 0.3; :" &
	target=$!
	sleep 0.2
	pmu-sample -e cpu-clock -F 1000 -p $target -o s.data
	wait $target
	test "$(perf script -i s.data -F comm | grep -c ten)" = 0
END

check 'callchains lead from the leaf to the start' <<'END'
	pmu-sample -g -e cpu-clock -F 1000 -o s.data -- ten serial 0.2
	perf script -i s.data -F ip,sym >chains
	awk 'BEGIN { RS = "" } / J\n/ && /__libc_start/ { n++ } END { exit !(n > 5) }' chains ||
	awk 'BEGIN { RS = "" } / J\n/ { n++ } END { exit !(n > 5) }' chains
END

check 'records are in order of their time' <<'END'
	pmu-sample -e cpu-clock -F 5000 -o s.data -- ten threads 0.5
	perf script -i s.data -F time | tr -d " :" >times
	test "$(wc -l <times)" -gt 500
	sort -n -c times
END

check 'several events come in one stream, told apart' <<'END'
	pmu-sample -e cpu-clock -e page-faults -c 1 -o s.data -- true 2>err || test $? = 1
	pmu-sample -e task-clock,page-faults -o s.data -- ten serial 0.2
	perf report -i s.data --stats >stats
	grep -q "^task-clock stats" stats
	grep -q "^page-faults stats" stats
END

check 'it stops at the duration, at SIGINT, at SIGTERM, when its reader goes' <<'END'
	ten serial 60 &
	target=$!
	exits 0 timeout 5 pmu-sample -e cpu-clock -p $target -d 300ms -o s.data
	test "$(perf_samples s.data)" -gt 100
	for signal in INT TERM; do
		pmu-sample -e cpu-clock -p $target -o s.data &
		sampler=$!
		sleep 0.3
		kill -$signal $sampler
		exits 0 wait $sampler
		test "$(perf_samples s.data)" -gt 100
	done
	{ timeout 5 pmu-sample -e cpu-clock -p $target 2>err; echo $? >status; } | head -c 1000 >part
	test "$(cat status)" = 0
	test ! -s err
	kill $target
END

check 'a command still running at the end is ended' <<'END'
	pmu-sample -e cpu-clock -d 200ms -o s.data -- sleep 1000.25 &
	wait $!
	test -z "$(pgrep -f "sleep 1000.25")"
END

check 'the default event says what it is, and why' <<'END'
	pmu-sample -o s.data -- ten serial 0.1 2>err
	if perf stat -e cycles true 2>&1 | grep -q "not supported"; then
		grep -q "^pmu-sample: cycles cannot be sampled, so cpu-clock is: .*PMU" err
		test "$(wc -l <err)" = 1
		perf script -i s.data | grep -q cpu-clock
	else
		test ! -s err
	fi
END

check 'an event that cannot be had is an error: nothing else is measured' <<'END'
	perf stat -e cycles true 2>&1 | grep -q "not supported" || { echo "this machine counts cycles"; exit 77; }
	exits 1 pmu-sample -e cycles -o s.data -- true 2>err
	grep -q "^pmu-sample: .*cycles.*PMU" err
END

check 'bad targets and events are told in one line, with what to do' <<'END'
	exits 1 pmu-sample -e cpu-clock -p 4194303 -o s.data 2>err
	grep -qx "pmu-sample: no process has the pid 4194303" err
	exits 1 pmu-sample -e cycels -o s.data -- true 2>err
	grep -q "^pmu-sample: .*unknown event .cycels.*cycles" err
	test "$(wc -l <err)" -le 3
	exits 1 pmu-sample -e cpu-clock -o s.data -- ./nosuch 2>err
	grep -qx "pmu-sample: cannot run ../nosuch.: No such file or directory" err
	exits 2 pmu-sample 2>err
	grep -q "^pmu-sample: nothing to sample: give -p PID or a command" err
	exits 2 pmu-sample -p x 2>err
	grep -q "is no pid" err
	exits 2 pmu-sample -p 1 true 2>err
	grep -q "both a process and a command" err
	exits 2 pmu-sample -c 1 -F 1 true 2>err
	grep -q "both a period and a frequency" err
END

check 'a target that ends at once still gives a whole stream' <<'END'
	for i in 1 2 3 4 5 6 7 8; do
		exits 0 pmu-sample -e cpu-clock -o s.data -- true
		perf script -i s.data >script 2>err
		test ! -s err
	done
END

check 'a user without rights samples the own process, without the kernel, and is told so' <<'END'
	test "$(id -u)" = 0 || { echo "not root"; exit 77; }
	command -v setpriv >/dev/null || { echo "no setpriv"; exit 77; }
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 || { echo "perf_event_paranoid is not 2"; exit 77; }
	cp "$(command -v pmu-sample)" "$(command -v ten)" .
	chmod 755 . pmu-sample ten
	mkdir out && chmod 777 out
	as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all"
	$as_nobody ./pmu-sample -e cpu-clock -F 1000 -o out/s.data -- ./ten serial 0.2 2>err
	cat err
	grep -q "kernel" err
	cp out/s.data own.data	# perf reads no file of others
	perf script -i own.data -F ip,sym >script
	grep -q " J" script
	test -z "$(grep -i "^ *ffffffff" script)"
	sleep 30 &
	target=$!
	exits 1 $as_nobody ./pmu-sample -e cpu-clock -p $target -o out/t.data 2>err
	kill $target
	cat err
	grep -qi "perf_event_paranoid\|CAP_PERFMON\|permission" err
END

check 'a full disk is an error; a terminal is no output for a stream' <<'END'
	exits 1 sh -c "pmu-sample -e cpu-clock -- true >/dev/full" 2>err
	grep -qx "pmu-sample: cannot write to stdout: No space left on device" err
	command -v script >/dev/null || { echo "no script(1)"; exit 77; }
	exits 2 script -qec "pmu-sample -e cpu-clock -- true" /dev/null >out </dev/null
	grep -q "will not write binary data to a terminal" out
END

check 'what the command prints does not get into the stream' <<'END'
	pmu-sample -e cpu-clock -- sh -c "echo hello; ten serial 0.1; echo world" 2>err >s.data
	stream-stats s.data >stats
	same - err <<-EOF
		hello
		world
	EOF
	pmu-sample -e cpu-clock -o s.data -- echo hello >out
	grep -qx hello out
END

check 'what it sets for itself is not passed on to the command' <<'END'
	pmu-sample -e cpu-clock -o s.data -- sh -c "grep SigIgn /proc/self/status" >ignored
	grep -q "SigIgn:.*0000$" ignored
END

done_testing
