#!/bin/sh
# What perf records, in every mode it has here: counts as perf report --stats gives them.
# kinds: release
. tests/lib.sh

# The types that perf counts, as NAME COUNT.  Of compressed records, what is in them.
perf_counts() {
	perf report --stats -i "$1" 2>/dev/null |
		awk '/stats:$/ { n++ } n == 1 && $2 == "events:" && $1 != "TOTAL" && $1 !~ /^COMPRESSED/ {
			print $1, $3 }' | sort
}
our_counts() { pmu-stream "$1" | awk '$1 ~ /^[A-Z_0-9]+$/ && NF == 2' | tr -s ' ' | sort; }
perf_events() {
	perf script -i "$1" -G -F event,period 2>/dev/null |
		awk '{ sub(":$", "", $2); n[$2]++; sum[$2] += $1 } END { for (e in n) print e, n[e], sum[e] }' | sort
}
our_events() {
	pmu-stream "$1" | sed -n 's/^event \(.*\): \([0-9]*\) samples, \([0-9]*\) in all/\1 \2 \3/p' |
		grep -v ' 0 0$' | sort
}

mode() {
	check "perf record $*" "
		perf_record -o p.data $* >out || { tail -n 1 perf-log; exit 77; }
		perf_counts p.data >want
		test \"\$(sed -n 's/^SAMPLE //p' want)\" -gt 3 || { echo 'perf has no samples here'; exit 77; }
		our_counts p.data | same want -
		cat p.data | pmu-stream - 2>err | awk '\$1 ~ /^[A-Z_0-9]+\$/ && NF == 2' | tr -s ' ' | sort | same want -
		case \"$*\" in
		*:S*) ;;	# perf makes samples of the values of the other events
		*)	perf_events p.data >want
			our_events p.data | same want - ;;
		esac
		pmu-symbolize p.data 2>err | exits 0 pmu-topprof -o p.pb.gz
		go tool pprof -raw p.pb.gz >raw 2>err
		grep -q '^Mappings' raw
		# as a stream for pipes, perf has the same samples still
		pmu-stream -d p.data >d.data
		perf script -G -i d.data -F tid,time,event >got 2>err
		perf script -G -i p.data -F tid,time,event 2>err | same got -
	"
}

work='-- ten threads 0.2'
mode -e cpu-clock $work
mode -e cpu-clock -g $work
mode -e cpu-clock --call-graph dwarf,1024 $work
mode -e cpu-clock -z $work
mode -e cpu-clock -b $work
mode -e cpu-clock --switch-events $work
mode -e cpu-clock --all-cgroups $work
mode -e cpu-clock -a sleep 0.3
mode -e cpu-clock,page-faults,task-clock -g $work
mode -e "'{cpu-clock,page-faults}:S'" -- ten serial 0.2
mode -e "'{cpu-clock,page-faults}'" -s $work
mode -e cpu-clock --namespaces $work
mode -e sched:sched_switch -R -c 1 $work
mode -e page-faults -c 1 -d $work
mode -e cpu-clock --user-regs=ip,sp --intr-regs=ip,bx $work
mode -e cpu-clock -F 500 --clockid CLOCK_MONOTONIC --timestamp-boundary $work
mode -e cpu-clock --no-buildid --no-inherit -- ten serial 0.2
mode -e cpu-clock --buildid-mmap $work
mode -e cpu-clock --data-page-size --code-page-size -d $work
mode -e dummy,cpu-clock -T -P $work

check 'perf record -o -: by a pipe' <<'END'
	perf record -q -e cpu-clock,page-faults -g -o - -- ten threads 0.2 2>err >p.data
	perf_counts - <p.data >want
	test "$(sed -n "s/^SAMPLE //p" want)" -gt 100
	our_counts p.data | same want -
	cat p.data | pmu-symbolize | exits 0 pmu-topprof -o p.pb.gz
	go tool pprof -top p.pb.gz | grep -q " J$"
END

done_testing
