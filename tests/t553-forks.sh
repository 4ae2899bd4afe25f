#!/bin/sh
# Processes that the target starts: who works, and who goes on; what a target that sleeps is told.
# kinds: release user
. tests/lib.sh
. tests/sampling.sh

# parent: a shell that lets ten work when it reads a line from descriptor 3, as $target
parent() {
	rm -f input worked
	mkfifo input
	sh -c 'read line; ten serial 0.3; echo >worked; read line' <input & target=$!
	exec 3>input
}

check 'if the children of a process work, and it does not: one line, which names --children' <<'END'
	parent
	attach -e cpu-clock -F 1000 -p $target 2>err 3>&-
	echo >&3
	eventually test -s worked
	detach
	kill $target
	but_for_rights err >got
	cat got
	test "$(wc -l <got)" = 1
	grep -q "^pmu-sample: no samples: the children of process $target used 0\.[2-9]" got ||
		grep -q "^pmu-sample: the children of process $target used 0\.[2-9]" got
	grep -q -- "--children samples them, too$" got
END

check 'with --children, and for children that work less, there is no such line' <<'END'
	parent
	attach -e cpu-clock -F 1000 --children -p $target 2>err 3>&-
	echo >&3
	eventually test -s worked
	detach
	kill $target
	none grep "the children of" err
	at_least "$(perf_samples s.data)" 200
	sh -c "ten serial 0.06; while :; do :; done" & target=$!
	attach -e cpu-clock -F 1000 -p $target 2>err
	give $target 200
	detach
	kill $target
	none grep "the children of" err
END

check 'a command that ends while its processes go on: which do, and how to profile them' <<'END'
	pmu-sample -e cpu-clock -o s.data -- sh -c 'ten serial forever & echo $! >pid' 2>err
	daemon=$(cat pid)
	cat err
	grep -q "^pmu-sample: 'sh' has ended, but .* go on: [a-z]* ($daemon)" err
	grep -q "; pmu-prof -p $daemon --children profiles them" err
	kill $daemon
	pmu-sample -e cpu-clock -o s.data -- sh -c 'ten serial 0.01 & wait' 2>err
	none grep "go on" err
END

check 'a command with --children is recorded until all that it started has ended' <<'END'
	exits 3 pmu-sample -e cpu-clock -F 1000 --children --exit-status -o s.data -- \
		sh -c '(sh -c "ten serial 0.3" &) ; exit 3' 2>err
	none grep "go on" err
	at_least "$(perf_samples s.data)" 250
	# the time ends it, and not the processes; on a busy machine, perhaps before there is one
	timed() {
		pmu-sample -e cpu-clock -F 1000 --children -d 0.3 -o s.data -- \
			sh -c 'ten serial forever & echo $! >pid' 2>err && test -s pid
	}
	eventually timed
	kill "$(cat pid)"
	# so does a signal
	rm pid
	attach -e cpu-clock -F 1000 --children -- sh -c 'ten serial forever & echo $! >pid' 2>err
	eventually test -s pid
	give "$(cat pid)" 100
	detach
	kill "$(cat pid)"
	at_least "$(perf_samples s.data)" 50
END

check 'a process that sleeps is told so in one line; with --off-cpu it has a profile' <<'END'
	sleep 1000 & target=$!
	asleep() { grep -q "^State:.*sleeping" /proc/$target/status; }
	eventually asleep
	exits 1 pmu-prof -p $target -d 0.2 -o p 2>err
	but_for_rights err >got
	echo "pmu-sample: no samples: the process did not run; --off-cpu shows where it" \
		"waits" | same - got
	pmu-prof --off-cpu -p $target -d 0.2 -o p 2>err
	cat err
	none grep -i "no samples" err
	grep -q "^off-cpu (nanoseconds): *[1-9][0-9.]*m*s in" err
	kill $target
END

done_testing
