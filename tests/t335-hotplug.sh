#!/bin/sh
# pmu-sample: CPUs that go away and come back.  Nothing else may run meanwhile.
# kinds: hotplug
. tests/lib.sh

whole() {
	perf script -i "$1" >script 2>errors
	none cat errors
	exits 0 pmu-topprof -q -o p.pb.gz "$1"
}

# on_cpu STREAM CPU: how many samples it has of this CPU so far
on_cpu() { samples "$1" cpu | awk -v cpu="[00$2]" '$1 == cpu { n++ } END { print n + 0 }'; }
has_samples() { test "$(on_cpu "$1" "$2")" -ge "$3"; }

check 'a CPU that goes offline, and one that comes online' <<'END'
	test "$KIND" = hotplug || skip "takes a CPU away from all others: PARTS=hotplug"
	online=/sys/devices/system/cpu/cpu1/online
	test -w $online && test "$(cat $online)" = 1 || skip "no CPU can be taken offline"
	trap "echo 1 >$online" EXIT
	ten threads 9999 &
	target=$!
	pmu-sample -a -e cpu-clock -F 1000 -o s.data &
	sampler=$!
	eventually has_samples s.data 0 200
	eventually has_samples s.data 1 200
	echo 0 >$online || skip "it stays online"
	before=$(on_cpu s.data 0)
	eventually has_samples s.data 0 $((before + 500))
	seen=$(on_cpu s.data 1)
	eventually has_samples s.data 0 $((before + 1000))
	kill -TERM $sampler
	wait $sampler
	whole s.data
	test "$(on_cpu s.data 1)" = "$seen"
	exits 1 pmu-sample -C 1 -e cpu-clock -o t.data 2>err
	grep -q "none of the selected CPUs is online" err
	pmu-sample -p $target -e cpu-clock -F 1000 -o u.data 2>err &
	sampler=$!
	eventually test -s u.data
	echo 1 >$online
	kill -TERM $sampler
	wait $sampler
	whole u.data
	cat err
	grep -q "CPU 1 came online meanwhile" err
END

done_testing
