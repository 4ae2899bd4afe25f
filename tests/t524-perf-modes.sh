#!/bin/sh
# What perf records, in every mode it has here: counts as perf report --stats gives them.
# kinds: release
. tests/lib.sh

# perf_counts STATS: the types that perf counts, as NAME COUNT.  Of compressed records, what is
# in them.
perf_counts() {
	awk '
		/stats:$/ { n++ }
		n == 1 && $2 == "events:" && $1 != "TOTAL" && $1 !~ /^COMPRESSED/ { print $1, $3 }
	' "$1" | sort
}
our_counts() {
	pmu-stream "$1" 2>err | awk '$1 ~ /^[A-Z_0-9]+$/ && NF == 2 { print $1, $2 }' | sort
}
# perf_events SCRIPT: number and sum of periods of each event, from thread, time, period, event
perf_events() {
	awk '{ sub(":$", "", $4); n[$4]++; sum[$4] += $3 }
		END { for (e in n) printf "%s %d %.0f\n", e, n[e], sum[e] }' "$1" | sort
}
our_events() {
	pmu-stream "$1" | grep -v ' 0 samples' |
		sed -n 's/^event \(.*\): \([0-9]*\) samples, \([0-9]*\) in all/\1 \2 \3/p' | sort
}

# has_samples COUNTS: more than a few
has_samples() { test "$(sed -n 's/^SAMPLE //p' "$1")" -gt 3 || skip "perf has no samples here"; }

# Each mode once, several in a recording where they do not hinder each other
cat >"$scratch/modes" <<'END'
-e cpu-clock --call-graph dwarf,1024
-e cpu-clock -z --buildid-mmap
-e cpu-clock -b
-e cpu-clock --switch-events --all-cgroups --namespaces
-e cpu-clock -a
-e cpu-clock,page-faults,task-clock -g
-e {cpu-clock,page-faults}:S
-e {cpu-clock,page-faults} -s
-e sched:sched_switch -R -c 1
-e page-faults -c 1 -d
-e cpu-clock --user-regs=ip,sp --intr-regs=ip,bx --data-page-size --code-page-size -d
-e cpu-clock -F 500 --clockid CLOCK_MONOTONIC --timestamp-boundary --no-buildid --no-inherit
-e dummy,cpu-clock -T -P
END
test -z "$ALL" || cat >>"$scratch/modes" <<'END'
-e cpu-clock
-e cpu-clock -g
-e cpu-clock -z
-e cpu-clock --switch-events
-e cpu-clock --all-cgroups
-e cpu-clock --namespaces
-e cpu-clock --user-regs=ip,sp --intr-regs=ip,bx
-e cpu-clock -F 500 --clockid CLOCK_MONOTONIC --timestamp-boundary
-e cpu-clock --no-buildid --no-inherit
-e cpu-clock --buildid-mmap
-e cpu-clock --data-page-size --code-page-size -d
END

while read -r options; do
	case $options in
	*:S* | *--no-inherit*) work="ten serial 0.05" ;;	# of one thread
	*) work="ten threads 0.05" ;;
	esac
	check "perf record $options" <<-'END'
		case $options in
		*" -b"*)	# without hardware for it, perf_record would try in vain
			perf record -q -o p.data $options true 2>err || skip "$(tail -n 1 err)" ;;
		esac
		perf_record -o p.data $options -- $work || skip "$(tail -n 1 perf-log)"
		perf report --stats -i p.data >perf-stats 2>&1
		perf_counts perf-stats >want
		has_samples want
		our_counts p.data | same want -
		cat p.data | our_counts - | same want -
		perf script -G -i p.data -F tid,time,event,period >script 2>err
		case $options in
		*:S*) ;;	# perf makes samples of the values of the other events
		*)	perf_events script >want
			our_events p.data | same want - ;;
		esac
		pmu-symbolize p.data 2>err | exits 0 pmu-topprof -o p.pb.gz
		test -z "$ALL" || go tool pprof -raw p.pb.gz 2>err | grep -q "^Mappings"
		# as a stream for pipes, perf has the same samples still
		pmu-stream --decompress p.data >d.data
		perf script -G -i d.data -F tid,time,event,period 2>err | same script -
	END
done <"$scratch/modes"

check 'perf record -o -: by a pipe' <<'END'
	for with in "" "" "" --buildid-mmap --buildid-mmap; do	# as in perf_record
		perf record -q $with -e cpu-clock,page-faults -g -o - -- ten threads 0.2 2>err >p.data ||
			continue
		perf report --stats -i - <p.data >perf-stats 2>&1
		perf_counts perf-stats >want
		test ! -s want || break
	done
	test "$(sed -n "s/^SAMPLE //p" want)" -gt 100
	our_counts p.data | same want -
	cat p.data | pmu-symbolize | exits 0 pmu-topprof -o p.pb.gz
	go tool pprof -top p.pb.gz | grep -q " J$"
END

done_testing
