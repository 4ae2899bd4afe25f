# Tests in shell, in the Test Anything Protocol.  A test file sources this:
#
#	. tests/lib.sh
#	check 'what must be true' <<'END'
#		commands that exit 0 if it is
#	END
#	done_testing
#
# Each check runs under set -e in an empty directory of its own, which is kept
# when it fails; what it leaves running is killed.  A check that exits 77 is
# skipped; its last line says why.  Tools are found in $BIN, and run under $WRAP
# if that is set, as in WRAP="valgrind -q --error-exitcode=99".
#
# No check may depend on the clock or on an idle machine: a workload takes CPU
# time (ten, spin), a condition is awaited (eventually), and a share is compared
# with the CPU time that the workload got (cpu_ms).

TOP=$PWD
BIN=${BIN:-$TOP/build/release/bin}
HELP=${HELP:-${BIN%/bin}/tests/bin}	# helper programs of the tests

# Tracepoints need tracefs.  Where root finds none mounted, this file gets one of its
# own, which nobody else sees.  OWN_TRACEFS is set first, so that this happens once.
tracing=/sys/kernel/tracing
with_tracefs="mount -t tracefs none $tracing"
if test "$(id -u)" = 0 && ! test -r $tracing/available_events && test -z "$OWN_TRACEFS" &&
	unshare -m $with_tracefs 2>/dev/null
then
	OWN_TRACEFS=1 exec unshare -m sh -c "$with_tracefs && exec sh \"\$@\"" - "$0" "$@"
fi

# Whoever started this: default signals, no stray processes, no stray settings.
# $CONFINED is the process that sees to it; inherited from farther up, it does not count.
# It is set here, too, not by confine alone: an older confine would be started for ever.
test "$CONFINED" = "$PPID" || CONFINED=$$ exec "$HELP/confine" sh "$0" "$@"
unset MAKEFLAGS MFLAGS MAKELEVEL CDPATH DEBUGINFOD_URLS PERF_CONFIG PAGER
LC_ALL=C

SHARED=${SHARED:-$TOP/../shared/data}
tests=0 failed=0
case $TMPDIR in *[!A-Za-z0-9/._+-]*) unset TMPDIR ;; esac	# make takes no spaces in DESTDIR
scratch=$(mktemp -d) || exit 1
chmod 755 "$scratch"	# for the checks that act as another user
mkdir "$scratch/bin" "$scratch/tmp" "$scratch/home"
# What test files of one run share, which tests/run makes: see once().
: "${ONCE:=$scratch/once}"
mkdir -p "$ONCE"
# A home without ~/.debug, where perf keeps what it has seen; but Go's caches stay.
: "${GOCACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/go-build}" "${GOPATH:=$HOME/go}"
HOME=$scratch/home
unset XDG_CACHE_HOME XDG_CONFIG_HOME PERF_BUILDID_DIR
TMPDIR=$scratch/tmp
for tool in ${WRAP:+"$BIN"/*}; do
	printf '#!/bin/sh\nexec %s %s "$@"\n' "$WRAP" "$tool" >"$scratch/bin/${tool##*/}"
	chmod +x "$scratch/bin/${tool##*/}"
done
# Where a file asks tools for JSON, what they print is kept for tests/t065-schemas.sh.
if test "$KIND" = release && test -z "$WRAP" && grep -qE 'json| -j' "$0"; then
	KEPT_JSON=$ONCE/json
	mkdir -p "$KEPT_JSON"
	export KEPT_JSON
	for tool in pmu-events pmu-stream pmu-top pmu-diff pmu-stat; do
		ln -s "$HELP/keeps-json" "$scratch/bin/$tool"
	done
fi
# The distribution's Python, not a script in front of it that starts children of its own.
test ! -x /usr/bin/python3 || ln -s /usr/bin/python3 "$scratch/bin/python3"
PATH=$scratch/bin:$BIN:$HELP:$PATH:/usr/sbin:/sbin
# Sanitizers exit 1 by default, as our tools do on damaged input: tell them apart.
ASAN_OPTIONS=exitcode=99:detect_leaks=1 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
export TOP BIN HELP SHARED PATH TMPDIR HOME ONCE GOCACHE GOPATH LC_ALL ASAN_OPTIONS UBSAN_OPTIONS

# Whether the kernel lets this user sample at all: $unsampled is why not.
unsampled=$("$HELP/may-sample") || . tests/no-sampling.sh

# needs_sampling: skip a check that samples by a copy of a tool, in a namespace, or after a mount
needs_sampling() { test -z "$unsampled" || skip "$unsampled"; }

# Debian's awk prints whole numbers from 2^31 on, such as 2.2 s in ns, with six digits only.
awk() { command awk -v OFMT=%.15g -v CONVFMT=%.15g "$@"; }

# exits STATUS COMMAND...: it exits so.
exits() {
	want=$1 got=0
	shift
	"$@" || got=$?
	test "$got" -eq "$want" || { echo "exit $got, not $want: $*"; return 1; }
}

skip() { echo "$*"; exit 77; }

# needs FILE...: skip this check where a file is absent.
needs() {
	for file; do test -e "$file" || skip "no $file"; done
}

# needs_command NAME...: skip this check where a program is absent.
needs_command() {
	for name; do command -v "$name" >/dev/null || skip "no $name"; done
}

has_tracefs() { grep -q " $tracing tracefs " /proc/mounts; }
needs_tracepoints() { test -r $tracing/available_events || skip "cannot read $tracing"; }

# sanitized: these are the tools with sanitizers
sanitized() { case $BIN in *asan*) ;; *) return 1 ;; esac; }

# unsanitized: skip what has nothing for sanitizers to see that other checks have not
unsanitized() {
	! sanitized || test -n "$ALL" || skip "the build without sanitizers does it"
}

# any_user: skip what is the same for whoever calls, so that the kind user has nothing to add
any_user() { test "$KIND" != user || test -n "$ALL" || skip "the same for any user"; }

# needs_loopback: skip where no program here can be connected to, as in a new network namespace
needs_loopback() {
	grep -q '127\.0\.0\.1$' /proc/net/fib_trie || skip "the loopback device is down"
}

# needs_single_tools: skip what is about each tool's own file where all are links to pmukit
needs_single_tools() { test ! -L "$BIN/pmu-top" || skip "the tools are links to pmukit"; }

needs_root() { test "$(id -u)" = 0 || skip "not root"; }

# none COMMAND...: it prints nothing (a bare "! grep" would never fail a check).  A file that cannot
# be read proves nothing, and neither does the silence of grep -q.
none() {
	local found exited=0
	found=$("$@") || exited=$?
	case "$1 $exited" in
	"grep 1" | "cat 0" | "awk "[01]) ;;
	"grep "* | "cat "* | "awk "*) printf '%s\n' "exit $exited: $*" "$found"; return 1 ;;
	esac
	test -z "$found" || { printf '%s\n' "$found"; return 1; }
}

# same EXPECTED ACTUAL
same() { diff -u "$1" "$2"; }

# A host may take a virtual CPU away for a while.  CPU time leaves that out; clock events do not,
# and a timer that came late skips periods.  So the samples of a clock are as many as the ms of
# CPU time only where the host left the machine alone.

# about ACTUAL EXPECTED: within a half of it, as the samples of a clock are; what is missed or
# counted twice is none or twice as many
about() { near "$1" "$2" "$(($2 / 2))"; }

# undisturbed COMMAND...: run it, again while the host took more than 10 ms meanwhile; the
# eighth time is the last; $taken is how many ms the host took then
undisturbed() {
	for attempt in 1 2 3 4 5 6 7 8; do
		stolen_before=$(stolen)
		"$@" || return
		taken=$((10 * ($(stolen) - stolen_before)))
		test "$taken" -gt 10 || return 0
	done
}
stolen() { awk '/^cpu / { print $9 + 0 }' /proc/stat; }	# in ticks of 10 ms

# lossless STREAM COMMAND...: run it, which writes STREAM, again while records of it were lost, as
# where other tests have all CPUs, or hold the memory that this user may lock for rings; the
# eighth time is the last
lossless() {
	local attempt stream=$1
	shift
	for attempt in 1 2 3 4 5 6 7 8; do
		"$@" || return
		! pmu-stream -q "$stream" | grep -q ', 0 lost, throttled ' || return 0
	done
}

# near ACTUAL EXPECTED TOLERANCE
near() {
	awk -v a="$1" -v e="$2" -v t="$3" 'BEGIN {
		d = a - e; exit !(a != "" && e != "" && d <= t && -d <= t) }' ||
	{ echo "'$1' is not within $3 of '$2'"; return 1; }
}

# at_least ACTUAL LEAST, at_most ACTUAL MOST: numbers, with fractions or without
at_least() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 >= b + 0) }' ||
	{ echo "'$1' is less than $2"; return 1; }
}
at_most() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }' ||
	{ echo "'$1' is more than $2"; return 1; }
}

# eventually COMMAND...: wait until it succeeds, $PATIENCE seconds at most, ten minutes
eventually() {
	local tries=0 patience=${PATIENCE:-600}	# what it waits for may wait, too
	test -z "$unsampled" || ! was_refused || patience=5
	until "$@" >"$scratch/tries" 2>&1; do
		tries=$((tries + 1))
		test $tries -lt $((patience * 20)) || {
			cat "$scratch/tries"
			echo "never: $*"
			return 1
		}
		sleep 0.05
	done
}

gone() { ! kill -0 "$1"; }

# cpu_ms PID: the CPU time that all threads of a process got so far, in ms
cpu_ms() {
	awk '{ ns += $1 } END { printf "%.0f\n", ns / 1e6 }' /proc/"$1"/task/*/schedstat
}

# has_run PID MS: it got so much CPU time
has_run() { test "$(cpu_ms "$1")" -ge "$2"; }

# became PID NAME: it runs the program NAME, and is not the shell any more that started it
became() { test "$(cat "/proc/$1/comm")" = "$(printf %.15s "$2")"; }

# perf script reads the names of all kernel functions, which takes 0.13 s of CPU time, also where
# it shows none: there it gets an empty list.  perf_reads FILE: it shows the file so.
perf_reads() { command perf script --kallsyms /dev/null -i "$1"; }
perf() {
	case " $* " in
	*" -F "*[+,\ ]sym[,\ ]* | *" -F "*[,\ ]dso[,\ ]* | *" -F "*[,\ ]trace[,\ ]* | \
	*" -F "*[,\ ]src* | *" -F "*[,\ ]*off[,\ ]* | *" -F "[+-]*) command perf "$@" ;;
	" script "*" -F "* | " script -D "*)
		shift
		command perf script --kallsyms /dev/null "$@" ;;
	*)	command perf "$@" ;;
	esac
}

# perf_samples STREAM: how many samples perf counts in it
perf_samples() {
	perf report -i "$1" --stats 2>/dev/null | awk '/SAMPLE events:/ { print $3; exit }'
}

# samples STREAM FIELDS: as perf script prints them, a line each
samples() { perf script -i "$1" -F "$2" 2>/dev/null; }

# strays_left: list in $strays what a check left running; confine, our parent, has adopted it
strays_left() {
	read -r adopted <"/proc/$PPID/task/$PPID/children" || :	# the line has no end
	strays=
	for stray in $adopted; do
		test "$stray" = $$ || strays="$strays $stray"
	done
	test -n "$strays"
}

# kill_strays: end them; what these leave appears when they are dead
kill_strays() {
	tries=0
	while strays_left; do
		kill -KILL $strays 2>/dev/null
		tries=$((tries + 1))
		test $tries -lt 20 || sleep 0.05
		test $tries -lt 1200 || {
			echo "# cannot be killed:$strays"
			return
		}
	done
}

# used: the ticks of 10 ms of CPU time that this file and what it started took.  With CPU=1 each
# check says what it took.
used() {
	cat /proc/$$/stat "/proc/$PPID/stat" | awk '{ t += $14 + $15 + $16 + $17 } END { print t }'
}

check() {
	tests=$((tests + 1))
	test -z "$CPU" || before=$(used)
	mkdir "$scratch/$tests"
	body=$(cat)
	(	# not in a condition: set -e would be off in here
		cd "$scratch/$tests" || exit 1
		test -z "$unsampled" || begin_unsampled
		set -e
		# which says what was false: where a check ends, that is the last line of its log
		test() { command test "$@" || { set -- $? "$*"; echo "false: test $2" >&2; return "$1"; }; }
		eval "$body"
	) >"$scratch/log" 2>&1 </dev/null
	status=$?
	kill_strays
	if test $status != 0 && test -n "$unsampled" && was_refused; then
		status=77
		echo "$unsampled" >>"$scratch/log"
	fi
	test -z "$CPU" || echo "# $((($(used) - before) * 10)) ms of CPU time:" >&2
	case $status in
	0)	echo "ok $tests - $1"
		rm -rf "${scratch:?}/$tests" ;;
	77)	echo "ok $tests - $1 # SKIP $(tail -n 1 "$scratch/log")" ;;
	*)	failed=$((failed + 1))
		echo "not ok $tests - $1"
		sed -n '1,100s/^/# /p; 101s/.*/# .../p' "$scratch/log"
		echo "# exit $status; left in $scratch/$tests" ;;
	esac
}

# prepare_lab: what guests need; $why says why there can be none, and in_lab skips then
prepare_lab() {
	why=
	"$TOP/tests/lab/prepare" >"$scratch/prepare.log" 2>&1 || case $? in
	77)	why=$(tail -n 1 "$scratch/prepare.log") ;;
	*)	cat "$scratch/prepare.log"
		exit 1 ;;
	esac
}
in_lab() { test -z "$why" || skip "$why"; }

done_testing() {
	echo "1..$tests"
	test $failed -eq 0 || exit 1
	rm -rf "$scratch"
}

# once NAME COMMAND... -o FILE: run this compiler, and keep FILE by that name for other checks and
# test files of this run, which get it from there
once() {
	kept=$ONCE/$1
	shift
	for made; do :; done
	test ! -e "$kept" || { cp "$kept" "$made"; return; }
	"$@" && cp "$made" "$kept.$$" && mv "$kept.$$" "$kept"
}

# perf_record OPTION... -o FILE ...: record with perf 6.1.  Where another session asks the kernel
# for build IDs at the same time, as a test beside this one may, Linux marks mappings of this
# session as if they had some, and perf stops at them (util/build-id.c).  So try again, at last
# with build IDs.
perf_record() {
	file=$(echo " $*" | sed -n 's/.* -o \([^ ]*\) .*/\1/p')
	for with in '' '' '' --buildid-mmap --buildid-mmap --buildid-mmap; do
		if perf record -q $with "$@" 2>perf-log &&
			perf buildid-list --with-hits -i "${file:-perf.data}" >perf-ids 2>&1; then
			return 0
		fi
	done
	cat perf-log perf-ids
	return 1
}

# facts PROFILE: its lines for programs, which pprof does not print
facts() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/facts.py" "$1"; }

# compose FILE: from the lines on stdin, Python with tests/streams.py at hand, that leave the
# bytes in "out"
compose() {
	{ echo "from streams import *"; cat; echo "open('$1', 'wb').write(out)"; } |
		PYTHONPATH="$TOP/tests" PYTHONDONTWRITEBYTECODE=1 python3 -
}

# file_build_id FILE: its GNU build ID in hexadecimal
file_build_id() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: *//p'; }
