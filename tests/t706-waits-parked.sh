#!/bin/sh
# Who keeps whom waiting, where not all is known: for locks that park each thread on a word of its
# own, for words that stand for others, and locks that are handed on in secret.
# kinds: release
. tests/lib.sh
. tests/waiting.sh

# crate NAME EDITION OPTION...: compile a library of Rust, which Debian has as source
crate() {
	crate=$1 edition=$2 name=$(echo $1 | tr - _)
	shift 2
	$rustc --cap-lints allow -L . --crate-type rlib --edition $edition --crate-name $name \
		$crates "$@" /usr/share/cargo/registry/$crate-[0-9]*/src/lib.rs
	crates="$crates --extern $name=lib$name.rlib"
}

# compiled_parked: $parked is a program that waits for locks of parking_lot
compiled_parked() {
	needs /usr/share/cargo/registry/parking_lot-*/src/lib.rs
	rustc=$(PATH=/usr/bin:$PATH command -v rustc) || skip "no rustc"
	libc= crates=
	for name in union const_size_of align core_cvoid priv_mod_use; do
		libc="$libc --cfg libc_$name"	# what this rustc has
	done
	crate cfg-if 2018
	crate scopeguard 2018
	crate smallvec 2018
	crate libc 2015 $libc
	crate lock_api 2018
	crate parking_lot_core 2018
	crate parking_lot 2018
	$rustc --edition 2021 -O -g -L . $crates --cfg parked -o parked "$TOP/tests/waits.rs"
}

note='this program parks each thread on a word of its own (parking_lot, Java, Go): waits are'
note="$note charged to"

check "Rust's parking_lot: each wait is due to the last waker, and a note says so" <<'END'
	needs_waits
	compiled_parked
	for kind in mutex writers readers condvar; do
		case $kind in
		# the culprit wakes the first of three waiters, and that one the next
		mutex | writers) by_last_waker 0.15-0.7 $kind ./parked $kind 50 ;;
		*) by_last_waker 0.9-1 $kind ./parked $kind 50 ;;
		esac
		grep -F "$note the last waker (100.0 % of the waiting for locks)" said
		truth --compare $kind.data parked $kind.block $kind.mutex waiter culprit
	done
	pmu-sample -q --waits -e dummy -o plain.data -- waits mutex 20 2>truth
	pmu-topprof --block -o plain plain.data 2>said
	none cat said
END

check "Rust's own channels park threads, too, also where std is a library without DWARF" <<'END'
	needs_waits
	rustc=$(PATH=/usr/bin:$PATH command -v rustc) || skip "no rustc"
	$rustc --edition 2021 -O -C prefer-dynamic -o channels "$TOP/tests/waits.rs"
	export LD_LIBRARY_PATH="$($rustc --print sysroot)/lib"
	by_last_waker 0.9-1 channels ./channels mpsc 50
	grep -F "$note" said
END

check "Java's monitors, locks and semaphores; who sleeps does not wait for others" <<'END'
	needs_waits
	needs_command java javac
	map='-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'
	java $map -version 2>err || skip "this JVM writes no map of its code"
	javac -d . "$TOP/tests/Waits.java"
	for kind in monitor lock semaphore; do
		by_last_waker 0.1-0.9 $kind sh -c 'echo $$ >pid; exec "$@"' - java $map -Xcomp \
			-XX:CompileCommand=quiet -XX:CompileCommand=compileonly,Waits.* \
			-cp . Waits $kind 50
		grep -F "$note" said
		pmu-topprof -q --block=all -o all $kind.data
		rm "/tmp/perf-$(cat pid).map"
		slept=$(ns_with $kind.block -focus=JVM_Sleep)	# or waited for what the JVM locks
		at_most "${slept:-0}" 20000000
		at_least "$(ns_with all -focus=JVM_Sleep -tagfocus=ended=timer)" 100000000
		# the JVM's own threads wait until they are killed
		test -z "$(ns_with $kind.mutex -focus=do_group_exit)"
		at_least "$(ns_with all -tagfocus=ended=signal)" 100000000
	done
END

# compiled_atomics: ./atomics waits by the atomics of libstdc++
compiled_atomics() {
	needs_command g++
	once waits-atomics g++ -std=c++20 -O2 -g -I"$TOP" -pthread "$TOP/tests/waits.cc" -o atomics
}

# recorded PROGRAM...: its waits: "block", "mutex"; $waits is how long waiter() waited
recorded() {
	pmu-sample -q --waits -e dummy -o s.data -- "$@" 2>truth &&
	pmu-topprof --block -o block s.data 2>said &&
	pmu-topprof -q --mutex -o mutex s.data || return
	waits=$(ns_with block -focus='^waiter$' -ignore=scheduler)
	at_least "$waits" 1000000
}

# charged NAME: ns that the function has made others wait
charged() { ns_with mutex -focus="^$1\$" -ignore=scheduler; }

notified() {
	recorded ./atomics word 50 &&
	at_least "$(ns_with block -tagfocus=lock='^word$' -ignore=scheduler)" "$waits" &&
	at_least "$(charged culprit)" $((waits * 90 / 100))
}

check "std::atomic's wait() for an int: the lock is the variable, the notifier is charged" <<'END'
	needs_waits
	compiled_atomics
	tried notified
END

# own_words KIND: each wait of it is due to the last waker alone
own_words() {
	recorded own-words $1 &&
	pmu-topprof --mutex -v -o mutex s.data 2>said &&
	cat said &&
	go tool pprof -tags block 2>err >tags &&
	cat tags &&
	grep -E '\( *(9[0-9.]+|100)%\): last waker$' tags
}
queued() { own_words $1 && truth --last-waker 0.15-0.7 truth block mutex; }
listed() {
	own_words vectors &&
	waits=$(ns_with block -focus='^waiter$' -ignore=scheduler) &&
	near $waits "$(awk '$2 == "waited" { print $6 }' truth)" $((waits / 10)) &&
	at_least "$(charged culprit)" $((waits / 2)) &&
	test -z "$(ns_with block -focus='^waiter$' -tagfocus=lock=.)"
}
single='of the waiting is at semaphores or conditions of one thread each: it is charged to the last'

check 'of locks at which each thread has its own semaphore or condition, a note says so' <<'END'
	needs_waits
	tried queued semaphores
	grep -F "$single" said
	tried queued conditions
	grep -F "$single" said
END

check 'of a list of words, futex_waitv(), no lock is known, and the last waker is charged' <<'END'
	needs_waits
	exits=0
	own-words vectors 0 2>truth || exits=$?
	test $exits != 77 || skip "a kernel before 5.16"
	tried listed
END

# notified_by KIND PERCENT: by culprit() or stranger(), PERCENT at least by the latter
notified_by() {
	recorded ./atomics $1 50 &&
	test ! -s said &&	# no thread is parked on a word of its own
	culprit=$(charged culprit) stranger=$(charged stranger) &&
	at_least $((culprit + stranger)) $((waits * 90 / 100)) &&
	at_least $((stranger)) $((waits * $2 / 100)) &&
	go tool pprof -tags block 2>err | grep '__waiter_pool'
}

check 'for other types, the library has proxies: who notifies is charged, also a stranger' <<'END'
	needs_waits
	compiled_atomics
	tried notified_by proxy 0
	tried notified_by shared 20
END

handed_on() {
	recorded handoff 50 &&
	at_least "$(ns_with block -tagfocus=lock='^handed_lock$' -ignore=scheduler)" "$waits" &&
	at_least "$(charged next_holder)" $((waits * 60 / 100))
}

check 'a lock that is handed to who polls for it: who has it next wakes, and is charged' <<'END'
	needs_waits
	tried handed_on
	truth --compare s.data "$(command -v handoff)" block mutex waiter culprit next_holder
END

done_testing
