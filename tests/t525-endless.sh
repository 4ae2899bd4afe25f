#!/bin/sh
# Streams without end: memory does not grow with them.  ENDLESS=1: 10 GB through each filter.
# kinds: release
. tests/lib.sh

# Samples of few processes
samples=800000	# 64 MB; 3 bytes kept for each would be seen
test -z "$ENDLESS" || samples=120000000

# The peak memory in KiB of COMMAND, given so many samples by a pipe
peak() {
	n=$1
	shift
	cost sh -c "make-stream $n 20000 4 | $* >/dev/null" | cut -d ' ' -f 2
}

for command in 'pmu-stream' 'pmu-stream -d' 'pmu-stream --cat' 'pmu-stream -z' \
	'pmu-symbolize -q' 'pmu-topprof'; do
	check "$command: as much memory for ten times the stream" <<-'END'
		little=$(peak $((samples / 10)) $command)
		much=$(peak $samples $command)
		echo "$little KiB, $much KiB"
		test $much -le $((little + 2048))
		# a sanitizer has its own
		case $BIN in */release/*|*/clang/*) ;; *) exit 0 ;; esac
		most=32768
		test "$command" != pmu-stream || most=16384
		at_most $much $((most - 1))
	END
done

# The same of processes: make-churn's, each of which forks, runs a program, maps and ends.
processes=40000	# 44 MB; 100 bytes kept for each would be seen
test -z "$ENDLESS" || processes=10000000

churn_peak() {
	n=$1
	shift
	cost sh -c "make-churn $n | $* >/dev/null" | cut -d ' ' -f 2
}

for command in 'pmu-symbolize -q' 'pmu-topprof --label none --max-stacks 1000' \
	'pmu-topprof --interval 1s --output-template p%S.pb.gz' 'pmu-stream --comm program-1' \
	'pmu-stream --cat'; do
	check "$command: as much memory for ten times the processes" <<-'END'
		little=$(churn_peak $((processes / 10)) $command)
		much=$(churn_peak $processes $command)
		echo "$little KiB, $much KiB"
		test $much -le $((little + 2048))
	END
done

check 'what forks copy, and mappings in descending order, cost what they say' <<'END'
	compose forks.data <<-EOF
		import sys
		MAPPINGS = FORKS = 10000
		def fork(kind, pid):
		    return record(kind, struct.pack("<IIIIQ", pid, 5, pid, 5, 0))
		parts = [record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0))]
		for i in range(MAPPINGS):
		    parts.append(record(1, mmap(5, 0x7f0000000000 - i * 0x2000, 0x1000, b"/x")))
		for i in range(FORKS):
		    parts += [fork(7, 100 + i), record(1, mmap(100 + i, 0x10000, 0x1000, b"/y"))]
		parts.append(record(9, struct.pack("<QIIQQ", 0x7f0000000000, 99 + FORKS, 1, 1, 1)))
		out = pipe(*parts)
	EOF
	for command in 'pmu-symbolize -q' pmu-topprof; do
		# unchanged, it took 4 GB and 3 s
		cost $command forks.data >used
		cat used
		case $BIN in */release/*|*/clang/*) ;; *) exit 0 ;; esac
		at_most "$(cut -d ' ' -f 1 used)" 1
		at_most "$(cut -d ' ' -f 2 used)" 65536
	done
	pmu-topprof --folded forks.data >got
	echo '[x] 1' | same - got
END

done_testing
