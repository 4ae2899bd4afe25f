#!/bin/sh
# The harness itself: what fails is seen to fail, and nothing goes on running.
# kinds: quick release
. tests/lib.sh

mark=98765$$	# what is to be ended sleeps so long: nobody else does

# a_file: make a tree here whose only test is the lines on stdin, after the library
a_file() {
	mkdir -p tests build/release
	ln -s "$TOP/tests/lib.sh" "$TOP/tests/no-sampling.sh" "$TOP/tests/run" tests
	ln -s "$BIN" build/release/bin
	ln -s "${HELP%/bin}" build/release/tests
	{ echo '. tests/lib.sh'; cat; } >tests/t.sh
}

# runs STATUS: run that file, and leave what is printed in "out"
runs() { exits "$1" env mark=$mark JOBS=1 TESTS=tests/t.sh tests/run release >out 2>&1; }

sleepers() { test "$(pgrep -c -f "^sleep $mark\$")" -eq "$1"; }
has_child() { pgrep -P "$1"; }

check 'a check that fails leaves nothing running, nor does one that passes' <<'END'
	a_file <<'FILE'
		start_all() {
			sleep "$mark" &
			setsid sleep "$mark" &
			(setsid sh -c 'setsid sleep "$mark" & sleep "$mark"' &)
			sh -c 'trap "" HUP INT TERM; sleep "$mark"; :' &
			until test "$(pgrep -c -f "^sleep $mark\$")" -eq 5; do sleep 0.02; done
		}
		check 'fails' <<-'CHECK'
			start_all
			false
		CHECK
		check 'sees nothing of it' <<-'CHECK'
			none pgrep -f "^sleep $mark\$"
			start_all
		CHECK
		check 'sees nothing of that' <<-'CHECK'
			none pgrep -f "^sleep $mark\$"
		CHECK
		sleep "$mark" &
		done_testing
FILE
	runs 1
	grep -q '^2 passed, 1 failed, 0 skipped$' out
	sleepers 0
END

check 'a file that is ended leaves nothing running' <<'END'
	for signal in TERM HUP QUIT INT; do
		env --default-signal confine sh -c "setsid sleep $mark & sleep $mark; :" &
		confine=$!
		eventually sleepers 2
		kill -$signal $confine
		status=0
		wait $confine || status=$?
		test "$(kill -l $status)" = $signal
		sleepers 0
	done
END
check 'what the caller ignores or blocks does not matter' <<'END'
	cat >deaf.py <<-'PYTHON'
		import os, signal, sys
		every = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
		for one in every:
		    signal.signal(one, signal.SIG_IGN)
		signal.pthread_sigmask(signal.SIG_BLOCK, every)
		os.umask(0o777)
		os.execvp(sys.argv[1], sys.argv[1:])
	PYTHON
	python3 deaf.py confine sh -c 'grep "^Sig[BI]" /proc/self/status; umask' >got
	printf 'SigBlk:\t%016d\nSigIgn:\t%016d\n0022\n' 0 0 | same - got
	exits 7 python3 deaf.py confine sh -c 'exit 7'
	exits 124 python3 deaf.py confine -t 1 sleep $mark
	a_file <<'FILE'
		check 'is ended by each signal' <<-'CHECK'
			for signal in HUP INT TERM PIPE USR1 ALRM; do
				status=0
				sh -c "kill -$signal \$\$; exit 3" || status=$?
				test "$(kill -l $status)" = $signal
			done
		CHECK
		done_testing
FILE
	python3 deaf.py sh tests/t.sh >out
	grep -q '^ok 1' out
END

check 'nohup(1) protects the whole of it' <<'END'
	nohup confine sh -c 'until test -e go; do sleep 0.02; done; exit 9' &
	confine=$!
	eventually has_child $confine
	kill -HUP $confine
	touch go
	exits 9 wait $confine
END
check 'a file that hangs is ended, and that is said' <<'END'
	a_file <<'FILE'
		check 'passes' <<-'CHECK'
			:
		CHECK
		check 'hangs' <<-'CHECK'
			setsid sleep $mark
		CHECK
		done_testing
FILE
	LIMIT=2 runs 1
	grep -q 'not ok - it did not end within 2 s' out
	sleepers 0
END

check 'a file without a plan, or with another one, has failed' <<'END'
	a_file <<'FILE'
		echo 'ok 1 - good'
FILE
	runs 1
	grep -q 'not ok - it died: exit 0, no plan' out
	echo 'kill -SEGV $$' >>tests/t.sh
	runs 1
	grep -q 'not ok - it died: exit 139, no plan' out
	printf 'echo "ok 1 - good"\necho 1..2\n' >tests/t.sh
	runs 1
	grep -q 'not ok - 1 results, not 2 as planned' out
	printf 'echo "ok 1 - good"\necho 1..1\nexit 3\n' >tests/t.sh
	runs 1
	grep -q 'not ok - exit 3, although nothing failed' out
	printf 'echo "ok 1 - good"\necho 1..1\n' >tests/t.sh
	runs 0
END

check 'a check that fails makes its run fail; one that is skipped says why' <<'END'
	a_file <<'FILE'
		check 'passes' <<-'CHECK'
			true
		CHECK
		check 'skips' <<-'CHECK'
			skip "no $mark here"
		CHECK
		done_testing
FILE
	runs 0
	grep -q "ok 2 - skips # SKIP no $mark here" out
	grep -q '^1 passed, 0 failed, 1 skipped$' out
	{
		echo '. tests/lib.sh'
		for body in false 'false; true' 'exit 5' 'exits 1 true' 'none echo x' \
			'near 1 2 0.5' 'about 49 100' 'about 151 100' 'undisturbed false' \
			'at_least "" 1' 'at_most 2 1' 'same /dev/null tests' 'test 1 = 2' \
			'unknown-command' 'near "" 1 2' 'near 1 "" 2' 'none cat absent' \
			'none grep x absent' 'none awk 1 absent' 'echo x | none grep -q x'
		do
			printf 'check bad <<-X\n%s\nX\n' "$body"
		done
		echo done_testing
	} >tests/t.sh
	runs 1
	grep -q '^0 passed, 20 failed, 0 skipped$' out
	printf '. tests/lib.sh\ncheck bad <<-X\nfalse\nX\ndone_testing\n' >tests/t.sh
	runs 1
	grep -q '^0 passed, 1 failed, 0 skipped$' out
END

check 'eventually waits for what comes, and fails when it has waited long enough' <<'END'
	(sleep 0.1; touch it) &
	eventually test -e it
	PATIENCE=0 exits 1 eventually sh -c 'echo because; exit 2' >out
	grep -qx because out
	grep -q '^never: sh -c' out
END

check 'what the host disturbed is done again, at most eight times' <<'END'
	stolen() { cat ticks; }
	work() {
		echo x >>runs
		test "$(wc -l <runs)" -gt "$quiet_after" || echo $(($(cat ticks) + 2)) >ticks
	}
	for quiet_after in 0 3 99; do
		echo 5 >ticks
		rm -f runs
		undisturbed work
		wc -l <runs
	done >done
	printf '%s\n' 1 4 8 | same - done
END

check 'a test inside a test ends its own leftovers only' <<'END'
	a_file <<'FILE'
		check 'leaves one' <<-'CHECK'
			sleep 1$mark &
		CHECK
		done_testing
FILE
	sleep $mark &
	mark=$mark CONFINED=1 sh tests/t.sh
	none pgrep -f "^sleep 1$mark\$"
	sleepers 1
END

check 'where nothing can be sampled, what samples is skipped at once, for that reason alone' <<'END'
	a_file <<'FILE'
		check 'needs no samples' <<-'CHECK'
			pmu-sample --help | grep usage
			exits 2 pmu-sample --nonsense
		CHECK
		check 'fails' <<-'CHECK'
			false
		CHECK
		check 'samples' <<-'CHECK'
			pmu-sample -q -e cpu-clock -o s.data -- true
		CHECK
		check 'waits' <<-'CHECK'
			sh -c 'until test -e go; do :; done' &
			pmu-sample -e cpu-clock -o s.data -p $! 2>err &
			eventually test -s s.data || :
			wait
		CHECK
		check 'has it sampled' <<-'CHECK'
			pmu-prof -q -o p -- true
		CHECK
		check 'reads a recording that could not be made' <<-'CHECK'
			pmu-topprof ../s.data
		CHECK
		done_testing
FILE
	for error in EPERM ENOSYS EACCES; do
		exits 1 no-perf $error env JOBS=1 TESTS=tests/t.sh tests/run release >out 2>&1
		cat out
		grep "^1 passed, 1 failed, 4 skipped$" out
		grep "not ok 2 - fails$" out
		test "$(grep -c " # SKIP nothing can be sampled here: perf_event_open: " out)" = 4
	done
END

check 'make quick needs no root, no network and no samples: what is skipped says why' <<'END'
	test "$KIND" != quick || skip "the kind release does it"
	cd "$TOP"
	files=$(grep -l '^# kinds:.* quick' tests/t[1-9]*.sh)
	# make check builds no unit tests without sanitizers
	test ! -d build/release/tests/unit ||
		files="$files $(find build/release/tests/unit -name 'test-*' ! -name '*.[do]')"
	export TESTS="tests/t010-manners.sh $files"
	if test "$(id -u)" = 0 && unshare -mn true; then
		# at a path that this user may use, wherever the tree is
		mkdir "$OLDPWD/tree" "$OLDPWD/home"
		chown 65534 "$OLDPWD/home"
		HOME=$OLDPWD/home TMPDIR=$OLDPWD/home unshare -m sh -c 'mount --bind . "$1" &&
			cd "$1" && exec tests/confined tests/run quick' - "$OLDPWD/tree"
	else
		tests/confined tests/run quick
	fi >"$OLDPWD/out" 2>&1 || { cat "$OLDPWD/out"; exit 1; }
	cat "$OLDPWD/out"
	none grep " 0 passed, 0 failed, 0 skipped" "$OLDPWD/out"
	refused="# SKIP nothing can be sampled here: perf_event_open: "
	at_least "$(grep -c "$refused" "$OLDPWD/out")" 20
	grep "t610-flame.sh: [1-9][0-9]* passed, 0 failed" "$OLDPWD/out"
END

done_testing
