#!/bin/sh
# The short ways (caches, decoders of a part, rules that skip) give what the long way gives.
# kinds: release
. tests/lib.sh

long=$TOP/build/long/bin

# live NAME OPTION... -- COMMAND: record the stream NAME here
live() {
	name=$1
	shift
	pmu-sample -q -e cpu-clock -o "$name" "$@"
}

check 'profiles of recordings, live streams and damaged ones, with all pairs of options' <<'END'
	test -x "$long/pmu-topprof" && test ! "$long/pmu-topprof" -ot "$BIN/pmu-topprof" ||
		skip "not built, or older: make short-ways"
	needs_command python3
	cat >inlined.cc <<-'CC'
		#include <map>
		#include <string>
		int main()
		{
			std::map<std::string, long> m;
			for (long i = 0; i < 200000; i++)
				m[std::to_string(i * 7919 % 5000)] += i;
			return m.size() == 0;
		}
	CC
	streams=
	if test -z "$unsampled"; then
		live waits.data --off-cpu -g -F 2000 -- ten threads 0.1
		live shells.data -g -F 2000 -- sh -c 'i=0; while test $i -lt 40; do true & i=$((i + 1));
			done; ten serial 0.05; wait'
		streams="waits.data shells.data"
		if g++ -O2 -g -o inlined inlined.cc; then
			live dumps.data --call-graph dwarf,4096 -F 1000 -- ./inlined
			streams="$streams dumps.data"
		fi
	fi
	for file in "$SHARED"/*.data "$SHARED"/simpleperf/*.data "$SHARED"/lbr/test.lbr; do
		test ! -f "$file" || streams="$streams $file"
	done
	test -n "$streams" || skip "no streams"
	PYTHONDONTWRITEBYTECODE=1 python3 "$TOP/tests/short-ways.py" "$BIN" "$long" \
		${MUTANTS:-1} ${SECONDS_OF_CPU:-15} $streams
END

done_testing
