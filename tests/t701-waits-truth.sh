#!/bin/sh
# Who keeps whom waiting for a lock: profiles of a program with a queue at each of two mutexes,
# which knows for whom its threads wait.
# kinds: release
. tests/lib.sh
. tests/waiting.sh

check 'of a queue: holders are charged what they caused, who is next in the queue nothing' <<'END'
	needs_waits
	right convoy -- convoy 2
	# the last waker alone, as others charge it, is somebody else for most of the time
	truth --last convoy.data "$(command -v convoy)" >last
	cat last
	at_least "$(awk '$2 == "big" && $3 == "request" { print $4 }' last)" 50
END

check 'the name of the lock is that of the variable, and of a holder the nap is the cause' <<'END'
	needs_waits
	lossless s.data pmu-sample -q --waits -e dummy -o s.data -- convoy 0.5 2>truth
	pmu-symbolize -q s.data | pmu-topprof --mutex=causes --to folded -q >folded
	path='lock_big;.*;[[]waits for];.*hold_flush;.*;[[]which waited in];.*hold_flush;.*nap;'
	test "$(awk -v path="$path" '$0 ~ path { ns += $NF } END { print ns + 0 }' folded)" -gt 0
	pmu-topprof --mutex -q -o m.pb.gz s.data
	go tool pprof -tags m.pb.gz 2>err | grep -q ' big$'
	go tool pprof -top m.pb.gz 2>err | grep -q '^Type: delay$'
END

# long_wait MS: three threads that wait for a fourth, for so long
long_wait() {
	waits mutex 1 $1 2>long.truth & waiter=$!
	eventually waits_thrice $waiter
}
# the first thread waits for their ends
waits_thrice() { test "$(grep -ls futex /proc/"$1"/task/*/wchan | wc -l)" -ge 4; }

check 'a thread that waits all the time has all of it, though nothing of it was recorded' <<'END'
	needs_waits
	long_wait 600000
	pmu-sample -q --waits -e dummy -d 0.5 -o s.data -p $waiter
	pmu-topprof -q --block -o b.pb.gz s.data
	span=$(truth --span s.data)
	ns=$(ns_with b.pb.gz -focus=waiter -tagfocus=ended=unknown)
	near $ns $((3 * span)) $((3 * span / 50))
END

check 'one that waits over the start has its whole time, too, and it is known for whom' <<'END'
	needs_waits
	# the recorder may need some time to start
	for ms in 2000 4000 8000 16000; do
		long_wait $ms
		pmu-sample -q --waits -e dummy -o s.data -p $waiter || continue
		span=$(truth --span s.data)
		test $span -lt 500000000 || break
	done
	at_least $span 500000000
	pmu-topprof -q --mutex -o m.pb.gz s.data
	near "$(ns_with m.pb.gz -focus=culprit)" $((3 * span)) $((3 * span / 20))
END

check "a crowd of 500 threads: the shares are right but for hand-over, in less than 64 MiB" <<'END'
	needs_waits
	long
	for run in 1 2 3; do
		pmu-sample -q --waits -e dummy -m 16Mi -o s.data -- convoy 2 500 2>s.truth
		profiles s
		truth --crowd s.truth s.block s.mutex
		python3 - <<-PYTHON
			import resource, subprocess
			subprocess.run(["timeout", "60", "pmu-topprof", "-q", "--mutex", "-o", "p",
				"s.data"], check=True)
			used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
			print(used, "KiB")
			assert used < 64 << 10
		PYTHON
	done
END

check 'a wait takes less than 25 us of the recorder, unwound, at 10,000 a second' <<'END'
	needs_waits
	long
	turns pass 10000 6 >lives & target=$!
	eventually has_run $target 50
	python3 - $target <<-'PYTHON'
		import resource, subprocess, sys
		subprocess.run(["pmu-sample", "-q", "--waits", "-e", "dummy", "-m", "16Mi", "-d", "5",
			"-p", sys.argv[1], "-o", "s.data"], check=True)
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		cpu = used.ru_utime + used.ru_stime
		said = subprocess.run(["pmu-stream", "-s", "s.data"], capture_output=True, text=True)
		waits = next(int(line.split()[2]) for line in said.stdout.splitlines()
			if line.startswith("event context-switches:"))
		print("%d waits, %.1f us each" % (waits, 1e6 * cpu / waits))
		assert waits > 10000 and 1e6 * cpu / waits < 25
	PYTHON
END

done_testing
