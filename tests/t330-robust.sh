#!/bin/sh
# pmu-sample: signals, namespaces, targets that are stopped, or end at once.
#
# SIGNAL_ROUNDS=1000: so many rounds of signals, instead of a few.
# kinds: release user
. tests/lib.sh

rounds=${SIGNAL_ROUNDS:-25}

# Run as an ordinary user, whoever we are.
as_nobody=
test "$(id -u)" != 0 ||
	as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all"

# whole FILE: perf reads it to the end, and so do we; lost samples are not damage
whole() {
	perf_reads "$1" >script 2>errors
	none grep -v '^$\|^Warning:$\|^Processed .* lost\|^Check IO' errors
	exits 0 pmu-topprof -q -o p.pb.gz "$1"
}

# start_paused COMMAND...: start it, as $target, stopped before its first instruction, so
# that all of its CPU time can be sampled
start_paused() {
	sh -c 'kill -STOP $$; exec "$@"' sh "$@" &
	target=$!
	eventually is_stopped $target
}
is_stopped() { grep -q '^State:.T' "/proc/$1/status"; }

# attached SAMPLER-OUTPUT: it counts, and handles signals, once its stream has begun
attached() { eventually test -s "$1"; }

check 'signals at any moment: always a whole stream, and no orphan' <<'END'
	set -- INT TERM HUP PIPE CHLD
	for round in $(seq "$rounds"); do
		rm -f s.data
		pmu-sample -e cpu-clock -F 1000 -o s.data -- sleep 7777.$$ 2>err &
		sampler=$!
		# every other time while it starts, else once it is at work; in the background, a shell
		# starts programs with SIGINT ignored, so that has no effect before the handlers stand
		if test $((round % 2)) = 0 && test $1 != INT; then
			sleep "$(printf 0.%03d $((round * 37 % 80)))"
		else
			attached s.data
		fi
		kill -$1 $sampler
		# by these it is not ended, once the handlers stand
		case $1 in PIPE | CHLD) kill -TERM $sampler || : ;; esac
		status=0
		wait $sampler || status=$?
		# Before the handlers stand, a signal ends it at once, and there is no stream.
		case $status,$((round % 2)) in
		0,*)	whole s.data ;;
		129,0 | 130,0 | 141,0 | 143,0) test ! -s s.data ;;
		*)	echo "SIG$1 in round $round: exit $status"; exit 1 ;;
		esac
		set -- "$2" "$3" "$4" "$5" "$1"
	done
	eventually none pgrep -f "^sleep 7777.$$"
END

check 'nohup(1) means it: SIGHUP does not end it' <<'END'
	needs_sampling
	mkfifo commands acks
	exec 3<>acks
	nohup pmu-sample --control fifo:commands,acks -e cpu-clock -F 1000 -o s.data -- \
		sleep 9999 2>err &
	sampler=$!
	exec 4>commands
	answer() {
		echo "$1" >&4
		timeout 600 head -n 1 <&3 | grep -qx ack
	}
	answer ping
	kill -HUP $sampler
	# a sampler that was asked to end would answer once more at most
	answer ping
	answer ping
	answer stop
	wait $sampler
	whole s.data
END

# In a pid namespace: a process of it is attached to by its pid there; a command is sampled.
cat >"$scratch/inside" <<'END'
sh -c 'kill -STOP $$; exec ten serial 0.2' &
target=$!
echo $target >pid
until grep -q '^State:.T' /proc/$target/status; do sleep 0.05; done
pmu-sample -e cpu-clock -F 1000 -p $target -o s.data &
sampler=$!
until test -s s.data; do sleep 0.05; done
kill -CONT $target
wait $sampler
pmu-symbolize s.data | pmu-topprof -o named.pb.gz
pmu-sample -e cpu-clock -F 1000 -o t.data -- ten serial 0.1
END

# Run in a new pid namespace; users need one of users for it.
in_namespace='unshare -pf --mount-proc'
test "$(id -u)" = 0 || in_namespace='unshare -Urpf --mount-proc'

check 'in a pid namespace, by the pid that is seen there' <<'END'
	needs_sampling
	$in_namespace true || skip "no pid namespace can be made"
	$in_namespace sh "$scratch/inside"
	at_most "$(cat pid)" 20
	whole s.data
	test "$(samples s.data pid | sort -u | tr -d " ")" = "$(cat pid)"
	at_least "$(samples s.data ip | wc -l)" 100	# of 220 ms of CPU time
	whole t.data
	pmu-top named.pb.gz | grep -q " J$"
END

check 'from outside, a process in a namespace: by the pid out here' <<'END'
	needs_sampling
	$in_namespace true || skip "no pid namespace can be made"
	$in_namespace ten serial 600 &
	unshare=$!
	is_there() { target=$(pgrep -x -P $unshare ten); }
	eventually is_there
	pmu-sample -e cpu-clock -F 1000 -p $target -o s.data &
	sampler=$!
	attached s.data
	eventually has_run $target $(($(cpu_ms $target) + 200))
	kill -TERM $sampler
	wait $sampler
	whole s.data
	test "$(samples s.data pid | sort -u | tr -d " ")" = $target
	at_least "$(samples s.data ip | wc -l)" 100
END

check 'without rights in a user namespace, the own processes' <<'END'
	needs_sampling
	cp "$BIN/pmu-sample" "$HELP/ten" .
	chmod 755 . pmu-sample ten
	mkdir -m 777 out
	$as_nobody unshare -Ur true || skip "no user namespace can be made"
	$as_nobody unshare -Ur \
		./pmu-sample -v -e cpu-clock -F 1000 -o out/s.data -- ./ten serial 0.2 2>err
	cat err
	cp out/s.data .
	whole s.data
	at_least "$(samples s.data ip | wc -l)" 100
	# being root there is no right here
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ||
		grep -q "kernel.s own code is not sampled" err
END

check 'a stopped process: the duration passes, and the stream is whole' <<'END'
	start_paused ten serial 0.2
	exits 0 timeout 600 pmu-sample -e cpu-clock -F 1000 -p $target -d 400ms -o s.data
	whole s.data
	at_most "$(samples s.data ip | wc -l)" 1
	pmu-sample -e cpu-clock -F 1000 -p $target -o t.data &
	sampler=$!
	attached t.data
	kill -CONT $target
	wait $sampler
	whole t.data
	at_least "$(samples t.data ip | wc -l)" 100
END

check 'a target that ends while it is attached to' <<'END'
	for round in $(seq "$rounds"); do
		churn 0.0$((round % 7)) >tids &
		target=$!
		status=0
		pmu-sample -e cpu-clock,page-faults -F 1000 -p $target -o s.data 2>err || status=$?
		wait $target
		case $status in
		0)	whole s.data ;;
		1)	grep -q "no process has the pid\|cannot sample $target: the process has" err ;;
		*)	exit 1 ;;
		esac
	done
END

check 'a program that gets other rights ends the sampling of it, not the sampler' <<'END'
	needs_root	# to make one
	cp "$BIN/pmu-sample" .
	cp "$HELP/ten" setuid
	chmod 755 . pmu-sample
	chmod 4755 setuid
	mkdir -m 777 out
	exits 0 $as_nobody ./pmu-sample -e cpu-clock -F 1000 -o out/s.data -- \
		./setuid serial 0.1 2>err
	cp out/s.data .
	whole s.data
END

done_testing
