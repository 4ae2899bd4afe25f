#!/bin/sh
# Waits for the end of a child, however a program learns of it, and for signals of threads.
# kinds: release
. tests/lib.sh
. tests/waiting.sh

# recorded KIND: waits of children KIND: "block", "mutex"; $waited is what waiter() knows of it,
# $seen what the profile has
recorded() {
	lossless s.data pmu-sample -q --waits -e dummy -o s.data -- children "$1" 2>truth &&
	pmu-topprof -q --block -o block s.data &&
	pmu-topprof -q --mutex -o mutex s.data || return
	waited=$(awk '$2 == "waited" { print $6 }' truth)
	seen=$(ns_with block -focus='^waiter$')
	echo "$1: $waited waited, $seen seen"
}

# due KIND FUNCTION: nearly all that waiter() has waited for is due to FUNCTION
due() {
	recorded "$1" &&
	near "${seen:-0}" "$waited" $((waited / 20)) &&
	at_least "$(ns_with mutex -ignore=scheduler -focus="$2")" $((waited * 9 / 10))
}

check 'the end of a child ends waits for it, for its signal, and for the end of its pipe' <<'END'
	needs_waits
	for kind in wait sigsuspend select poll sigwait signalfd pidfd pipe; do
		tried due $kind '^\[exit\]$'
	done
END

check 'who sends a signal ends the wait of a thread that waits for it' <<'END'
	needs_waits
	tried due thread '^culprit$'
	tried due suspended '^culprit$'
END

check 'who stops and continues a process is not blamed for waits for its locks' <<'END'
	needs_waits
	recorded stopped
	at_least "$seen" 100000000
	pmu-topprof -q --mutex=causes -o causes s.data
	for profile in mutex causes; do
		go tool pprof -top $profile >top 2>err
		grep holder top
		# an unlock just before a stop seems to end that
		blamed=$(ns_with $profile -focus='signal|waitpid|kill')
		at_most "${blamed:-0}" $((seen / 10))
	done
END

done_testing
