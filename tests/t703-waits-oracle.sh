#!/bin/sh
# Who keeps whom waiting, by an oracle that shares no code with the tools: by lock and by function,
# each sum is the same to the nanosecond.
# kinds: release asan
. tests/lib.sh
. tests/waiting.sh

locks='mutex rwlock condition barrier semaphore'

# as_oracle STREAM PROGRAM NAME...: of locks and functions
as_oracle() {
	stream=$1 program=$(command -v "$2")
	shift 2
	pmu-topprof -q --block -o block $stream
	pmu-topprof -q --mutex -o mutex $stream
	truth --compare $stream "$program" block mutex "$@"
}

check 'two locks with a queue' <<'END'
	needs_waits
	pmu-sample -q --waits -e dummy -m 8Mi -o s.data -- convoy 1 2>truth
	as_oracle s.data convoy big small lock_big lock_small hold_flush hold_index hold_stats \
		request
END

check 'each kind of waiting' <<'END'
	needs_waits
	for kind in mutex impatient interrupted semaphore-lock inheriting shared writers readers \
		condition barrier pipe epoll flock; do
		echo $kind
		pmu-sample -q --waits -e dummy -o s.data -- waits $kind 30 2>truth
		as_oracle s.data waits waiter culprit $locks
	done
END

check 'threads that are attached to while they wait, and processes that come and go' <<'END'
	needs_waits
	waits mutex 100 2>truth & waiter=$!
	pmu-sample -q --waits -e dummy -d 0.2 -o s.data -p $waiter
	as_oracle s.data waits waiter culprit $locks
	pmu-sample -q --waits -e dummy -o t.data -- sh -c '
		for i in 1 2 3 4 5; do seq 2000 | sort | tail -n 1 & done; wait; sleep 0.1 & wait'
	as_oracle t.data waits waiter culprit $locks
END

check 'all CPUs, with CPU time beside it' <<'END'
	needs_waits
	long
	pmu-sample -q --waits -e cpu-clock -F 500 -m 64Mi -a -o s.data -- waits readers 50 2>truth
	as_oracle s.data waits	# other tests may run programs with the same names
END

check 'after pmu-symbolize, it is the same profile' <<'END'
	needs_waits
	pmu-sample -q --waits -e dummy -o s.data -- waits writers 50 2>truth
	pmu-symbolize -q -o r.data s.data
	for how in block mutex mutex=causes; do
		for stream in s r; do
			pmu-topprof -q --$how --label tid --to folded -o $stream.folded $stream.data
		done
		test -s s.folded
		same s.folded r.folded
	done
END

done_testing
