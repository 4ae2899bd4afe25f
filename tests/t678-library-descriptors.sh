#!/bin/sh
# A program closes descriptors of libpmukit, by closefrom() or one by one, and opens its own files
# with the same numbers.  And what a full disk and a lack of descriptors are called.
# kinds: release user
. tests/lib.sh
. tests/sampling.sh

lib=${BIN%/bin}/lib

built() {
	test -e "$lib/libpmukit.so.0" || skip "there is no $lib/libpmukit.so.0: make lib"
	test -e "$scratch/closed" ||
		gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g -I"$TOP/include" \
			-o "$scratch/closed" "$TOP/tests/library/closed.c" -L"$lib" -lpmukit
	needs_sampling
}

# closed ARGUMENT...: the program
closed() { LD_LIBRARY_PATH=$lib "$scratch/closed" "$@" >said || { cat said; return 1; }; }
says() {
	for line; do grep -qx -e "$line" said || { cat said; echo "not there: $line"; return 1; }; done
}
lost="-9 the program has closed descriptors of the library"

check 'without such a program all is well, and files of the program stay as they are' <<'END'
	built
	for result in pprof records file:records; do
		closed none $result pause 0
		says "pause: 0" "running: 1" "stop: 0" "files 0, changed 0"
	done
END

check 'after closefrom() no file of the program is used or closed; the error says why' <<'END'
	built
	for kind in 0 1 2 3; do
		for result in pprof records; do
			closed all $result stop $kind
			says "stop: $lost" "files 24, changed 0"
			closed all $result pause $kind
			says "pause: $lost" "running: $lost" "stop: $lost" "files 24, changed 0"
			closed all $result cancel $kind
			says "files 24, changed 0"
		done
	done
	none grep "killed" said
END

check 'after closefrom() the records are there that the sampler itself writes' <<'END'
	built
	closed all file:records stop 0
	says "stop: $lost" "files 24, changed 0"
	at_least "$(perf_samples result)" 100
END

# one NUMBER KIND END: a file is opened in place of one descriptor
one() {
	closed "$1" pprof "$3" "$2"
	says "files 4, changed 0"
	test "$3" = cancel || says "stop: $lost"
}

check 'the same for each single descriptor; the profile is made if its file is still there' <<'END'
	built
	profiles=0
	for number in 0 1 2 3; do
		for kind in 0 1 2 3; do
			one $number $kind cancel
			one $number $kind stop
		done
		test ! -s result || profiles=$((profiles + 1))
	done
	test $profiles -eq 3
END

check 'the same for a stream and a program that are read' <<'END'
	built
	closed none file:records stop 0
	set --
	for i in 1 2 3 4 5 6 7 8 9 10; do set -- "$@" result result result result; done
	pmu-stream --cat "$@" >long
	at_least "$(wc -c <long)" 300000	# more than is read at once
	closed stream long
	says "first: 1" "end: $lost" "files 24, changed 0"
	closed binary
	says "frames: $lost" "files 24, changed 0"
END

check 'a full disk is named with the directory, and a note after it is not the error' <<'END'
	built
	mkdir there
	printf '#!/bin/sh\nulimit -f 1\nTMPDIR=there "$@" | cat\n' >limited
	LD_LIBRARY_PATH=$lib sh ./limited "$scratch/closed" none pprof stop 0 >said
	says "stop: -3 cannot write to the file in TMPDIR (there): File too large" \
		"message 1: cannot write to the file in TMPDIR (there): File too large"
	none grep stdout said
END

check 'the error is the one that the sampler has named, wherever its line is' <<'END'
	built
	cat >sampler <<-EOF
	#!/bin/sh
	printf 'pmu-sample: %s\n' "first note" "cannot do it: \$1" "last note" >&2
	printf 'error cannot do it: %s\nexit 1\n' "\$1" >&3
	EOF
	chmod +x sampler
	PMUKIT_SAMPLER=./sampler exits 1 closed none pprof stop 0
	says "start: -8 cannot do it: --control=.*" "message 0: first note" \
		"message 0: last note" "message 1: cannot do it: --control=.*"
	test "$(grep -c "^message" said)" -eq 3
END

check 'a file that is not found because too many are open is not called gone' <<'END'
	needs_root	# others may not sample whole CPUs instead
	built
	for limit in 16 18 20 22 24; do
		(
			ulimit -n $limit
			closed none file:pprof stop 0
		)
		cat said >>all
	done
	grep "no names from '.*/libc.so.6': too many open files: raise the limit, ulimit -n" all
	none grep "is gone" all
	grep "^message 0: 1 thread would take " all
END

done_testing
