#!/bin/sh
# Who keeps whom waiting, for each kind of waiting: waiter() has waited as long as it says, and
# culprit() is charged 95 % of it.  In short runs 90 % is enough: other tests keep the machine busy.
# kinds: release
. tests/lib.sh
. tests/waiting.sh

rounds=$(test -n "$WAITS" && echo 500 || echo 50)	# of 4 ms

# kinds_right PREFIX PROGRAM KIND...: each
kinds_right() {
	prefix=$1 program=$2
	shift 2
	for kind; do
		right $prefix$kind -- $program $kind $rounds
	done
}

check 'mutexes: plain ones, and those that inherit priorities' <<'END'
	needs_waits
	kinds_right '' waits mutex inheriting
END

check 'a mutex in memory that two processes share, at two addresses' <<'END'
	needs_waits
	kinds_right '' waits shared
END

check 'a semaphore as a lock: the holder is charged, not the next in the queue' <<'END'
	needs_waits
	kinds_right '' waits semaphore-lock
END

check 'waits with timeouts, and with signals, are whole: they go on at the same lock' <<'END'
	needs_waits
	kinds_right '' waits impatient interrupted
END

check 'rwlocks: writers that wait for a reader, and readers for a writer' <<'END'
	needs_waits
	kinds_right '' waits writers readers
END

check 'conditions, semaphores and barriers' <<'END'
	needs_waits
	kinds_right '' waits condition semaphore barrier
END

check 'pipes, sockets, eventfds, also by epoll, and locks of files' <<'END'
	needs_waits
	kinds_right '' waits pipe sockets eventfd epoll flock
END

# The end of a thread is seen by events of its CPU only: those of the thread are closed before.
check 'a mutex whose holder dies: it is charged, though it makes no call for it' <<'END'
	needs_waits
	# other tests may run programs with the same functions
	only=dying
	cp "$(command -v waits)" $only
	# small copies of stacks: the rings have room for more of them
	right robust -m 64Mi --unwind --call-graph dwarf,8192 -a -- ./$only robust $rounds
END

check 'a disk: there is nobody to blame, and all waits are in --block=all only' <<'END'
	needs_waits
	all==all
	right disk -- waits disk $rounds
	pmu-topprof -q --block -o some disk.data
	go tool pprof -sample_index=delay -top -focus=waiter some 2>err >top
	none grep -E '[0-9]m?s .* waiter$' top
END

check 'threads that know no C library: clone() and a lock made of a word' <<'END'
	needs_waits
	right raw -- raw-futex $rounds
END

check "musl: its locks and semaphores have the variables' names, too" <<'END'
	needs_waits
	needs_command musl-gcc
	musl-gcc -O2 -g -D_GNU_SOURCE -I"$TOP" -o musl "$TOP/tests/bin/waits.c"
	# the first at a barrier of musl is woken by the last that leaves it, not by who was late
	kinds_right musl- ./musl mutex inheriting writers readers condition semaphore
END

check "Rust's Mutex, RwLock, Condvar and mpsc, with debugging information and without" <<'END'
	needs_waits
	rustc=$(PATH=/usr/bin:$PATH command -v rustc) || skip "no rustc"
	$rustc --edition 2021 -O -g -o rust "$TOP/tests/waits.rs"
	kinds_right rust- ./rust mutex writers readers condvar mpsc
	objcopy --strip-debug rust bare
	kinds_right bare- ./bare writers condvar
END

# nameless_kind NAME PROGRAM...: its figures are those with names, also on a busy machine
nameless_kind() {
	name=$1
	shift
	pmu-sample -q --waits -e dummy -m 8Mi -o $name.data -- "$@" 2>$name.truth
	nameless $name
	none grep ' caused, of .* 0.0000 s,\| caused 0.00 % ' $name.judged
}

check "without names of the kernel, the C library's functions and Rust's say what is a lock" <<'END'
	needs_waits
	sed 's/^[0-9a-f]*/0/' /proc/kallsyms >symbols	# as kptr_restrict shows them
	named= hidden='--kallsyms symbols'
	nameless_kind convoy convoy 0.5
	for kind in inheriting shared writers condition semaphore barrier; do
		nameless_kind $kind waits $kind 30
	done
	# with the library's own file, which may have no names but those that programs may call
	gcc -O2 -g -D_GNU_SOURCE -I"$TOP" -o dynamic "$TOP/tests/bin/waits.c"
	for kind in mutex inheriting writers condition; do
		nameless_kind $kind ./dynamic $kind 30
	done
	rustc=$(PATH=/usr/bin:$PATH command -v rustc) || exit 0
	$rustc --edition 2021 -O -g -o rust "$TOP/tests/waits.rs"
	objcopy --strip-debug rust bare
	for kind in mutex writers condvar; do
		nameless_kind $kind ./rust $kind 30
		nameless_kind $kind ./bare $kind 30
	done
END

done_testing
