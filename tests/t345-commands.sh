#!/bin/sh
# pmu-sample: commands as targets and as clocks, signals, how they end.
# kinds: release user
. tests/lib.sh

check 'the exit status is known where the caller ignores SIGCHLD; a failure is one line' <<'END'
	exits 7 env --ignore-signal=CHLD pmu-sample --exit-status -e cpu-clock -o s.data -- \
		sh -c 'exit 7' 2>err
	none grep "failed" err
	exits 0 pmu-sample -e cpu-clock -o s.data -- sh -c 'exit 7' 2>err
	grep -qx "pmu-sample: 'sh' failed: exit status 7" err
	exits 0 pmu-sample -e cpu-clock -o s.data -- sh -c 'kill -SEGV $$' 2>err
	grep -q "'sh' was ended by signal 11" err
END

check 'beside another target a command is the clock, and no target of its own' <<'END'
	ten serial 600 &
	target=$!
	for how in -p -t; do
		# the command takes CPU time itself, and starts a process that takes more
		pmu-sample -v $how $target -e cpu-clock -F 1000 -o s.data -- sh -c "
			now() { read -r ns rest </proc/$target/schedstat; }
			now; start=\$ns; ten serial 0.1
			until now; test \$((ns - start)) -ge 50000000; do sleep 0.01; done" 2>err
		cat err
		test "$(samples s.data pid | sort -u | tr -d ' ')" = $target
	done
END

check 'a system-wide recording lasts as long as its command' <<'END'
	needs_root
	exits 3 pmu-sample --exit-status -a -e cpu-clock -F 100 -o s.data -- \
		sh -c 'ten serial 0.1; exit 3' 2>err
	at_least "$(perf_samples s.data)" 5
END

check 'a duration may begin with its point' <<'END'
	exits 0 pmu-sample -e cpu-clock -d .1 -o s.data -- sleep 600
	exits 2 pmu-sample -e cpu-clock -d . -o s.data -- true 2>err
END

check 'a command that is stopped at the end does not delay it' <<'END'
	pmu-sample -v -e cpu-clock -o s.data -- sh -c 'trap "echo >ended" EXIT; echo $$ >pid
		trap "exit 0" TERM; kill -STOP $$; while :; do sleep 0.1; done' 2>err &
	eventually test -s pid
	eventually grep -q "^State:.T" "/proc/$(cat pid)/status"
	kill -TERM $!
	wait $!
	# it was continued, so it could act on SIGTERM rather than be killed
	test -e ended
END

check 'a SIGINT that the caller ignores stays ignored for the command' <<'END'
	env --ignore-signal=INT pmu-sample -e cpu-clock -o s.data -- grep SigIgn /proc/self/status >ignored
	grep -q "SigIgn:.*2$" ignored
	pmu-sample -e cpu-clock -o s.data -- grep SigIgn /proc/self/status >ignored
	grep -q "SigIgn:.*0$" ignored
END

check 'an event keeps its max-stack= and branch_type=; options without effect are refused' <<'END'
	pmu-sample --call-graph max=20 -e cpu-clock/max-stack=3/ -o s.data -- ten serial 0.1
	samples s.data ip | awk 'BEGIN { RS = ""; FS = "\n" }
		{ n++; if (NF > 3) bad++ }
		END { print n, bad + 0
		exit !(n > 10 && !bad) }'
	for option in -g --off-cpu; do
		pmu-sample $option --call-graph none -e cpu-clock -o s.data -- true
		# PERF_SAMPLE_CALLCHAIN is bit 5 of sample_type, the fourth word of an attr
		attr=$(pmu-stream --dump s.data | awk '$2 == "ATTR" { print $1; exit }')
		python3 -c '
import struct, sys
type, = struct.unpack_from("<Q", open(sys.argv[1], "rb").read(), int(sys.argv[2], 16) + 8 + 24)
assert not type & 32, hex(type)' s.data $attr
	done
	exits 2 pmu-sample --call-graph lbr -b -e cpu-clock -o s.data -- true 2>err
	grep -q "leave out --record branches" err
	for words in max=0 max=65536 fp,4096 dwarf,12 users fp,; do
		exits 2 pmu-sample --call-graph $words -e cpu-clock -o s.data -- true 2>err
		grep -q "call-graph takes some of fp, dwarf, lbr, .* or max=COUNT" err
	done
END

# kinds EVENT OPTION...: the kinds of branches that pmu-sample asks the kernel for
kinds() {
	event=$1
	shift
	strace -v -o calls -e trace=perf_event_open pmu-sample "$@" -e "$event" -o s.data -- true \
		2>err || test $? = 1	# without such hardware the kernel refuses
	sed -n 's/.*branch_sample_type=\([A-Z_|]*\).*/\1/p' calls | sed 's/PERF_SAMPLE_BRANCH_//g' |
		sort -u
}

check "branch_type= of an event is not replaced by an option's kinds" <<'END'
	needs_command strace
	strace -o calls true 2>err || skip "strace cannot trace here"
	own=cycles/branch_type=any_call\|u/u
	for options in "" -b "-j any_ret,k" "--call-graph lbr"; do
		test "$(kinds $own $options)" = "USER|ANY_CALL"
	done
	test "$(kinds cycles:u -j any_ret,k)" = "KERNEL|ANY_RETURN"
	test "$(kinds cycles:u -b)" = "USER|ANY"
	kinds cycles:u --call-graph lbr | grep -q "CALL_STACK"
END

check 'children that exist already, and theirs, are followed with --children' <<'END'
	sh -c 'sh -c "touch ready; until test -e go; do sleep 0.05; done; ten serial 0.1; :"; :' &
	target=$!
	eventually test -e ready
	pmu-sample --children -e cpu-clock -F 1000 -p $target -o s.data 2>err &
	sampler=$!
	eventually test -s s.data
	touch go
	wait $sampler
	cat err
	at_least "$(samples s.data comm | grep -c ten)" 50	# of 110 ms
END

done_testing
