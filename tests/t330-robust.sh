#!/bin/sh
# pmu-sample: signals, CPUs that go away, namespaces, targets that are stopped, or end at once.
#
# SIGNAL_ROUNDS=1000: so many rounds of signals, instead of a few.
# kinds: release user
. tests/lib.sh

as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all"
samples() { perf script -i "$1" -F "$2" 2>/dev/null; }

# whole FILE: perf reads it to the end, and so do we
whole() {
	perf script -i "$1" >script 2>errors
	none cat errors
	exits 0 pmu-topprof -o p.pb.gz "$1"
}

check 'signals at any moment: always a whole stream, and no orphan' <<'END'
	mkdir orphans
	set -- INT TERM HUP PIPE CHLD
	for round in $(seq "${SIGNAL_ROUNDS:-50}"); do
		rm -f s.data
		pmu-sample -e cpu-clock -F 1000 -o s.data -- sleep 77.$$ 2>err &
		sampler=$!
		sleep "$(awk -v seed=$round "BEGIN { srand(seed); print rand() * 0.08 }")"
		kill -$1 $sampler
		# by these it is not ended, once the handlers stand
		case $1 in PIPE | CHLD) sleep 0.02; kill -TERM $sampler || : ;; esac
		status=0
		wait $sampler || status=$?
		# Before the handlers stand, a signal ends it at once, and there is no stream.
		case $status in
		0)	whole s.data ;;
		129 | 130 | 141 | 143) test ! -s s.data ;;
		*)	echo "SIG$1 in round $round: exit $status"; exit 1 ;;
		esac
		set -- "$2" "$3" "$4" "$5" "$1"
	done
	test -z "$(pgrep -f "^sleep 77.$$")"
END

check 'nohup(1) means it: SIGHUP does not end it' <<'END'
	nohup pmu-sample -e cpu-clock -F 1000 -d 1 -o s.data -- sleep 5 2>err &
	sampler=$!
	sleep 0.3
	kill -HUP $sampler
	wait $sampler
	whole s.data
END

check 'a CPU that goes offline, and one that comes online' <<'END'
	online=/sys/devices/system/cpu/cpu1/online
	test -n "$CI$PMU_HOTPLUG" || { echo "takes a CPU offline: only with CI or PMU_HOTPLUG set"; exit 77; }
	test -w $online && test "$(cat $online)" = 1 || { echo "no CPU can be taken offline"; exit 77; }
	trap "echo 1 >$online" EXIT
	ten threads 9 &
	target=$!
	sleep 0.1
	pmu-sample -a -e cpu-clock -F 1000 -d 1500ms -o s.data &
	sampler=$!
	sleep 0.5
	echo 0 >$online || { kill $target $sampler; echo "it stays online"; exit 77; }
	wait $sampler
	whole s.data
	samples s.data cpu | sort | uniq -c >cpus
	awk '$2 == "[000]" { a = $1 } $2 == "[001]" { b = $1 } END { print a, b; exit !(a > 1200 && b > 200 && b < 1000) }' cpus
	exits 1 pmu-sample -C 1 -e cpu-clock -o t.data 2>err
	grep -q "none of the CPUs to be sampled is online" err
	pmu-sample -p $target -e cpu-clock -F 1000 -d 600ms -o s.data 2>err &
	sampler=$!
	sleep 0.3
	echo 1 >$online
	wait $sampler
	kill $target
	whole s.data
	cat err
	grep -q "CPU 1 came online meanwhile" err
END

check 'in a pid namespace, by the pid that is seen there' <<'END'
	unshare -pf --mount-proc true 2>/dev/null || { echo "no pid namespace can be made"; exit 77; }
	unshare -pf --mount-proc sh -c '
		ten serial 3 & target=$!
		sleep 0.1
		echo $target >pid
		pmu-sample -e cpu-clock -F 1000 -p $target -d 300ms -o s.data
		pmu-symbolize s.data | pmu-topprof -o named.pb.gz
		pmu-sample -e cpu-clock -F 1000 -o t.data -- ten serial 0.2
		kill $target'
	test "$(cat pid)" -lt 20
	test "$(samples s.data pid | sort -u | tr -d " ")" = "$(cat pid)"
	whole t.data
	pmu-top named.pb.gz | grep -q " J$"
END

check 'from outside, a process in a namespace: by the pid out here' <<'END'
	unshare -pf --mount-proc true 2>/dev/null || { echo "no pid namespace can be made"; exit 77; }
	unshare -pf --mount-proc ten serial 3 &
	unshare=$!
	sleep 0.2
	target=$(pgrep -P $unshare)
	pmu-sample -e cpu-clock -F 1000 -p $target -d 300ms -o s.data
	kill $target
	test "$(samples s.data pid | sort -u | tr -d " ")" = $target
	test "$(samples s.data ip | wc -l)" -gt 150
END

check 'without rights in a user namespace, the own processes' <<'END'
	test "$(id -u)" = 0 || { echo "not root"; exit 77; }
	cp "$BIN/pmu-sample" "$HELP/ten" .
	chmod 755 . pmu-sample ten
	mkdir -m 777 out
	$as_nobody unshare -Ur true 2>/dev/null || { echo "no user namespace can be made"; exit 77; }
	$as_nobody unshare -Ur ./pmu-sample -v -e cpu-clock -F 1000 -o out/s.data -- ./ten serial 0.2 2>err
	cat err
	cp out/s.data .
	whole s.data
	test "$(samples s.data ip | wc -l)" -gt 100
	# being root there is no right here
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 || grep -q "kernel.s own code is not sampled" err
END

check 'a stopped process: the duration passes, and the stream is whole' <<'END'
	ten serial 9 &
	target=$!
	sleep 0.1
	kill -STOP $target
	exits 0 timeout 5 pmu-sample -e cpu-clock -F 1000 -p $target -d 400ms -o s.data
	whole s.data
	test "$(samples s.data ip | wc -l)" -le 1
	pmu-sample -e cpu-clock -F 1000 -p $target -d 600ms -o s.data &
	sampler=$!
	sleep 0.2
	kill -CONT $target
	wait $sampler
	kill $target
	# 400 ms at 1 kHz, where nothing else runs
	test "$(samples s.data ip | wc -l)" -gt 50
END

check 'a target that ends while it is attached to' <<'END'
	for round in $(seq 30); do
		churn 0.0$((round % 7)) >tids &
		target=$!
		status=0
		pmu-sample -e cpu-clock,page-faults -F 1000 -p $target -o s.data 2>err || status=$?
		wait $target
		case $status in
		0)	whole s.data ;;
		1)	grep -q "no process has the pid\|the target has ended" err ;;
		*)	exit 1 ;;
		esac
	done
END

check 'a program that gets other rights ends the sampling of it, not the sampler' <<'END'
	test "$(id -u)" = 0 || { echo "not root"; exit 77; }
	cp "$BIN/pmu-sample" .
	cp "$HELP/ten" setuid
	chmod 755 . pmu-sample
	chmod 4755 setuid
	mkdir -m 777 out
	exits 0 $as_nobody ./pmu-sample -e cpu-clock -F 1000 -o out/s.data -- ./setuid serial 0.2 2>err
	cp out/s.data .
	whole s.data
END

done_testing
