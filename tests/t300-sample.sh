#!/bin/sh
# pmu-sample: what it writes, as perf reads it; how it starts and ends.
# kinds: release user
. tests/lib.sh
. tests/sampling.sh

check 'perf script and perf report read the stream, from a file and from a pipe' <<'END'
	pmu-sample -e cpu-clock -F 1000 -o s.data -- ten serial 0.1
	perf script -i s.data >script 2>err
	test ! -s err
	grep -q "cpu-clock.* J+0x.*/ten)" script
	perf report -i - --stdio <s.data 2>/dev/null >report
	grep -q "ten .* J *$" report
	pmu-sample -e cpu-clock -F 1000 -- ten serial 0.1 | perf script -i - >piped 2>err
	test ! -s err
	grep -q "cpu-clock.* J+0x" piped
END

check 'samples come at the rate asked for, and perf counts as many as we do' <<'END'
	for how in "-F 1000" "-c 2M -g"; do
		record() { pmu-sample -v $how -e cpu-clock -o s.data -- ten serial 0.3 2>err; }
		undisturbed record
		cat err
		ours=$(sed -n "s/^pmu-sample: \([0-9]*\) samples.*/\1/p" err)
		test "$(perf_samples s.data)" = "$ours"
		samples s.data event,period | sed -n "s/^ *\([0-9]*\) cpu-clock.*/\1/p" | sort -u >period
		test "$(wc -l <period)" = 1
		# three rounds of 110 ms, and what interrupts and the host take
		at_least "$(counted err cpu-clock)" 329000000
		at_most "$(counted err cpu-clock)" 500000000
		expected=$(($(counted err cpu-clock) / $(cat period)))
		near $ours $expected $((expected / 10 + 5 + taken))
		cat period >>periods
	done
	same - periods <<-EOF
		1000000
		2000000
	EOF
	exits 2 pmu-sample -e cpu-clock -c 2ms -o s.data -- true 2>err
	grep -q "takes a number from 1 on" err
END

check 'a command is sampled with the processes it creates' <<'END'
	pmu-sample -e cpu-clock -F 1000 -o s.data -- sh -c "ten serial 0.1; ten serial 0.1"
	samples s.data pid | sort | uniq -c >pids
	cat pids
	# the shell and two of 110 ms each
	sort -rn pids | head -n 2 >most
	while read -r number pid; do about $number 110; done <most
	at_most "$(wc -l <pids)" 3
END

check 'a process is sampled with all its threads, those it creates later too' <<'END'
	stolen_before=$(stolen)
	ten late 1 &
	target=$!
	have_names() { test "$(cat /proc/$target/task/*/comm | grep -c '^t[0-4]$')" = 5; }
	eventually have_names
	attach -e cpu-clock -F 1000 -p $target
	kill -USR1 $target
	exits 0 wait $sampler
	taken=$((10 * ($(stolen) - stolen_before)))	# ms, by the host, while clocks go on
	samples s.data comm | sort | uniq -c >names
	cat names
	# Half of them began after we attached; each works for 100 ms.
	for i in 0 1 2 3 4 5 6 7 8 9; do
		count=$(awk -v name=t$i '$2 == name { print $1 }' names)
		at_least "$count" 50
		at_most "$count" $((150 + taken))
	done
END

check 'it does not follow a process that its target creates' <<'END'
	mkfifo go
	sh -c "read line <go; ten serial 0.1; :" &
	attach -e cpu-clock -F 1000 -p $!
	echo >go
	exits 0 wait $sampler
	test -n "$(perf script -i s.data --show-task-events 2>/dev/null | grep ' sh ')"
	none grep ten <<-EOF
		$(samples s.data comm)
	EOF
END

check 'callchains lead from the leaf to the start' <<'END'
	pmu-sample -g -e cpu-clock -F 2000 -o s.data -- ten serial 0.1
	samples s.data ip,sym >chains
	awk 'BEGIN { RS = ""; FS = "\n" }
		$1 ~ / J$/ {	# its caller, serial(), may be inlined in main()
			n++
			i = 2 + ($2 ~ / serial$/)
			good += $i ~ / main$/ && $(i + 1) ~ / __libc_start/
		}
		END { print good, n; exit !(n > 20 && good > 0.9 * n) }' chains
END

check 'records are in order of their time' <<'END'
	pmu-sample -e cpu-clock -F 5000 -o s.data -- ten threads 0.2
	samples s.data time | tr -d " :" >times
	at_least "$(wc -l <times)" 700
	sort -n -c times
END

check 'several events come in one stream, each with its samples' <<'END'
	pmu-sample -e cpu-clock -e page-faults -c 100k -o s.data -- true
	pmu-sample -e task-clock,page-faults/period=1/ -o s.data -- ten serial 0.1
	perf report -i s.data --stats >stats
	grep -q "^task-clock[:uH]* stats" stats
	grep -q "^page-faults[:uH]* stats" stats
END

check 'a software event keeps its period beside other events' <<'END'
	# two threads fault, one after the other; a counter of each may end within a period
	pmu-sample -v -o s.data -e cpu-clock/freq=97/u -e page-faults/period=37/u -- \
		ten faulting 0.3 2>err
	samples s.data event,period | awk '$2 ~ /^page-faults/ { print $1 }' | sort | uniq -c >taken
	cat taken err
	test "$(awk '{ print $2 }' taken)" = 37
	lost=$(sed -n 's/^pmu-sample: page-faults.* lost \([0-9]*\) samples.*/\1/p' err)
	near "$(awk -v lost="$lost" '{ print ($1 + lost) * $2 }' taken)" "$(counted err page-faults)" \
		$((37 * $(nproc)))
END

check 'page faults keep their period where --jitter varies that of others, and it is said' <<'END'
	pmu-sample -e cpu-clock/period=100000/u -e page-faults/period=300/u --jitter -o s.data -- \
		ten faulting 0.3 2>err
	cat err
	grep -q "^pmu-sample: --jitter does not vary the period of 'page-faults:uH*': the kernel" err
	none grep "period of 'cpu-clock" err
	samples s.data event,period | awk '$2 ~ /^page-faults/ { print $1 }' | sort -u >taken
	test "$(cat taken)" = 300
END

check 'it stops after the duration, at signals, and when its reader goes' <<'END'
	ten serial forever &
	target=$!
	pmu-sample -v -e cpu-clock -F 1000 -p $target -d 300ms -o s.data 2>err
	cat err
	at_least "$(sed -n 's/.* samples in \([0-9.]*\) s.*/\1/p' err)" 0.3
	expected=$(($(counted err cpu-clock) / 1000000))
	near "$(perf_samples s.data)" $expected $((expected / 10 + 5))
	for signal in INT TERM HUP; do
		attach -e cpu-clock -F 1000 -p $target
		eventually has_bytes s.data 10000
		kill -$signal $sampler
		exits 0 wait $sampler
		at_least "$(perf_samples s.data)" 80
	done
	# so many bytes hold samples, without which there is a message
	{ pmu-sample -e cpu-clock -F 1000 -p $target 2>err; echo $? >status; } | head -c 10000 >part
	test "$(cat status)" = 0
	none but_for_rights err
	kill $target
END

check 'a command still running at the end is ended' <<'END'
	pmu-sample -e cpu-clock -o s.data -- sh -c 'echo $$ >pid; exec sleep 9999' &
	eventually test -s pid
	kill -INT $!
	exits 0 wait $!
	gone "$(cat pid)"
	exits 0 pmu-sample -e cpu-clock -d 1ms -o s.data -- sleep 9999
END

check 'the default event says what it is, and why' <<'END'
	pmu-sample -o s.data -- ten serial 0.1 2>err
	cat err
	if counts_cycles; then
		none but_for_rights err
		samples s.data event | grep -q cycles
	else
		but_for_rights err >reason
		grep -q "^pmu-sample: no hardware counters here .*: sampling time instead (cpu-clock)$" reason
		test "$(wc -l <reason)" = 1
		samples s.data event | grep -q cpu-clock
	fi
END

check 'an event that cannot be had is an error: nothing else is measured' <<'END'
	! counts_cycles || skip "this machine counts cycles"
	exits 1 pmu-sample -e cycles -o s.data -- true 2>err
	grep -q "^pmu-sample: .*cycles.*PMU" err
END

check 'bad targets and events are reported in one line, with what to do' <<'END'
	exits 1 pmu-sample -e cpu-clock -p 4194303 -o s.data 2>err
	but_for_rights err | grep -qx "pmu-sample: no process has the pid 4194303"
	exits 1 pmu-sample -e cycels -o s.data -- true 2>err
	grep -q "^pmu-sample: .*unknown event .cycels.*cycles" err
	at_most "$(wc -l <err)" 3
	exits 1 pmu-sample -e cpu-clock -o s.data -- ./nosuch 2>err
	grep -qx "pmu-sample: cannot run ../nosuch.: No such file or directory" err
	mkdir directory
	exits 1 pmu-sample -e cpu-clock -o s.data -- ./directory 2>err
	grep -qx "pmu-sample: cannot run './directory': it is a directory" err
	exits 2 pmu-sample 2>err
	grep -q "^pmu-sample: nothing to sample: give -p PID or a command" err
	exits 2 pmu-sample -p x 2>err
	grep -q "takes a pid or a list of pids, not .x." err
	exits 2 pmu-sample -c 1 -F 1 true 2>err
	grep -q "pmu-sample: -c does not go with -F" err
END

check 'what cannot be recorded leaves no file, and an older file as it was' <<'END'
	# with -a, what the stream starts with is larger than the buffer
	cat >many.py <<-EOF
		import mmap, time
		f = open("$HELP/ten", "rb")
		maps = [mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
		        for i in range(4000)]
		print("mapped", flush=True)
		time.sleep(9999)
	EOF
	python3 many.py >mapped &
	eventually test -s mapped
	echo mine >old
	for out in new old; do
		for what in "-e cycels true" "-p 4194303" "-z -a ./nosuch" "-a ./nosuch" \
			"--to perf.data ./nosuch" "--switch-output=10s ./nosuch"; do
			echo "$what"
			exits 1 pmu-sample -e cpu-clock -o $out $what 2>>log
		done
		exits 2 pmu-sample -e cpu-clock --filter x -o $out true 2>>log
	done
	test ! -e new
	grep -qx mine old
	ln -s later link
	exits 1 pmu-sample -e cpu-clock -o link ./nosuch 2>>log
	test ! -e later
	pmu-sample -e cpu-clock -o link -- ten serial 0.1
	pmu-sample -e cpu-clock -o old -- ten serial 0.1
	pmu-stream --check later
	pmu-stream --check old
END

check 'a target that ends at once still gives a whole stream' <<'END'
	for i in 1 2 3 4; do
		exits 0 pmu-sample -e cpu-clock -o s.data -- true
		perf_reads s.data >script 2>err
		test ! -s err
	done
END

check 'without rights, the program is sampled and the kernel is not, and a line says so' <<'END'
	! may_sample_kernel || skip "this user may sample the kernel"
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 || skip "perf_event_paranoid is not 2"
	pmu-sample -g -e cpu-clock/freq=1000/,page-faults/period=10/ -o s.data \
		-- ten faulting 0.1 2>err
	cat err
	test "$(grep -c "kernel's own code is not sampled" err)" = 1
	test "$(wc -l <err)" = 1
	samples s.data ip,sym >script
	grep -q " faulting$" script
	none grep -i "^ *ffffffff" script
	pmu-sample --off-cpu -e cpu-clock -o s.data -- true 2>err
	grep -q "context-switches:u' counts nothing, so only waits that began before" err
	exits 1 pmu-sample -e cpu-clock:uk -o s.data -- true 2>err
	grep -q "cannot sample 'cpu-clock:uk': kernel.perf_event_paranoid is 2" err
	# processes of others, and all that runs
	exits 1 pmu-sample -e cpu-clock -p 1 -o s.data 2>err
	grep -q "belongs to another user, of uid 0: run as root, or with cap_perfmon" err
	exits 1 pmu-sample -e cpu-clock -a -o s.data 2>err
	grep -q "kernel.perf_event_paranoid is 2: as root, .*paranoid=0" err
END

check 'where users may sample, but not all that runs, the right setting is named' <<'END'
	needs_root
	needs_command unshare setpriv
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 || skip "anyone may"
	cp "$BIN/pmu-sample" .
	echo 1 >level	# the kernel itself keeps the level that it has
	unshare -m sh -c "mount --bind level /proc/sys/kernel/perf_event_paranoid" ||
		skip "nothing may be mounted"
	exits 1 unshare -m sh -c "
		mount --bind level /proc/sys/kernel/perf_event_paranoid
		exec setpriv --reuid=12345 --clear-groups ./pmu-sample -a -e cpu-clock:u" 2>err >&2
	cat err
	grep -q "kernel.perf_event_paranoid is 1: as root, sysctl kernel.perf_event_paranoid=0" err
END

check 'a full disk is an error; a stream is not written to a terminal' <<'END'
	exits 1 sh -c "pmu-sample -e cpu-clock -- true >/dev/full" 2>err
	but_for_rights err | grep -qx "pmu-sample: cannot write to stdout: No space left on device"
	needs_command script
	exits 2 script -qec "pmu-sample -e cpu-clock -- true" /dev/null >out </dev/null
	grep -q "will not write binary data to a terminal" out
END

check 'what the command prints does not get into the stream' <<'END'
	pmu-sample -e page-faults -c 1 -- sh -c "echo hello; echo world" 2>err >s.data
	stream-stats s.data >stats
	but_for_rights err >said
	same - said <<-EOF
		hello
		world
	EOF
	pmu-sample -e cpu-clock -o s.data -- echo hello >out
	grep -qx hello out
END

check 'what it sets for itself is not passed on to the command' <<'END'
	pmu-sample -e cpu-clock -o s.data -- grep SigIgn /proc/self/status >ignored
	grep -q "SigIgn:.*0000$" ignored
END

done_testing
