#!/bin/sh
# pmu-sample --waits-min: waits that are shorter keep their time and number, but not their stacks.
# kinds: release
. tests/lib.sh

needs_waits() {
	test "$(id -u)" = 0 || skip "not root, who alone sees threads wake others up"
	needs_tracepoints
}

# judged STREAM NS: by what perf shows, each wait: whether it was shorter, and whether its stack is
# left out: perf shows the address of the frame, not its name
judged() {
	perf script -F tid,event,time,ip,sym --ns --show-switch-events -i "$1" 2>/dev/null |
		awk -v least="$2" '
			function since(time) { split(time, part, /[.:]/); return part[1] % 1000 * 1e9 + part[2] }
			/^\t/ { if (waits) { leaf[waits] = leaf[waits] $1 ";" } next }
			NF < 3 { next }
			{ waits = "" }
			$3 == "context-switches:" {
				waits = $1
				start[$1] = since($2)
				leaf[$1] = preempted[$1] = "" }
			/PERF_RECORD_SWITCH.* OUT.*preempt/ { preempted[$1] = 1 }
			/PERF_RECORD_SWITCH.* IN/ && $1 in start {
				kind = leaf[$1] ~ /^ffffffffffe1/ ? "left out" : "whole"
				time = since($2) - start[$1]
				print preempted[$1] ? "preempted" : time < least ? "short" : "long", kind
				delete start[$1] }'
}

# turns has a high priority, so that its waits are short on a busy machine, too.

check 'exactly the shorter waits have the frame [short waits], and no registers' <<'END'
	needs_waits
	nice -n -15 turns pass 2000 600 >says &
	pmu-sample --waits --waits-min 1ms -e dummy -d 1 -o s.data -p $! -v 2>err
	kill $!
	judged s.data 1000000 | sort | uniq -c >judged
	cat judged
	none grep -E 'long left|preempted left' judged
	# a wait may end in a record that the recorder did not see yet
	short=$(awk '/short left/ { print $1 }' judged)
	at_least "$short" 1	# on a busy machine few waits are
	at_most "$(awk '/short whole/ { n = $1 } END { print n + 0 }' judged)" $((short / 20 + 2))
	told=$(sed -n 's/.*: \([0-9]*\) waits were shorter than --waits-min.*/\1/p' err)
	near "$told" "$short" 2
	pmu-stream --check s.data
	perf script -F ip,sym,uregs -i s.data 2>/dev/null | awk '/ABI:/ && named { exit 1 }
		/^\t/ { named = /ffffffffffe1/ }'
	# who ended them is whole
	perf script -F event,ip,sym -i s.data 2>/dev/null | awk '/sched_waking:/ { wakes++ }
		/sched_waking:|context-/ { in_wakes = /waking/ } in_wakes && /ffffffffffe1/ { exit 1 }
		END { exit !wakes }'
END

check 'the sums are those of all waits' <<'END'
	needs_waits
	nice -n -15 turns pass 1000 600 >says &
	pmu-sample --waits --waits-min 1ms -e dummy -d 1 -o s.data -p $!
	kill $!
	pmu-symbolize -q s.data | pmu-topprof --to folded -e context-switches >folded
	grep -q '\[short waits\] [0-9]*$' folded
	pmu-topprof --label tid -o p.pb.gz s.data
	# two threads that share a CPU: where one does not wait, the other does, or both do
	awk '{ ns += $NF } END { printf "%.0f\n", ns / 1e6 }' folded >ms
	pmu-stream s.data | sed -n 's/.*times; \(.*\) s from .*/\1/p' >span
	awk -v ms="$(cat ms)" '{ exit !(ms >= 800 * $1 && ms <= 2000 * $1 + 10) }' span
END

check 'without --waits there is nothing to leave out' <<'END'
	exits 2 pmu-sample --waits-min 50us -- true 2>err
	exits 2 pmu-sample --waits --waits-min 0 -- true 2>err
	grep -q 'a time such as 50us' err
	exits 2 pmu-sample --waits --waits-min 1us --flight-recorder -- true 2>err
END

done_testing
