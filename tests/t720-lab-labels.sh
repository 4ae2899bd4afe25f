#!/bin/sh
# Labels of goroutines on arm64, where Go keeps the goroutine in a register: pmu-sample --labels in
# a guest.  The truth is the function that ran (tests/labels-judge.py).
#
# LAB=all (make lab): it takes a guest of its own.
# kinds: release
. tests/lib.sh
. tests/lab.sh

command -v go >/dev/null || why=${why:-no go}
test "$LAB" = all || why='only with LAB=all (make lab)'
test -n "$why" || {
	GOARCH=arm64 GO111MODULE=off go build -o "$scratch/labels" tests/labels.go
	start labels -p "$scratch/labels" <<'END'
labels 100000 2 3 & pid=$!
pmu-sample -v --labels -e cpu-clock -F 200 -d 4 -p $pid -o clock.data 2>clock.said
both=cpu-clock/freq=200/,cycles/period=9999991/
pmu-sample -v --labels -e $both -d 4 -p $pid -o both.data 2>both.said
kill $pid
pmu-events --doctor >doctor
:
END
}

check 'the guest ends' <<'END'
	in_lab
	ended_well labels
END

check 'labels on arm64 are those of the function; samples in the kernel are not known' <<'END'
	ended labels
	cat "$lab/labels/clock.said" "$lab/labels/both.said"
	cp "$scratch/labels" .
	for name in clock both; do
		python3 "$TOP/tests/labels-judge.py" ./labels "$lab/labels/$name.data" >judged
		cat judged
		grep -q ' wrong=0 ' judged
		grep -q ' alone=0 ' judged	# also where one pair is inside another
		right=$(tr ' ' '\n' <judged | sed -n 's/^right=//p')
		none=$(tr ' ' '\n' <judged | sed -n 's/^none=//p')
		at_least "$right" 30
		at_most $((none * 10)) $((right + none))
	done
	grep '^ok *labels *yes' "$lab/labels/doctor"
END

done_testing
