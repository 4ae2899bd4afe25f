#!/bin/sh
# perf.data files of ours, read by programs that turn branches into profiles: from our file they
# get what they get from the original.
# kinds: release
. tests/lib.sh

lbr=$TOP/../shared/data/lbr
bolt=/usr/lib/llvm-19/bin	# perf2bolt of version 19 does something else under its other name

# converted FILE: ours.data of it, from the file itself, and piped.data, from its stream
converted() {
	pmu-stream --to perf.data -o ours.data "$1"
	pmu-stream -z0 "$1" | pmu-stream --to perf.data -o piped.data
}

# stepped: a program, and program.data, its branches, by single steps
stepped() {
	test "$(uname -m)" = x86_64 || skip "branch-step steps x86-64 only"
	needs_command g++
	g++ -O2 -fPIE -pie -g1 -Wl,--emit-relocs "$TOP/tests/gain.cc" -o program
	branch-step -m -f -o program.data -n counts ./program >out 2>err
}

# profgen BINARY FILE RESULT
profgen() { llvm-profgen-19 --perfdata="$2" --binary="$1" -o "$3" >log 2>&1; }

# merger BINARY FILE RESULT: a new one, for it would add to an old one
merger() {
	rm -f "$3"
	sample_merger -profiler=perf -binary="$1" -profile="$2" -output_file="$3" "$2" >log 2>&1
}

# perf2bolt BINARY FILE RESULT: its table, too, of how much of the recording fits the binary
perf2bolt() {
	$bolt/perf2bolt -p "$2" -o "$3" "$1" >log 2>&1
	grep 'PERF2BOLT: matched build-id' log
	grep -E 'PERF2BOLT: (parsed|read|traces|out of range|ignored)' log |
		sed 's/[0-9.]* *seconds//' >"$3.log"
}

# equal CLIENT BINARY FILE LINES: CLIENT gets the same from FILE and from ours, and that many lines
equal() {
	"$1" "$2" "$3" want
	at_least "$(wc -l <want)" "$4"
	for file in ours piped; do
		"$1" "$2" $file.data found
		same want found
		test ! -e want.log || same want.log found.log
	done
}

check 'llvm-profgen: the profile of a recording of 2012 is the same' <<'END'
	needs_command llvm-profgen-19
	needs "$lbr/test.lbr" "$lbr/test.binary"
	converted "$lbr/test.lbr"
	equal profgen "$lbr/test.binary" "$lbr/test.lbr" 20
	# what its own header does not say
	perf report --header-only -i ours.data >header
	grep -q "contains samples with branch stack" header
	perf script -F time -i ours.data | tr -d " :" >times
	grep -qx "# time of first sample : $(sed -n 1p times)" header
	grep -qx "# time of last sample : $(sed -n \$p times)" header
END

check 'sample_merger: its ranges, addresses and branches are the same' <<'END'
	needs_command sample_merger
	needs "$lbr/test.lbr" "$lbr/test.binary"
	converted "$lbr/test.lbr"
	equal merger "$lbr/test.binary" "$lbr/test.lbr" 1000
	test "$(wc -c <want)" = 12172
END

check 'perf2bolt finds the build ID, and the same counts; the others too, by single steps' <<'END'
	needs_command $bolt/perf2bolt llvm-profgen-19 sample_merger
	stepped
	converted program.data
	equal perf2bolt program program.data 60
	equal profgen program program.data 20
	equal merger program program.data 60
END

done_testing
