# Helpers of the tests that run pmu-sample: sourced after tests/lib.sh.

# attach OPTION...: pmu-sample in the background, its pid in $sampler, its stream in s.data.
# When this returns it has attached to its target, or it has ended.
attach() {
	rm -f s.data
	pmu-sample -o s.data "$@" &
	sampler=$!
	eventually has_attached
}
has_attached() { test -s s.data || gone $sampler; }

# detach: end that pmu-sample; it exits 0
detach() {
	kill -INT $sampler
	exits 0 wait $sampler
}

# give PID MS: wait until it got so much more CPU time
give() { eventually has_run "$1" $(($(cpu_ms "$1") + $2)); }

# has_bytes FILE COUNT: there are as many
has_bytes() { test "$(wc -c <"$1")" -ge "$2"; }

# counted FILE EVENT: how often it happened, from what pmu-sample -v printed to FILE
counted() { sed -n "s/^pmu-sample: $2.*: \([0-9]*\) counted.*/\1/p" "$1"; }

# may_sample_kernel: whether the kernel lets this user
may_sample_kernel() {
	test "$(id -u)" = 0 || test "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1
}

# but_for_rights FILE: its lines, without the one about rights that this user does not have
but_for_rights() {
	if may_sample_kernel; then cat "$1"; else
		grep -v "^pmu-sample: the kernel's own code is not sampled: " "$1" || :
	fi
}

# counts_cycles: whether this machine has a PMU that does
counts_cycles() { ! perf stat -e cycles true 2>&1 | grep -q "not supported"; }
