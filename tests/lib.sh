# Tests in shell, in the Test Anything Protocol.  A test file sources this:
#
#	. tests/lib.sh
#	check 'what must be true' 'commands that exit 0 if it is'
#	done_testing
#
# Each check runs under set -e in an empty directory of its own, which is
# kept when it fails.  Tools are found in $BIN, and run under $WRAP if that is
# set, as in WRAP="valgrind -q --error-exitcode=99".

TOP=$PWD
BIN=${BIN:-$TOP/build/release/bin}
HELP=${HELP:-${BIN%/bin}/tests/bin}	# helper programs of the tests
SHARED=${SHARED:-$TOP/../shared/data}
tests=0 failed=0
scratch=$(mktemp -d) || exit 1
mkdir "$scratch/bin"
for tool in ${WRAP:+"$BIN"/*}; do
	printf '#!/bin/sh\nexec %s %s "$@"\n' "$WRAP" "$tool" >"$scratch/bin/${tool##*/}"
	chmod +x "$scratch/bin/${tool##*/}"
done
PATH=$scratch/bin:$BIN:$HELP:$PATH
# Sanitizers exit 1 by default, as our tools do on damaged input: tell them apart.
ASAN_OPTIONS=exitcode=99:detect_leaks=1 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
export TOP BIN HELP SHARED PATH ASAN_OPTIONS UBSAN_OPTIONS

# exits STATUS COMMAND...: it exits so.
exits() {
	want=$1 got=0
	shift
	"$@" || got=$?
	test "$got" -eq "$want" || { echo "exit $got, not $want: $*"; return 1; }
}

# needs FILE...: skip this check where a file is absent.
needs() {
	for file; do
		test -e "$file" || { echo "no $file"; exit 77; }
	done
}

# none COMMAND...: it prints nothing (a bare "! grep" would never fail a check)
none() {
	found=$("$@" || :)
	test -z "$found" || { printf '%s\n' "$found"; return 1; }
}

# same EXPECTED ACTUAL
same() { diff -u "$1" "$2"; }

check() {
	tests=$((tests + 1))
	mkdir "$scratch/$tests"
	(	# not in a condition: set -e would be off in here
		cd "$scratch/$tests" || exit 1
		set -e
		eval "$2"
	) >"$scratch/log" 2>&1
	status=$?
	case $status in
	0)	echo "ok $tests - $1"
		rm -rf "${scratch:?}/$tests" ;;
	77)	echo "ok $tests - $1 # SKIP $(tail -n 1 "$scratch/log")" ;;
	*)	failed=$((failed + 1))
		echo "not ok $tests - $1"
		sed 's/^/# /' "$scratch/log"
		echo "# exit $status; left in $scratch/$tests" ;;
	esac
}

done_testing() {
	echo "1..$tests"
	test $failed -eq 0 || exit 1
	rm -rf "$scratch"
}

# perf_record OPTION...: perf 6.1 aborts now and then, in its own util/build-id.c
perf_record() {
	for try in 1 2 3; do
		if perf record -q "$@" 2>perf-log; then return 0; fi
	done
	cat perf-log
	return 1
}

# compose FILE: from the lines on stdin, Python with tests/streams.py at hand, that leave the
# bytes in "out"
compose() {
	{ echo "from streams import *"; cat; echo "open('$1', 'wb').write(out)"; } |
		PYTHONPATH="$TOP/tests" PYTHONDONTWRITEBYTECODE=1 python3 -
}

# file_build_id FILE: its GNU build ID in hexadecimal
file_build_id() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: *//p'; }
