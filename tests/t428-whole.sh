#!/bin/sh
# Whole tools, fuzzed by their records: a short extract of make fuzz, always the same.
# kinds: release
. tests/lib.sh

inputs=1000
case $BIN in *asan*) inputs=300 ;; esac

# fuzzed KIND SEED: nothing is found in that many inputs; what is found can be replayed
fuzzed() {
	needs_command gcc python3
	"$TOP/tests/whole/seeds" seeds fixed
	mkdir found
	fuzz-tools -K "$1" -s "$2" -n $inputs -R seeds/root -k found seeds/streams/* \
		"$TOP"/tests/fuzz/corpus/stream/* "$TOP"/tests/fuzz/corpus/pipe/* >log
	cat log
}

check 'streams with records dropped, doubled, cut, moved and made up' <<'CHECK'
	fuzzed streams 1
	grep -q "inputs, .* 0 findings" log
CHECK

check 'what was kept can be done again' <<'CHECK'
	exits 2 fuzz-tools -r no-such-scenario.x 2>err
	printf 'PERFILE2\020\0\0\0\0\0\0\0' >7.check
	fuzz-tools -r 7.check | grep -q "7.check: nothing is wrong"
CHECK

done_testing
