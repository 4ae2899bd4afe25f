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
	# no caller of them, so none is wrong; the few samples in libc may have callers, by its own rules
	at_least "$(share stacks "^program;leaf [0-9]+$")" 90
	none grep -E ";.*;(main|top|mid|leaf)[; ]" stacks
	# the user says what it is; its tables do not fit the stacks
	pmu-unwind --sysroot / s.data 2>err >u.data
	none grep "was changed" err
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

# A program that runs /bin/short, whose work takes a few ms, ROUNDS times, each by a process of its
# own.  With "wait" it stays until its standard input ends.
cat >"$scratch/runner.c" <<"C"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char byte;

	if (argc > 2 && read(0, &byte, 1) < 0)
		return 1;
	for (int i = 0; i < atoi(argv[1]); i++) {
		if (fork() == 0) {
			execl("/bin/short", "short", (char *)0);
			_exit(1);
		}
		wait(NULL);
	}
	if (argc > 2 && write(1, "done", 4) == 4)
		while (read(0, &byte, 1) > 0)
			;
	return 0;
}
C
cat >"$scratch/short.c" <<"C"
#include <time.h>
#ifndef MS
#define MS 12	/* of CPU time: how many rounds that are depends on the CPU */
#endif
static volatile long sum;
static int has_time(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 && t.tv_sec == 0 &&
	       t.tv_nsec < MS * 1000000L;
}
__attribute__((noinline)) void leaf(void)
{
	while (has_time())
		for (int i = 0; i < 100000; i++)
			sum += i;
}
__attribute__((noinline)) void mid(void) { leaf(); sum++; }
int main(void) { mid(); return 0; }
C

# container: "root", a directory with these programs, and enter.sh, which runs its arguments in a
# mount namespace in which that is the root directory
container() {
	needs_command gcc unshare chroot
	needs_root
	unshare -m true || skip "unshare -m: not permitted"
	mkdir -p root/bin
	gcc -static -O1 -Wl,--build-id "$scratch/runner.c" -o root/bin/runner
	gcc -static -O1 -fomit-frame-pointer -Wl,--build-id "$scratch/short.c" -o root/bin/short
	printf "mount -t tmpfs none mnt && cp -r root/. mnt/ && exec chroot mnt \"\$@\"\n" >enter.sh
	mkdir mnt
}

# start_runner: $runner, in its container; it starts its processes after a byte on descriptor 3,
# says "done" in the file "out", and stays until that descriptor is closed
start_runner() {
	mkfifo in
	unshare -m sh enter.sh /bin/runner 20 wait <in >out &
	runner=$!
	exec 3>in
	eventually grep -q ^runner "/proc/$runner/comm"
}

# run_recorded: let the runner do its work, and end the recording of s.data by $sampler
run_recorded() {
	eventually test -s s.data
	printf g >&3
	eventually grep -q done out
	kill -INT $sampler
	wait $sampler
}

check 'short processes in a container have callers and names, by the root of their parent' <<'END'
	container
	start_runner
	pmu-sample -q --unwind -e cpu-clock:u -F 999 --children -o s.data -p $runner &
	sampler=$!
	run_recorded
	pmu-symbolize s.data 2>err | pmu-topprof --to folded >stacks
	exec 3>&-
	wait
	cat err stacks
	grep "^short" stacks >short
	at_least "$(share short ";main;mid;leaf ")" 80
END

# record_runner: records /bin/runner in a container, which runs /bin/short 20 times, to s.data.  The
# runner still runs then, as process $runner, until descriptor 3 is closed.
record_runner() {
	mkfifo in
	unshare -m sh enter.sh /bin/runner 20 wait <in >out &
	runner=$!
	exec 3>in
	is_there() { grep -q ^runner "/proc/$1/comm"; }
	eventually is_there $runner
	pmu-sample -q --call-graph dwarf -e cpu-clock:u -F 999 --children -o s.data -p $runner &
	sampler=$!
	eventually test -s s.data
	printf g >&3
	eventually grep -q done out
	kill -INT $sampler
	wait $sampler
}

check 'the same after the recording, as long as a process of the namespace lives' <<'END'
	container
	record_runner
	folded s.data
	grep "^short" stacks >short
	at_least "$(share short ";main;mid;leaf ")" 80
	# another program has that path by now
	gcc -static -O2 -Wl,--build-id "$scratch/frames.c" -DPAD=64 -o "/proc/$runner/root/bin/other"
	mv "/proc/$runner/root/bin/other" "/proc/$runner/root/bin/short"
	folded s.data
	grep "another build than the one recorded" err
	none grep "mid;leaf" stacks
	exec 3>&-
	wait
END

check 'a program without a build ID is found there by its device and inode' <<'END'
	container
	gcc -static -O1 -fomit-frame-pointer -Wl,--build-id=none "$scratch/short.c" -o root/bin/short
	record_runner
	folded s.data
	grep "^short" stacks >short
	at_least "$(share short ";main;mid;leaf ")" 80
	cp "/proc/$runner/root/bin/short" "/proc/$runner/root/bin/copy"
	mv "/proc/$runner/root/bin/copy" "/proc/$runner/root/bin/short"
	folded s.data
	none grep "mid;leaf" stacks
	exec 3>&-
	wait
END

# short_runs OPTION...: of 8 recordings of a program of 40 ms in a mount namespace of its own, how
# many have 80 % of its samples in stacks that match $stack
short_runs() {
	gcc -static -O1 -DMS=40 -fomit-frame-pointer -Wl,--build-id \
		"$scratch/short.c" -o root/bin/short
	for i in 1 2 3 4 5 6 7 8; do
		pmu-sample -q "$@" -F 999 -- unshare -m sh enter.sh /bin/short |
			pmu-symbolize 2>>err | pmu-topprof --to folded | grep "^short" >stacks
		share stacks "$stack"
	done >shares
	cat err shares >&2
	awk "\$1 >= 80 { n++ } END { print n + 0 }" shares
}

# most COMMAND...: prints at least 6, of 8.  On a busy machine a recorder may get no CPU for the
# 40 ms of a program, again and again; not in three rounds.
most() {
	for round in 1 2 3; do
		"$@" >number
		! at_least "$(cat number)" 6 || return 0
	done
	return 1
}

check 'a command of 40 ms has callers and names, though its files disappear with it' <<'END'
	container
	# after a pause, because the rings of an idle target are read less often
	sed -i "s/exec/sleep 0.4; exec/" enter.sh
	stack=";main;mid;leaf "
	most short_runs --unwind -e cpu-clock:u
END

# started OPTION...: a shell that is there before the recording starts 8 programs of 40 ms, each in
# a mount namespace that ends with it.  How many have callers and names?
started() {
	for i in 1 2 3 4 5 6 7 8; do
		echo "int id = $i;" | cat "$scratch/short.c" - >short$i.c
		gcc -static -O1 -DMS=40 -fomit-frame-pointer -Wl,--build-id short$i.c \
			-o root/bin/short$i
	done
	cat >start.sh <<-'EOF'
		until test -e go; do sleep 0.02; done
		for i in 1 2 3 4 5 6 7 8; do unshare -m sh enter.sh /bin/short$i; done
		touch done
	EOF
	rm -f go done
	sh start.sh &
	pmu-sample -q --unwind -e cpu-clock:u -F 999 "$@" -p $! 2>err |
		pmu-symbolize 2>>err | tee s.data | pmu-topprof --to folded >all &
	eventually test -s s.data
	touch go
	wait
	test -e done
	for i in 1 2 3 4 5 6 7 8; do
		grep "^short$i;" all >stacks || :
		share stacks "$stack"
	done >shares
	cat err shares >&2
	awk "\$1 >= 80 { n++ } END { print n + 0 }" shares
}

check 'a process that was there before starts such programs: they have callers and names' <<'END'
	container
	stack=";main;mid;leaf "
	most started --children
END

check 'its starts of programs are watched, if a reader may open files then' <<'END'
	needs_command strace
	strace -o calls true 2>why || skip "strace cannot trace here"
	sleep 100 & target=$!
	traced() {
		strace -v -o calls -e trace=perf_event_open \
			pmu-sample -q -e cpu-clock --children -p $target -d 0.1 "$@"
	}
	watched() { grep -c "comm_exec=1.*wakeup_watermark=1[,}].*, $target, [0-9]*, -1" calls || :; }
	traced | cat >s.data
	at_least "$(watched)" 1
	traced -o s.data
	test "$(watched)" = 0
	kill $target
END

check 'such a command has names while pmu-symbolize reads those of the kernel' <<'END'
	container
	stack=";leaf "
	most short_runs -g -e cpu-clock
END

done_testing
