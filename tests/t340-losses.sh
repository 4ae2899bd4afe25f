#!/bin/sh
# pmu-sample: what was counted is what was sampled, lost, or reported as not sampled.
# kinds: release user
. tests/lib.sh

# as_nobody COMMAND...: without rights; ten and pmu-sample are in this folder
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
}

check 'a machine without a PMU says so to a user without rights, too, and names no sysctl' <<'END'
	test ! -e /sys/bus/event_source/devices/cpu || skip "this machine has a PMU"
	needs_root
	needs_command setpriv
	test "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 || skip "anyone may sample the kernel"
	cp "$BIN/pmu-sample" "$BIN/pmu-events" "$HELP/ten" .
	chmod 755 . ./*
	as_nobody ./pmu-sample -e cycles -- ./ten serial 0.1 2>named >s.data || test $? = 1
	as_nobody ./pmu-sample -- ./ten serial 0.1 2>usual >s.data
	as_nobody ./pmu-events --check cycles >check || test $? = 1
	for file in named usual check; do
		grep -q "no hardware PMU" $file || { cat $file; exit 1; }
	done
	none grep -h "sysctl" named usual check
END
done_testing
