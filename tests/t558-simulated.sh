#!/bin/sh
# Error bars and pmu-diff on simulated recordings whose truth is known: how often intervals hold
# it, how often something is called where nothing changed, and where something did.  The seeds
# are fixed, so the numbers are the same in each run.  SIMULATED=all: as many as it takes to tell
# a right method from a wrong one, for minutes.
# kinds: release
. tests/lib.sh

# The distribution's Python has a module "statistics": simulated.py uses it.
simulated() { PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/simulated.py" "$@"; }

# some FEW ALL: how many repetitions
some() { test "$SIMULATED" = all && echo "$2" || echo "$1"; }

check 'the bars of each function hold its share in 88 to 99.5 of 100 recordings' <<'END'
	for program in steady phases threads bursts; do
		simulated coverage $program "$(some 20 1000)" >got
		read -r least most width <got
		echo "$program: $least to $most %, width $width"
		at_least $least $(some 75 88)
		test "$SIMULATED" != all || at_most $most 99.5
		test $program != steady || at_most $width $(some 1.6 1.35)
	done
END

check 'of 200 comparisons of equal programs at most 16 report a change' <<'END'
	for program in steady phases; do
		calls=$(simulated equal $program "$(some 10 200)" 1)
		echo "$program, one run a side: $calls"
		at_most $calls $(some 1 16)
	done
	for program in steady layout phases threads; do
		test "$SIMULATED" = all || test $program = layout || continue
		calls=$(simulated equal $program "$(some 4 200)" 5)
		echo "$program, five runs a side: $calls"
		at_most $calls $(some 1 16)
	done
END

check 'with as many samples as the tool asks for, 78 of 100 comparisons find a change' <<'END'
	test "$SIMULATED" = all || skip 'only in make check-all PARTS=statistics'
	# pmu-diff's own prediction for 10 functions, f9 of 10/55
	for change in 0.1 0.2 0.3; do
		samples=$(echo $change | awk '{ print $1 == .1 ? 28682 : $1 == .2 ? 7631 : 3598 }')
		found=$(simulated slower 600 1 $samples $change)
		echo "$change slower, $samples samples a side: $found of 600"
		at_least $found 468
	done
END

done_testing
