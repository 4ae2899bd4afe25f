#!/bin/sh
# What compilers gain from pmu-branch: a program is recorded by single steps, built or rewritten
# with what pmu-branch makes of the recording, and stepped again.  Counts are exact, and start-up is
# not in them.  Times are printed by make check-all PARTS=branch (BRANCH=all), but prove nothing.
# kinds: release
: "${RUSTUP_HOME:=$HOME/.rustup}"
export RUSTUP_HOME
. tests/lib.sh

bolt=/usr/lib/llvm-19/bin	# perf2bolt of version 19 does something else under its other name
flags='-O2 -fPIE -pie -fdebug-info-for-profiling -gline-tables-only -Wl,--emit-relocs'
test "$(uname -m)" = x86_64 || why="branch-step steps x86-64 only"

# needs_tools NAME...: skip where one is missing, or nothing can be stepped
needs_tools() {
	test -z "$why" || skip "$why"
	needs_command "$@"
}
only_all() { test "$BRANCH" = all || skip "make check-all PARTS=branch does it"; }

# base LINKER: ./base by clang, all its branches in base.data, its counts, and what it printed
base() {
	flags="$flags -fuse-ld=$1"
	clang++-19 $flags "$TOP/tests/gain.cc" -o base
	branch-step -m -f -o base.data -n base.counts ./base >base.out 2>log
}

# stepped PROGRAM: PROGRAM.counts of a program that prints what base does
stepped() {
	branch-step -m -f -n "$1.counts" "./$1" >"$1.out" 2>log
	same base.out "$1.out"
}

# change NAME PROGRAM: how many percent more of these than base has
change() {
	awk -v name="$1" '$1 == name { n[FILENAME] = $2 }
		END { printf "%.2f\n", 100 * n[ARGV[2]] / n[ARGV[1]] - 100 }' \
		base.counts "$2.counts"
}

# gained PROGRAM: the least that is expected of a profile
gained() {
	cat base.counts "$1.counts"
	at_most "$(change taken "$1")" -15
	at_most "$(change instructions "$1")" 1
}

# cpu_seconds COMMAND...: the median of the CPU time of five runs
cpu_seconds() {
	for i in 1 2 3 4 5; do
		sh -c '"$@" >/dev/null 2>&1; times' - "$@" | tail -n 1 | tr 'ms' '  ' |
			awk '{ printf "%.2f\n", $1 * 60 + $2 + $3 * 60 + $4 }'
	done | sort -n | sed -n 3p
}

# note WHAT ROUNDS PROGRAM: with BRANCH=all, add a line to build/branch-gain.txt
note() {
	test "$BRANCH" = all || return 0
	{
		echo "$1:"
		for name in instructions taken mispredicted indirect-calls; do
			echo "$name $(change $name "$3") %,"
		done
		echo "CPU time $(cpu_seconds ./base "$2") s, then $(cpu_seconds "./$3" "$2") s"
	} | paste -s -d ' ' >>"$TOP/build/branch-gain.txt"
}

# by_llvm FILE: ./fdo, by clang from FILE
by_llvm() {
	pmu-branch -q --to llvm --binary base -o base.llvm "$1"
	llvm-profgen-19 --unsymbolized-profile=base.llvm --binary=base -o base.prof >log 2>&1
	none grep -v 'estimated to optimize better with .* more samples' log
	clang++-19 $flags -fprofile-sample-use=base.prof -o fdo "$TOP/tests/gain.cc"
}

# The code of a program by lld is at another place in the file than in memory.
for linker in lld bfd; do
	# BFD's file offsets are addresses, so it shows less
	check "clang by --to llvm, $linker: 15 % fewer branches taken, instructions as before" <<-END
		test $linker = lld || only_all
		needs_tools clang++-19 llvm-profgen-19 ld.$linker
		base $linker
		by_llvm base.data
		stepped fdo
		gained fdo
		note "clang, linked by $linker" 100000 fdo
	END

	check "BOLT by --to bolt, $linker: the same" <<-END
		only_all
		needs_tools clang++-19 llvm-bolt-19 $bolt/perf2bolt ld.$linker
		base $linker
		pmu-branch -q --to bolt --binary base -o base.bolt base.data
		$bolt/perf2bolt -pa -p base.bolt -o base.fdata base >log 2>&1
		grep -q 'mismatching disassembled function contents: 0 ' log
		grep -q 'involving unknown regions: 0 ' log
		llvm-bolt-19 base -o bolted -data=base.fdata -reorder-blocks=ext-tsp \
			-reorder-functions=hfsort -split-functions -split-all-cold >log 2>&1
		stepped bolted
		gained bolted
		note "BOLT, linked by $linker" 100000 bolted
	END
done

check 'clang, from samples at times while the program runs: the same' <<'END'
	only_all
	needs_tools clang++-19 llvm-profgen-19 ld.lld
	base lld
	branch-step -F 200 -o times.data -n log ./base 100000 >out
	by_llvm times.data
	stepped fdo
	gained fdo
	note 'clang, from samples at times' 100000 fdo
END

check 'from the recording itself, llvm-profgen, perf2bolt and sample_merger get the same' <<'END'
	only_all
	needs_tools clang++-19 llvm-profgen-19 $bolt/perf2bolt sample_merger
	base bfd	# from a PIE by lld, perf2bolt 19 gets nothing
	for form in llvm perfscript bolt autofdo; do
		pmu-branch -q --to $form --binary base -o base.$form base.data
	done
	llvm-profgen-19 --binary=base --unsymbolized-profile=base.llvm -o ours
	for from in perfdata=base.data perfscript=base.perfscript; do
		llvm-profgen-19 --binary=base --$from -o theirs
		same theirs ours
	done
	sample_merger -profiler=perf -binary=base -profile=base.data -output_file=merged base.data
	same merged base.autofdo
	# with its stubs (PLT), which pmu-branch counts as outside
	$bolt/perf2bolt -p base.data -o base.theirs base >log 2>&1
	grep -q 'PERF2BOLT: matched build-id' log
	$bolt/perf2bolt -pa -p base.bolt -o base.ours base >log 2>&1
	for side in theirs ours; do
		grep -vE 'plt|PLT|\[unknown\]' base.$side | sort >$side
	done
	same theirs ours
	test "$(wc -l <ours)" -gt 60
END

# choose_rustc: set $rustc and $profgen to a pair of the same version of LLVM: that of $PMU_PROFGEN,
# else the distribution's
choose_rustc() {
	for named in "$PMU_PROFGEN" ""; do
		for rustc in "$(PATH=/usr/bin:$PATH command -v rustc)" "$(command -v rustc)"; do
			llvm=$($rustc -V -v 2>/dev/null |
				sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
			profgen=${named:-llvm-profgen-$llvm}
			! command -v "$profgen" >/dev/null ||
				! "$profgen" --version | grep -q "LLVM version $llvm\." ||
				return 0
		done
	done
	skip "no llvm-profgen for the LLVM of rustc, $llvm; \$PMU_PROFGEN may name one"
}

check 'Rust by --to llvm: 90 % fewer calls through a trait object' <<'END'
	only_all
	needs_tools rustc
	choose_rustc
	export RUSTC_BOOTSTRAP=1	# for -Z: rustc has no stable option for such profiles
	options='-O -Cdebuginfo=1 -Zdebug-info-for-profiling'
	$rustc $options -o base "$TOP/tests/gain.rs"
	branch-step -m -c 200 -o base.data -n base.counts ./base 10 >base.out
	grep -qx 'indirect-calls 20..' base.counts
	pmu-branch -q --to llvm --binary base -o base.llvm base.data
	$profgen --unsymbolized-profile=base.llvm --binary=base -o base.prof >log 2>&1
	$rustc $options -Zprofile-sample-use="$PWD/base.prof" -o fdo "$TOP/tests/gain.rs"
	branch-step -m -f -n fdo.counts ./fdo 10 >fdo.out
	same base.out fdo.out
	cat base.counts fdo.counts
	at_most "$(change indirect-calls fdo)" -90
	note "Rust, LLVM $llvm" 2000000 fdo
END

done_testing
