# What tests of pmu-sample --labels share.  They source this after tests/lib.sh.

# Why labels cannot be had here, or nothing: bpf(2) may be refused in a container.
why_not() {
	pmu-sample --labels -d 1ms -p $$ -o /dev/null 2>&1 |
		sed -n 's/.*cannot record labels: //p'
}
why=$(why_not)
needs_bpf() { test -z "$why" || skip "$why"; }

# go_program NAME [OPTION]: make the program NAME in $scratch
go_program() {
	needs_command go
	test -e "$scratch/$1" || once "labels-$1" built ${2:+"$2"} "$scratch/$1"
}

# built [OPTION...] FILE: make FILE of tests/labels.go
built() {
	for program; do :; done
	GO111MODULE=off go build -o "$program" ${2:+"$1"} "$TOP/tests/labels.go"
}

# judged WHAT LEAST MOST: the number in the file "judged" lies so
judged() {
	value=$(tr ' ' '\n' <judged | sed -n "s/^$1=//p")
	at_least "$value" "$2" && at_most "$value" "${3:-$value}" || { cat judged; return 1; }
}

# judge PROGRAM STREAM: no label is wrong, and nine samples of ten have theirs
judge() {
	python3 "$TOP/tests/labels-judge.py" "$1" "$2" >judged
	cat judged
	judged wrong 0 0
	right=$(tr ' ' '\n' <judged | sed -n 's/^right=//p')
	none=$(tr ' ' '\n' <judged | sed -n 's/^none=//p')
	at_least "$right" 30
	at_most $((none * 10)) $((right + none))
}

# record STREAM PROGRAM MS [ARGUMENT...]: sample PROGRAM, with $with, while it gets MS of CPU time
record() {
	stream=$1 program=$2 ms=$3
	shift 3
	"$program" 100000 "$@" & pid=$!
	eventually has_run $pid 1
	record_process "$stream" $pid "$ms"
}

# record_process STREAM PID MS: the same with a process that runs; it is ended
record_process() {
	stream=$1 pid=$2 ms=$3
	rm -f "$stream" failed
	{ pmu-sample -v --labels -e cpu-clock -F 997 $with -p $pid -o "$stream" 2>log ||
		echo $? >failed; } & recorder=$!
	begun() { test -s "$stream" || test -s failed; }
	eventually begun
	eventually has_run $pid $(($(cpu_ms $pid) + ms))
	kill $pid
	wait $recorder
	test ! -s failed || { cat log; return 1; }
}
with=

# bounded PROGRAM STREAM: PROGRAM has hostile labels, and the stream is good all the same
bounded() {
	python3 "$TOP/tests/labels-judge.py" "$1" "$2" >judged
	judged joined 30 1000000
	judged alone 0 0
	samples "$2" event >perf-reads
	pmu-stream --check "$2"
}
