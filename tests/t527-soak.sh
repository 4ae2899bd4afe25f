#!/bin/sh
# The whole pipe of root, continuous, beside a program that does all to be hard to follow.
#
# SOAK_SECONDS=600: so long, with profiles of 10 s each.
# kinds: release
. tests/lib.sh

seconds=${SOAK_SECONDS:-2}
interval=10
test "$seconds" -ge 60 || interval=1

# counted: what pmu-sample says was counted of context switches, and which are lost
counted() { sed -n 's/^pmu-sample: sched:sched_switch: \([0-9]*\) counted.*/\1/p' sampled; }

# held PID: its resident memory without pages of files, in KiB; nothing when it has ended
held() { sed -n 's/^RssAnon:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2>/dev/null; }

# watch: the memory of the tools, a line each second, while pmu-sample runs: dead, it has none
watch() {
	while own=$(held "$sampler") && test -n "$own"; do
		echo "$own $(held "$symbolizer") $(held "$aggregator") $(held "$fileless")"
		sleep 1
	done | awk 'NF == 4' >memory
}

# The files of programs that run elsewhere on the machine take memory in pmu-symbolize: up to
# 1 GiB, by its page.  So a second one, which finds no files, shows whether the rest is flat.

# flat COLUMN MOST: from the middle on no more than in the second quarter, and MOST KiB
flat() {
	awk -v c="$1" -v most="$2" '{ m[NR] = $c } END {
		for (i = 1; i <= NR; i++) {
			if (i > NR / 4 && i <= NR / 2 && m[i] > warm) warm = m[i]
			if (i > NR / 2 && m[i] > late) late = m[i]
		}
		print "column", c ":", warm, "KiB, later", late, "KiB"
		exit NR < 4 || late > warm + most
	}' memory
}

check 'all intervals are there, every loss is reported, and memory is flat' <<'END'
	needs_root
	needs_tracepoints
	mkdir profiles storm none
	mkfifo raw resolved copy
	(cd storm && exec storm 100000 >../born) &
	storm=$!
	pmu-topprof -v --split ${interval}s -o profiles/%s.pb.gz \
		<resolved 2>aggregated &
	aggregator=$!
	pmu-symbolize -q --sysroot none <copy >/dev/null &
	fileless=$!
	tee copy <raw | pmu-symbolize -v 2>symbolized >resolved &
	symbolizer=$!
	pmu-sample -v -a -g -e cpu-clock/freq=99/ -e sched:sched_switch/period=1/ -d "$seconds" \
		>raw 2>sampled &
	sampler=$!
	watch
	wait $sampler
	wait $symbolizer
	wait $fileless
	wait $aggregator
	kill -TERM $storm
	wait $storm
	echo "$(cat born) processes"
	at_least "$(cat born)" 10
	tail -n 4 sampled aggregated

	# what was counted is in the profiles, as samples or at [lost]
	pmu-topprof -o all.pb.gz profiles/*.pb.gz
	# pmu-top shows what was lost apart, pprof in the sum
	go tool pprof -sample_index=sched:sched_switch_samples -top -nodecount=1 all.pb.gz >top
	got=$(sed -n 's/^Showing nodes.* of \([0-9]*\) total.*/\1/p' top)
	near "$got" "$(counted)" $((2 * $(nproc)))
	samples=$(sed -n 's/^pmu-sample: \([0-9]*\) samples in .*/\1/p' sampled)
	lost=$(sed -n 's/^pmu-sample: .* samples .*, \([0-9]*\) lost.*/\1/p' sampled)
	grep -q "^pmu-topprof: $samples samples, .*, $lost lost," aggregated

	# one follows the other; a CPU that stands still for an interval makes none
	ls profiles | sed 's/\..*//' | sort -n >begins
	awk -v step=$interval 'NR > 1 && ($1 - last < step - 1 || $1 - last > step + 1) {
		print last, "and then", $1; bad = 1 } { last = $1 } END { exit bad }' begins
	at_least "$(wc -l <begins)" $((seconds / interval))

	if test "$seconds" -lt 60; then exit 0; fi	# all of it is warm-up
	flat 1 $((4096 + 65536))	# it keeps up to 64 MiB while its reader stalls
	flat 3 16384
	flat 4 16384
	test "$(awk '$2 > most { most = $2 } END { print most }' memory)" -le $((5 << 18))
END

done_testing
