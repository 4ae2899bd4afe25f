#!/bin/sh
# From 1 to 100,000 switches a second: off-cpu is what the records of switches say, and wall is the
# life of the thread.  Each within 1 %.
# kinds: release
. tests/lib.sh

switches() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/switches.py" "$@"; }

# rows STREAM: of each thread its ID, switches, ns on CPUs and off by the records of switches;
# off-cpu and wall by pmu-topprof, from the stream as it is and after pmu-symbolize
rows() {
	raw() { go tool pprof -symbolize=none -raw "$1" 2>err; }
	pmu-topprof -q --add wall -l tid -o p.pb.gz "$1"
	raw p.pb.gz | switches "$1"
	pmu-symbolize -q "$1" | pmu-topprof -q --add wall -l tid -o q.pb.gz
	raw q.pb.gz | switches "$1"
}

# complete STREAM: nothing was lost
complete() {
	pmu-stream -s "$1" 2>why >counts || { cat why; return 1; }
	grep -q ' 0 lost, ' counts || { echo "$1: $(tail -n 1 counts)"; return 1; }
}

# judge LIVES RATE: of threads with a line "ID NS TURNS" there, what rows() says is right.  On a
# busy machine some time passes from when a thread says how long it lived until it exits.  Wall time
# ends with a thread's last sample: where two threads take turns ten times in each period of the
# clock, nearly all samples may be of one of them.
judge() {
	awk -v rate="$2" 'NR == FNR { life[$1] = $2; next }
	     $1 in life {
		n++
		lived = life[$1] > $3 + $4 ? life[$1] : $3 + $4
		waits = 100 * ($5 - $4) / ($4 ? $4 : 1); wall = 100 * ($6 - lived) / lived
		short = 100 * ($6 - life[$1]) / life[$1]
		printf "%6.0f switches/s, off-cpu %+.3f %%, wall %+.3f %%\n",
			$2 / life[$1] * 1e9, waits, wall
		if (waits < -1 || waits > 1 || wall > 1)
			bad = 1
		if (rate <= 1000 && (wall < -1 || short < -1))
			bad = 1
	     }
	     END { exit bad || n != 4 }' "$1" -
}

# rates SECONDS OPTION...: at all rates; the options are of pmu-sample
rates() {
	seconds=$1 seen=
	shift
	for how in sleep pass; do
		for rate in 1 10 100 1000 10000 50000; do
			echo "turns $how $rate $seconds"
			pmu-sample -q --off-cpu -e cpu-clock -F 1000 "$@" -o s.data -- \
				turns $how $rate $seconds >lives
			complete s.data || continue
			rows s.data >got
			judge lives $rate <got
			seen="$seen $how-$rate"
		done
	done
	# what was lost cannot be compared; without losses there is all
	echo "compared:$seen"
	for rate in sleep-1 sleep-10 sleep-100 sleep-1000 pass-1 pass-10 pass-100 pass-1000; do
		case "$seen " in *" $rate "*) ;; *) skip "records were lost at $rate" ;; esac
	done
}

check 'waits and time of threads that sleep or wait for each other are right at any rate' <<'END'
	rates 0.8 -m 16Mi
END

check 'they are right in a longer recording, too, and in one of all CPUs' <<'END'
	test -n "$RATES" || skip 'set RATES=all'
	rates 10 -m 32Mi
	needs_root
	rates 5 -m 32Mi -a
END

# came FILE PID: a session writes FILE, or has ended
came() { test -s "$1" || ! kill -0 "$2" 2>kill-err; }

# beside COMMAND...: off-cpu is right while another session samples the same switches
beside() {
	rm -f s.data other.data
	turns sleep 1000 600 >lives & target=$!
	pmu-sample -q --off-cpu -e cpu-clock -F 1000 -p $target -o s.data &
	eventually came s.data $!
	# of several sessions, the kernel serves the newest one first
	"$@" -p $target -o other.data >said 2>&1 &
	eventually came other.data $!
	size=$(($(wc -c <s.data) + 200000))	# some 400 turns of each thread later
	has_more() { test "$(wc -c <s.data)" -ge $size; }
	eventually has_more
	kill $target
	wait
	# there may be no perf
	test -s other.data || return 0
	seen=$((seen + 1))
	complete s.data
	switches --samples s.data >samples
	read -r all wrong <samples
	echo "$all samples of switches, $wrong with a wrong time"
	at_least $all 100
	test $wrong = 0
	rows s.data >got
	cat got
	# each wait is 1 ms; the last one ends with the recording
	while read -r tid switches on off waits wall; do
		test $switches -lt 100 || near $waits $off $((off / 100 + 2000000))
	done <got
}

check 'beside sessions with other clocks, whose times Linux leaves in samples of switches' <<'END'
	# a thread that starts while it is attached to may have its events twice: not in each run
	test "$RATES" = all && times=10 || times=1
	seen=0
	for i in $(seq $times); do
		beside pmu-sample -q --record time=raw -e context-switches/period=1/
		# a sample has the ID of this session, but the time of the other one
		beside perf record -q -e context-switches -c 1 -k CLOCK_MONOTONIC_RAW
		beside perf record -q -e context-switches -c 1
	done
	test $seen -gt 0 || skip "no other session came"
END

done_testing
