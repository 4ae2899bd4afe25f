#!/bin/sh
# pmu-serve: /debug/pprof/block and /debug/pprof/mutex, with Go's names and types, for any program.
# kinds: release asan user
. tests/lib.sh
. tests/serving.sh

# waiting: a program whose threads wait for locks; $target
waiting() {
	needs_command curl
	needs_samples
	needs_tracepoints
	needs_command convoy
	convoy 600 2>truth &
	target=$!
	eventually has_run $target 20
}

# recorders: pmu-sample and pmu-topprof that keep their arguments in ./sample and ./topprof
recorders() {
	fake pmu-sample <<-EOF
		echo "\$*" >>"$PWD/sample"
		exec "$(command -v pmu-sample)" -q -e cpu-clock:u -o - -- true
	EOF
	fake pmu-topprof <<-EOF
		echo "\$*" >>"$PWD/topprof"
		exec "$(command -v pmu-topprof)"
	EOF
}

check 'go tool pprof shows delays of another process: who waits, and who made it wait' <<'END'
	unsanitized
	needs_command go
	waiting
	serve --any
	export PPROF_TMPDIR=$PWD
	for side in block mutex; do
		go tool pprof -top -cum -unit ms -nodecount 200 -nodefraction 0 \
			"$url/debug/pprof/$side?seconds=1&pid=$target" >$side 2>err-pprof
		cat $side
		grep -qx "Type: delay" $side
	done
	# the four requesters wait nearly all of the time, for the two that hold the lock
	at_least "$(awk '$NF == "lock_big" { printf "%d", $4 }' block)" 1000
	at_least "$(awk '$NF == "hold_flush" { printf "%d", $4 }' mutex)" 1000
	# who only waits in the queue is not to blame, even if the lock is handed over slowly
	at_least "$(awk '$NF == "hold_flush" { flush = $4 } $NF == "request" { request = $4 }
		END { printf "%d", flush / (request + 1) }' mutex)" 2
	get "$url/debug/pprof/mutex?seconds=0.5&pid=$target" >p
	go tool pprof -raw p 2>/dev/null >raw
	test "$(sed -n "/^Samples:/{n;p}" raw)" = "contentions/count delay/nanoseconds[dflt]" ||
		grep -qx "contentions/count delay/nanoseconds" raw
	grep -q "^Comment: command: pmu-sample .*--waits" raw
	kill $target
END

check 'they take what other profiles take, but no event, no rate, and no labels of programs' <<'END'
	any_user
	unsanitized
	needs_command curl
	workload
	recorders
	serve --any --labels
	mutex=$url/debug/pprof/mutex
	get "$mutex?seconds=0.1&pid=$target&callgraph=fp&label=tid&types=one" >answer
	get "$url/debug/pprof/block?seconds=0.2&comm=ten&callgraph=dwarf" >answer
	cat sample topprof
	waits="--event=dummy --waits --call-graph"
	sed -n 1p sample | grep -q -- "--duration=100ms --pid=$target $waits=fp$"
	sed -n 2p sample | grep -q -- "--duration=200ms --comm=ten $waits=dwarf --unwind="
	grep -qx -- "--mutex --label=tid --slices=0" topprof
	grep -qx -- "--block --slices=0" topprof
	grep -qx -- "--types=one" topprof
	none grep -e "--labels" -e "--event=c" -e "--frequency" sample
	refused 400 "unknown parameter 'event'; there are: seconds, callgraph, label, pid" \
		"$mutex?event=cycles"
	refused 400 "unknown parameter 'rate'" "$url/debug/pprof/block?rate=10"
	refused 400 "no labels of programs are recorded at tracepoints" \
		"$mutex?seconds=0.1&pid=$target&label=label:user"
	refused 400 "callgraph: waits need callchains" "$mutex?seconds=0.1&comm=ten&callgraph=none"
	refused 400 "seconds takes a number" "$mutex?seconds=x"
	get "$url/debug/pprof/" >index
	for side in block mutex; do grep -q "href=./debug/pprof/$side?seconds=10" index; done
	refused 405 "use GET" -X POST "$mutex"
END

check 'of a server that records no callchains, these profiles have them nevertheless' <<'END'
	any_user
	unsanitized
	needs_command curl
	workload
	recorders
	serve -p $target --call-graph=none
	get "$url/debug/pprof/block?seconds=0.1" >answer
	get "$url/debug/pprof/profile?seconds=0.1" >answer
	cat sample
	sed -n 1p sample >waits
	grep -e "--waits --unwind" waits
	none grep call-graph waits
	sed -n 2p sample | grep -e --call-graph=none
END

check 'without the right to tracepoints: status 500 and the sentence of pmu-sample' <<'END'
	unsanitized
	needs_command curl
	workload
	if test "$(id -u)" = 0; then
		needs_command setpriv
		prefix='setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all'
	fi
	! $prefix pmu-sample -q --waits -p $target -d 0.01 -o /dev/null 2>why ||
		skip "anybody may use tracepoints here"
	cat why
	chmod 777 .
	fake pmu-sample <<-EOF
		exec $prefix "$(command -v pmu-sample)" "\$@"
	EOF
	serve -p $target
	sentence=$(grep -m 1 "^pmu-sample: " why | cut -c 1-40)
	for side in block mutex; do
		refused 500 "^$sentence" "$url/debug/pprof/$side?seconds=0.1"
	done
	# other profiles are as before
	test -n "$unsampled" || get -f "$url/debug/pprof/profile?seconds=0.1" >p || refused 500 . \
		"$url/debug/pprof/profile?seconds=0.1"
	test "$(metric 'requests_total{code="500"}')" -ge 2
END

done_testing
