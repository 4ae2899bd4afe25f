#!/bin/sh
# Threads that wait when the recording starts: where, and for how long.
# kinds: release asan user
. tests/lib.sh
. tests/sampling.sh

switches() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/switches.py" "$@"; }

# hang: start hung as $target, with the IDs of its threads in $lock, $join, $naps and $late; what is
# written to descriptor 3 is its stdin
hang() {
	rm -f input said
	mkfifo input
	hung <input >said & target=$!
	exec 3>input
	eventually grep -q ready said
	for name in lock join naps late; do
		eval "$name=\$(awk -v name=$name '\$1 == name { print \$2 }' said)"
	done
}

# record_while COMMAND... -- OPTION...: --off-cpu of $target to s.data until the command has ended
record_while() {
	command=
	while test "$1" != --; do command="$command $1"; shift; done
	shift
	attach --off-cpu -e cpu-clock -F 1000 "$@" 3>&- 2>err
	$command
	detach
	span=$(switches --span s.data)
}

# ran TID: ns that a thread was on CPUs
ran() { cut -d ' ' -f 1 "/proc/$target/task/$1/schedstat"; }

# waits STREAM: for each thread ID, switches, ns on and off by the records, off-cpu, wall
waits() {
	pmu-topprof -q --add wall -l tid -o p.pb.gz "$1"
	go tool pprof -symbolize=none -raw p.pb.gz 2>err | switches "$1" >got
	cat got
	echo "of $(switches --span "$1") ns"
}

# waited TID: ns off-cpu, by waits
waited() { awk -v tid="$1" '$1 == tid { n += $5 } END { printf "%.0f\n", n }' got; }

# stack TID STREAM: its stacks, the leaf last
stack() {
	event=context-switches
	may_sample_kernel || event=$event:u
	pmu-symbolize -q "$2" | pmu-topprof -q --tid "$1" -e $event --to folded
}

# percent NS OF: within 1 % of it
percent() { near "$1" "$2" $(($2 / 100)); }

check 'threads that wait for a lock or another thread have the whole time, at their place' <<'END'
	hang
	record_while sleep 1 -- --unwind -p $target
	waits s.data
	percent $(waited $lock) $span
	percent $(waited $join) $span
	stack $lock s.data >folded
	cat folded
	grep -q ';wait_for_lock;.*lock.*futex' folded
	stack $join s.data >folded
	cat folded
	grep -q '^hung;_start;.*;main;.*join.*futex' folded
	test "$(stack $lock s.data | wc -l)" = 1
	kill $target
END

check 'off-cpu time and the time on CPUs are the time of the recording' <<'END'
	may_sample_kernel || skip 'switches are in the kernel'
	works_once() { echo >&3; eventually grep -q worked said; sleep 0.3; }
	hang
	before_naps=$(ran $naps) before_late=$(ran $late)
	record_while works_once -- -p $target
	waits s.data
	percent $(($(waited $naps) + $(ran $naps) - before_naps)) $span
	percent $(($(waited $late) + $(ran $late) - before_late)) $span
	at_least $(($(ran $late) - before_late)) 300000000
	percent $(($(waited $lock) + $(waited $join) + $(waited $naps) + $(ran $naps) -
		before_naps)) $((3 * span))
	kill $target
END

check 'with frame pointers, in the stream of any reader, and for a thread by its ID' <<'END'
	hang
	record_while sleep 0.3 -- -g -t $lock
	waits s.data
	# where the caller is found first depends on how the program is compiled
	stack $lock s.data | grep -q '\(^\|;\)\(wait_for_\)\?lock;'
	percent $(waited $lock) $span
	perf script -i s.data -F tid,time,event,ip,sym 2>err | grep "^ *$lock " >samples
	cat samples
	test "$(wc -l <samples)" = 1
	kill $target
END

check 'what rights forbid is left out, and the name of what it waits for remains' <<'END'
	if may_sample_kernel; then
		needs_root
		hang
		record_while sleep 0.3 -- -p $target
		stack $lock s.data >folded
		grep -q ';do_futex;.*futex' folded
	else
		hang
		pmu-sample --off-cpu -e cpu-clock --unwind -p $target -d 0.3 -o s.data 3>&-
		stack $lock s.data >folded
		cat folded
		grep -q 'wait_for_lock;.*;\[waits: futex[a-z_]*\] ' folded
		pmu-symbolize s.data 2>err >r.data
		none grep 'kernel addresses' err
	fi
	kill $target
END

check 'stopped threads wait, too; a delay and each file of several starts anew' <<'END'
	hang
	kill -STOP $target
	eventually grep -q '^State:.T' /proc/$target/task/$naps/status
	record_while sleep 0.5 -- -p $target --delay 200
	waits s.data
	percent $(waited $naps) $span
	percent $(waited $lock) $span
	kill -CONT $target
	eventually grep -q '^State:.S' /proc/$target/task/$lock/status
	pmu-sample -q --off-cpu -e cpu-clock -p $target --switch-output 300ms -o f.data 3>&- &
	three() { test "$(ls f.data.* | wc -l)" -ge 3; }
	eventually three
	kill -INT $!
	exits 0 wait $!
	files=0
	for file in f.data.*; do
		waits $file
		percent $(waited $lock) $(switches --span $file)
		files=$((files + 1))
	done
	at_least $files 3
	kill $target
END

check 'while nothing runs, intervals have profiles, whole when they appear' <<'END'
	sleep 1000 & target=$!
	asleep() { grep -q '^State:.*sleeping' /proc/$target/status; }
	eventually asleep
	pmu-sample -q --off-cpu -e cpu-clock -p $target | pmu-symbolize -q |
		pmu-topprof -q --split 500ms -o "p-%s%%.pb.gz" &
	several() { test "$(ls p-*.pb.gz | wc -l)" -ge 3; }
	eventually several
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/terminal.py" 80 24 \
		"pmu-sample -q --off-cpu -e cpu-clock -p $target | pmu-top" >out <<-EOF
		see off-cpu .nanoseconds.: +[2-9]\.[0-9]+s in the last
		run kill $target
		end
	EOF
	wait
	for profile in p-*.pb.gz; do
		go tool pprof -symbolize=none -top -sample_index=off-cpu $profile 2>err |
			grep -c "sleep" >>tops
	done
	none grep -x 0 tops
	go tool pprof -symbolize=none -raw -sample_index=off-cpu $(ls p-*.pb.gz | sed -n 2p) 2>err |
		grep -q ' 500000000: '
END

check 'on whole CPUs, and in a cgroup' <<'END'
	needs_root
	hang
	record_while sleep 0.3 -- -m 16Mi -a
	waits s.data >all
	none grep "looked up for only" err || skip 'the machine is too busy: rings were full'
	percent $(waited $lock) $span
	root=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
	test -n "$root" || root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	group=pmu-test-$$
	if test -n "$root" && mkdir "$root/$group" "$root/$group/below"; then
		echo $target >"$root/$group/below/cgroup.procs"
		record_while sleep 0.3 -- --cgroup $group
		waits s.data
		percent $(waited $lock) $span
	fi
	kill $target
	test ! -d "$root/$group" || {
		eventually gone $target
		eventually rmdir "$root/$group/below"
		rmdir "$root/$group"
	}
END

check 'a function that keeps a frame pointer, which nobody knows while the thread waits' <<'END'
	cc -O0 -pthread -D_GNU_SOURCE -o hung "$TOP/tests/bin/hung.c" || skip 'no compiler'
	PATH=$PWD:$PATH
	hang
	record_while sleep 0.3 -- --unwind -p $target
	stack $lock s.data >folded
	cat folded
	grep -q '^hung;.*start_thread;lock;wait_for_lock;.*lock.*futex' folded
	kill $target
END

done_testing
