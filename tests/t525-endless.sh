#!/bin/sh
# Streams without end: memory does not grow with them.  ENDLESS=1: 10 GB through each filter.
# kinds: release
. tests/lib.sh

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

done_testing
