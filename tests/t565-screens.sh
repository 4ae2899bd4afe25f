#!/bin/sh
# The same numbers on each screen: pmu-top, pmu-flame, pmu-annotate, pmu-diff, go tool pprof and
# perf report agree to the sample.
# kinds: release
. tests/lib.sh

screens() { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP/tests python3 "$TOP/tests/screens.py" "$@"; }

# agree PATTERN RECORDER-OPTION...: record with these options, and compare
agree() {
	pattern=$1
	shift
	needs_command perf
	pmu-sample -q -o s.data "$@" || skip 'cannot sample'
	pmu-symbolize -q s.data | pmu-topprof -q -o p.pb.gz
	screens p.pb.gz s.data "$pattern"
}

check 'a clock: functions of a program, and their callers' <<'END'
	agree '[A-J]|serial_?[A-J]?|main' -e cpu-clock -F 2000 -g -- ten serial 0.3
END

check 'a clock in several threads, at a fixed period' <<'END'
	agree '[A-J]|thread[a-z_]*|main' -e cpu-clock -c 1000000 -g -- ten threads 0.3
END

check 'page faults, by their number' <<'END'
	needs_command cc
	cat >faults.c <<-'EOF'
	#include <sys/mman.h>
	#define TOUCH(n) __attribute__((noinline, noclone)) void touch##n(volatile char *p, long pages) { \
		for (long i = 0; i < pages; i++) p[i * 4096] = n; }
	TOUCH(1) TOUCH(2) TOUCH(3)
	int main(void)
	{
		for (int i = 0; i < 100; i++) {
			char *p = mmap(0, 100 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(p, 100 * 4096, MADV_NOHUGEPAGE);
			touch1(p, 50);
			touch2(p + 50 * 4096, 30);
			touch3(p + 80 * 4096, 20);
			munmap(p, 100 * 4096);
		}
		return 0;
	}
	EOF
	cc -O1 -g -fno-omit-frame-pointer -o faults faults.c
	agree 'touch[123]|main' -e page-faults -c 7 -g -- ./faults
END

done_testing
