# waiting.sh - for tests of who keeps whom waiting: sourced after tests/lib.sh.
#
# WAITS=all: the long proofs, in which each run is made three times.

truth() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/waits-truth.py" "$@"; }

# needs_waits: skip where this user may not record waits
needs_waits() {
	needs_sampling
	needs_root
	needs_tracepoints
}

# long: skip what only the long proofs do
long() { test -n "$WAITS" || skip 'set WAITS=all'; }

# profiles NAME [=all]: of NAME.data: NAME.block (with all waits), NAME.mutex, and, if the program
# has said what its causes do, NAME.causes
profiles() {
	pmu-topprof -q --block$2 -o $1.block $1.data &&
	pmu-topprof -q --mutex -o $1.mutex $1.data || return
	causes=
	! grep -q '^truth napped' $1.truth || causes=$1.causes
	test -z "$causes" || pmu-topprof -q --mutex=causes -o $causes $1.data
}

# ns_with PROFILE OPTION...: of the samples that go tool pprof chooses
ns_with() {
	profile=$1
	shift
	go tool pprof -sample_index=delay -unit ns -top "$@" "$profile" 2>err |
		sed -n 's/^Showing .* accounting for \([0-9.e+]*\)ns,.*/\1/p'
}

# judged NAME OPTION... -- PROGRAM...: record its waits, and compare its profiles with the truth
# that it prints, NAME.truth.  With $all set to =all, also waits that no thread ends; with $only, of
# all that was recorded only the program in that file.
judged() {
	judged=$1
	shift
	pmu-sample -q --waits -e dummy -m 8Mi -o $judged.data "$@" 2>$judged.truth ||
		{ cat $judged.truth; return 1; }
	# programs of other tests may be gone before the second profile looks for their names
	test -z "$only" ||
		{ pmu-symbolize -q -o named.data $judged.data && mv named.data $judged.data; } ||
		return
	profiles $judged "$all" &&
	truth ${only:+--only $only} $(test -n "$WAITS" || echo --busy) \
		$judged.truth $judged.block $judged.mutex $causes
}

# tried COMMAND...: succeeds at one of five times.  Locks that spin first, and yield the CPU, spin
# all the time if other programs have the CPUs: then nothing is proved, and the check is skipped.
tried() {
	for try in 1 2 3 4 5; do
		! "$@" || return 0
	done
	! awk -v cpus="$(nproc)" '{ exit !($1 > cpus) }' /proc/loadavg ||
		skip 'the machine is busy: threads spin, and do not wait'
	return 1
}

# once_by_last_waker FROM-TO NAME PROGRAM...: each wait of it is due to the last waker alone
once_by_last_waker() {
	shares=$1 name=$2
	shift 2
	pmu-sample -q --waits -e dummy -m 8Mi -o $name.data -- "$@" 2>$name.truth &&
	pmu-topprof --block -o $name.block $name.data 2>said &&
	pmu-topprof -q --mutex -o $name.mutex $name.data &&
	truth --last-waker $shares $name.truth $name.block $name.mutex
}
by_last_waker() { tried once_by_last_waker "$@"; }

# On a busy machine, what a program knows of its waits has also the time in which a thread that was
# woken got no CPU: that may be much for a lock which changes hands a thousand times a second.  So
# there a run that fails is made again, up to four times; the bars of short runs are wider, too.  It
# never passes if the shares are wrong at rest.
busy() { test -z "$WAITS" || awk -v cpus="$(nproc)" '{ exit !($1 > cpus / 2) }' /proc/loadavg; }

# right NAME ...: as judged
right() {
	for run in $(seq $(test -z "$WAITS" && echo 1 || echo 3)); do
		for try in 1 2 3 4 5; do
			! judged "$@" || continue 2
			busy || return 1
			echo "run $run, try $try: the machine is busy"
		done
		return 1
	done
}

note="no kernel symbols (kptr_restrict): locks are recognised by the names of the C library's\
 functions"

# alike A B: the same lines, but numbers may differ by 3 %: without names, a wait of the program for
# the kernel, as in a page fault, cannot be told from one for a lock.  What is off by how much may
# differ, and whether it is too much.
alike() {
	paste -d '\n' "$1" "$2" | awk '
		function differ(a, b) {
			if (a ~ /^[0-9.]+$/ && b ~ /^[0-9.]+$/)
				return (a - b) ^ 2 > (0.03 * a + 0.005) ^ 2
			return a != b
		}
		{ gsub(/^[! ]+|[+-][0-9.]+ %$/, "") }
		NR % 2 { before = $0; next }
		{
			wrong = split(before, old, " ") != NF
			for (i = 1; i <= NF; i++)
				wrong += differ($i, old[i])
			if (wrong)
				print before " / " $0
			any += wrong
		}
		END { exit any > 0 || NR % 2 }'
}

# nameless NAME: NAME.data gives the same figures without names of the kernel, by the options of
# pmu-symbolize in $hidden, as with them, by $named; and a note says, once, how.  NAME.judged is
# what there is to be known of them.
nameless() {
	for how in named hidden; do
		cp $1.truth $how.truth
		options=$hidden
		test $how = hidden || options=$named
		pmu-symbolize $options -o $how.data $1.data 2>$how.said
		profiles $how
		truth --busy $how.truth $how.block $how.mutex $causes >$how.all || echo failed
		# a wait for the kernel itself may not be known as one that a thread has ended
		grep -v 'sums compared$' $how.all >$how.judged
	done
	cat hidden.said
	none grep -F "$note" named.said
	test "$(grep -cF "$note" hidden.said)" = 1
	alike named.judged hidden.judged
	mv named.judged $1.judged
}
