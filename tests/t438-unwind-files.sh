#!/bin/sh
# pmu-unwind and the files of programs: which ones it takes, and where it finds them.
# kinds: release
. tests/lib.sh

# folded FILE...: what pmu-unwind and pmu-symbolize make of it, in "stacks"; their messages in err
folded() {
	pmu-unwind "$@" 2>err >u.data
	pmu-symbolize u.data 2>>err.names | pmu-topprof --to folded >stacks
	cat err stacks
}

# share FILE PATTERN: percent of the weight of the stacks in FILE that match
share() { awk -v p="$2" '{ n += $NF } $0 ~ p { m += $NF } END { print int(100 * m / n) }' "$1"; }

cat >"$scratch/frames.c" <<"C"
static volatile unsigned long sum;
__attribute__((noinline)) void leaf(volatile char *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i + p[0];
}
__attribute__((noinline)) void mid(unsigned n) { char pad[PAD] = { 1 }; leaf(pad, n); sum++; }
__attribute__((noinline)) void top(unsigned n)
{
	volatile char pad[4 * PAD];

	pad[0] = 1;
	mid(n);
	sum += pad[0];
}
int main(void)
{
	for (int i = 0; i < 50; i++)
		top(4000000);
	return 0;
}
C

# frames PAD OUTPUT: the program without build ID, whose frames have PAD bytes and more
frames() {
	needs_command gcc
	gcc -O1 -g -fomit-frame-pointer -fno-stack-protector -Wl,--build-id=none -DPAD=$1 \
		"$scratch/frames.c" -o "$2"
}

check 'a program that was built anew since the recording is refused, with the reason' <<'END'
	frames 64 program
	frames 1024 later
	pmu-sample -q -e cpu-clock:u -F 500 --call-graph dwarf -o s.data -- ./program
	folded s.data
	none cat err
	at_least "$(share stacks "main;top;mid;leaf ")" 90
	cat later >program	# the same inode
	touch -d "1 hour" program
	folded s.data
	test "$(cat err)" = \
		"pmu-unwind: stacks may end in '$PWD/program': it was changed after the recording"
	none grep -vE "^program;[^;]* [0-9]+$" stacks	# no caller, so none is wrong
	# the user says what it is
	pmu-unwind --sysroot / s.data 2>err >u.data
	none cat err
END

check 'the same of a recording without a clock; a file that is older is taken' <<'END'
	needs_command perf
	frames 64 program
	perf_record -e cpu-clock:u -F 500 --call-graph dwarf -o s.data -- ./program
	folded s.data
	none cat err
	at_least "$(share stacks "main;top;mid;leaf ")" 90
	cp program copy
	cat copy >program
	touch -d "1 hour" program
	folded s.data
	grep -q "stacks may end in .*program': it was changed after the recording$" err
	touch -d "1 hour ago" program
	folded s.data
	none cat err
	at_least "$(share stacks "main;top;mid;leaf ")" 90
END

done_testing
