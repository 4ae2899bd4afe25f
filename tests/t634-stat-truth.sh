#!/bin/sh
# What pmu-stat counts is what the work is known to be, what getrusage(2) says, and what perf stat
# counts of the same commands.
#
# Lines of --bench are read here: they have all digits.
# kinds: release user
. tests/lib.sh

# each UNIT FILE: the value of each run; an event of an ordinary user has :u
each() {
	awk -v unit="$1/op" '/^Benchmark/ {
		for (i = 4; i <= NF; i += 2) { sub(/:u/, "", $i); if ($i == unit) print $(i - 1) }
	}' "$2"
}

# used COLUMN FILE: what the program printed
used() { grep "^[0-9]" "$2" | cut -d " " -f "$1"; }

# needs_kernel EVENT: skip this check where what the kernel does is not counted
needs_kernel() {
	pmu-stat --bench -e "$1" -- true 2>err | grep -q " $1/op" || skip "$(head -n 1 err)"
}

# spread: of the numbers on stdin, "MEAN RANGE COUNT"
spread() {
	awk '{ sum += $1 }
		NR == 1 || $1 < min { min = $1 }
		NR == 1 || $1 > max { max = $1 }
		END { print sum / NR, max - min, NR }'
}

check 'page faults are those of a known work, of threads and of children' <<'END'
	pmu-stat --bench -n 3 -e page-faults -- known 0 0 0 >none
	pmu-stat --bench -n 3 -e page-faults -- known 1000 0 0 >one
	pmu-stat --bench -n 3 -e page-faults -- known 1000 0 0 threads >threads
	pmu-stat --bench -n 3 -e page-faults -- known 1000 0 0 children >children
	none=$(each page-faults none | spread | cut -d " " -f 1)
	# each thread and each child has some of its own
	for row in "one 1000 10" "threads 3000 30" "children 3000 150"; do
		set -- $row
		mean=$(each page-faults $1 | spread | cut -d " " -f 1)
		echo "$1: $mean, with nothing to do $none"
		near "$(awk "BEGIN { print $mean - $none }")" $2 $3
	done
END

check 'CPU time is that of getrusage' <<'END'
	for how in "" threads children; do
		pmu-stat --bench -e task-clock -- known 10000 0 0 $how >time 2>used
		clock=$(each task-clock-ns time) used=$(used 1 used)
		echo "$how: task-clock $clock, by getrusage $used"
		# getrusage knows the time from main() until the program asks; of children, it has their
		# ends, too, which kernels from 6.16 on do not count
		at_least "$clock" $((used * 8 / 10))
		at_most "$clock" $((used * 13 / 10 + 3000000))
	done
END

check 'context switches are those of getrusage' <<'END'
	needs_kernel context-switches
	for how in "" threads children; do
		pmu-stat --bench -e context-switches -- known 0 200 0 $how >switches 2>used
		counted=$(each context-switches switches) used=$(used 2 used)
		echo "$how: $counted, by getrusage $used"
		at_least "$counted" 180	# a pause that is over at once needs no switch
		# few before the exec and at the end
		near "$counted" "$used" 12
	done
END

check 'migrations are counted' <<'END'
	test "$(nproc)" -ge 2 || skip "one CPU"
	needs_kernel cpu-migrations
	pmu-stat --bench -n 3 -e cpu-migrations -- known 0 0 100 >moves
	# the scheduler may add some
	each cpu-migrations moves | awk '$1 < 99 || $1 > 130 { bad = 1 } END { exit bad || NR != 3 }'
END

check 'perf stat counts the same, within the spread of both' <<'END'
	needs_command perf
	events=page-faults,minor-faults,task-clock
	# in turns: what disturbs the machine for a while disturbs both
	for run in 1 2 3 4 5 6 7 8 9 10; do
		pmu-stat --bench -e $events -- known 2000 20 0 threads 2>>err
		perf stat -x, -e $events -o one -- known 2000 20 0 threads >/dev/null
		cat one >>theirs
	done >ours
	cat theirs
	for event in page-faults minor-faults task-clock; do
		name=$event
		test $event != task-clock || name=task-clock-ns
		# perf prints ms
		awk -F, -v event=$event '$3 ~ "^" event "(:u)?$" {
			print $1 * ($2 == "msec" ? 1e6 : 1) }' theirs | spread >perf
		read -r mean their_range their_runs <perf
		each $name ours | spread >spread
		read -r ours range runs <spread
		echo "$event: $ours in a range of $range, perf $mean in $their_range"
		test "$runs $their_runs" = "10 10"
		near "$ours" "$mean" "$(awk "BEGIN { print $range + $their_range + 2 }")"
	done
END

done_testing
