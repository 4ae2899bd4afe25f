#!/bin/sh
# pmu-sample --waits: who stops running, who is woken by whom, and the lock's address in both.
# kinds: release
. tests/lib.sh

case $(uname -m) in
aarch64) first=x0 ;;
*) first=DI ;;
esac

# program: ./program ROUNDS: main wakes the thread "worker" up ROUNDS times by a semaphore, and
# prints its address and the thread's ID; ./program 0: the worker waits for a mutex until main,
# which holds it, has read a line
program() {
	cat >program.c <<-EOF
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <semaphore.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static sem_t sem;
		static long rounds;
		static volatile long tid;
		__attribute__((noinline)) void waits_for_work(void) { sem_wait(&sem); tid += 0; }
		__attribute__((noinline)) void makes_work(void) { sem_post(&sem); tid += 0; }
		__attribute__((noinline)) void waits_for_lock(void)
		{
			pthread_mutex_lock(&lock);
			tid += 0;
			pthread_mutex_unlock(&lock);
		}
		static void *work(void *arg)
		{
			tid = syscall(SYS_gettid);
			for (long i = 0; i < rounds; i++)
				waits_for_work();
			if (!rounds)
				waits_for_lock();
			return arg;
		}
		int main(int argc, char **argv)
		{
			pthread_t thread;
			rounds = atol(argv[1]);
			sem_init(&sem, 0, 0);
			pthread_mutex_lock(&lock);
			pthread_create(&thread, NULL, work, NULL);
			while (!tid)
				usleep(1000);
			printf("%p %ld\n", rounds ? (void *)&sem : (void *)&lock, tid);
			fflush(stdout);
			for (long i = 0; i < rounds; i++) {
				usleep(500);
				makes_work();
			}
			if (!rounds)
				getchar();
			pthread_mutex_unlock(&lock);
			pthread_join(thread, NULL);
			return 0;
		}
	EOF
	once waits-recorded gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -pthread \
		program.c -o program
}

# The samples of a stream, a line each: tid, event, address, who is woken, functions.
lines() {
	perf script -F tid,event,trace,uregs,ip,sym --ns -i "$1" 2>/dev/null |
		awk -v r="$first:" 'function show() { if (who) print who, address, woken, functions }
			/^\t/ { functions = functions ";" $2 }
			/^ *ABI:/ && (at = index($0, r)) {
				address = substr($0, at + length(r))
				sub(/ .*/, "", address) }
			/^ *[0-9]+ +[a-z]/ {
				show()
				sub(/:$/, "", $2)
				who = $1 " " $2
				functions = ""
				address = woken = "-"
				if (match($0, / pid=[0-9]+/))
					woken = substr($0, RSTART + 5, RLENGTH - 5) }
			END { show() }'
}

# wakes, waits: of the worker, at the semaphore
wakes() { awk -v a="$1" -v t="$2" '$2 ~ /sched_waking/ && $3 == a && $4 == t' lines; }
waits() { awk -v a="$1" -v t="$2" '$2 == "context-switches" && $3 == a && $1 == t &&
	/;waits_for_work;/ && /futex_wait/' lines; }

needs_waits() {
	test "$(id -u)" = 0 || skip "not root, who alone sees threads wake others up"
	needs_tracepoints
}

check 'a wait has two samples: where it began, and who ended it, with the same address' <<'END'
	needs_waits
	program
	pmu-sample --waits -e dummy -o s.data -- ./program 400 >says
	read -r address worker <says
	lines s.data >lines
	waits $address $worker >waits
	wakes $address $worker >wakes
	at_least "$(wc -l <wakes)" 20	# the worker may be late, and then sleeps less often
	at_most "$(wc -l <wakes)" 400
	# preempted before it slept
	near "$(wc -l <waits)" "$(wc -l <wakes)" $(($(wc -l <wakes) / 10 + 8))
	none grep -v ';makes_work;main;' wakes
	none grep -v ';waits_for_work;work;' waits
	# the only register
	perf script -F uregs -i s.data 2>/dev/null | none awk '/ABI:/ && NF != 2'
	pmu-stream --check s.data
	# perf counts as many wakeups in such a run
	perf stat -x, -e sched:sched_waking -o stat ./program 400 >says
	awk -F, '/sched_waking/ { print $1 }' stat >counted
	at_least "$(cat counted)" $(($(wc -l <wakes) / 5))
	pmu-stream s.data | awk '/sched_waking:/ { print $3 }' >sampled
	at_most "$(cat sampled)" $((5 * $(cat counted)))
END

check 'a thread that waits before the start has its lock' <<'END'
	needs_waits
	program
	mkfifo go
	./program 0 <go >says &
	target=$!
	exec 3>go
	eventually test -s says
	read -r address worker <says
	eventually grep -q futex /proc/$target/task/$worker/wchan
	# all threads of a busy machine may fill the rings at once
	look() {
		pmu-sample --waits -e dummy -d 100ms -o s.data $1 2>err
		lines s.data | grep "^$worker context-switches $address " | grep ';waits_for_lock;work;'
	}
	for who in "-p $target" "-t $worker" -a; do
		eventually look "$who"
	done
	# it must not be late: that would lose samples
	pmu-sample --waits -e dummy -o s.data -p $target &
	recorder=$!
	if test "$(nice -n -15 nice 2>err)" = -15; then
		eventually eval 'test "$(ps -o ni= -p $recorder)" -eq -15'
		eventually eval 'test "$(ps -o ni= --ppid $recorder)" -eq -15'
	fi
	kill -INT $recorder
	wait $recorder
	test "$(ps -o ni= -p $target)" -gt -15
	# by frame pointers, too
	pmu-sample --waits --call-graph fp -e dummy -d 100ms -o s.data -p $target
	lines s.data | grep "^$worker context-switches $address "
	echo >&3
END

# attached WHO: s.data of ./program, which exists before
attached() {
	rm -f says s.data go
	mkfifo go
	sh -c 'read -r line <go; exec ./program 300' >says &
	target=$!
	case $1 in
	-a) pmu-sample --waits -e dummy -m 64Mi -o s.data -a 2>err & ;;
	*) pmu-sample --waits -e cpu-clock -F 1000 -o s.data $1 $target 2>err & ;;
	esac
	recorder=$!
	eventually test -s s.data
	echo >go
	wait $target
	kill -INT $recorder 2>/dev/null || :
	wait $recorder || :
}

check 'processes, threads, everything: the waits are there, and other events' <<'END'
	needs_waits
	program
	for who in "-p" "-a" "--children -p"; do
		lossless s.data attached "$who"
		cat err
		# nothing is missing: the kernel also counts for the thread that is woken; but in an
		# idle CPU it counts interrupts' wakeups of which it takes no samples
		test "$who" = -a || none grep 'sched_waking' err
		read -r address worker <says
		lines s.data >lines
		at_least "$(wakes $address $worker | wc -l)" 20
		at_least "$(waits $address $worker | wc -l)" 20
	done
	pmu-sample --waits -e dummy -o s.data -- ./program 300 >says
	pmu-symbolize -q s.data | pmu-topprof --frames not-sampled -e sched:sched_waking \
		--to folded >folded
	none grep 'not sampled' folded
END

check 'copies that are unwound later have the address, too' <<'END'
	needs_waits
	program
	pmu-sample --waits --call-graph dwarf -e dummy -o d.data -- ./program 100 >says
	read -r address worker <says
	pmu-unwind --user-regs "$(echo $first | tr DI di)" -o s.data d.data
	lines s.data >lines
	at_least "$(wakes $address $worker | grep -c ';makes_work;main;')" 10
	at_least "$(waits $address $worker | wc -l)" 10
END

check 'without rights, or tracepoints: what to do, and no file' <<'END'
	test "$(id -u)" = 0 || skip "not root, who can take rights away"
	has_tracefs || skip "no tracefs"
	cp "$BIN/pmu-sample" .
	chmod 777 .
	cat >refused <<-EOF
		cd "$PWD"
		status=0
		./pmu-sample --waits -o x.data -- true 2>err || status=\$?
		cat err
		test \$status = 1
		test ! -e x.data
		test "\$(wc -l <err)" = 1
	EOF
	as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	needs_command setpriv
	as_nobody sh -e refused >said
	grep 'as root, mount -o remount,mode=750,gid=65534' said
	# with that
	unshare -m sh -e -c "mount -o remount,mode=750,gid=65534 $tracing
		setpriv --reuid 65534 --regid 65534 --clear-groups sh -e refused
		mount -o remount,mode=700,gid=0 $tracing" >said
	grep 'sched:sched_waking.*\(CAP_PERFMON\|paranoid\)' said
	unshare -m sh -e -c "umount $tracing; umount /sys/kernel/debug 2>/dev/null || :
		sh -e refused" >said
	grep "as root, mount -t tracefs none $tracing" said
END

check 'lost samples: advice to copy less of each stack, and none to sample waits less often' <<'END'
	needs_waits
	program
	for copies in "" "--call-graph dwarf,8192"; do
		rm -f ended
		pmu-sample --waits -e dummy -m 16Ki --buffer 16Ki $copies -- \
			sh -c './program 1000 >says; : >ended' 2>err |
			{ eventually test -e ended; cat >s.data; }
		cat err
		grep "samples were lost.*enlarge the rings" err >said
		none grep 'less often' said
		test -z "$copies" && grep 'copy less of each stack' said || none grep 'copy less' said
	done
END

check 'options that say the same, or the opposite' <<'END'
	needs_waits
	exits 2 pmu-sample --waits --all-user -- true 2>err
	exits 1 pmu-sample --waits -e sched:sched_waking -o x.data -- true 2>err
	grep -q 'leave it out' err
	exits 2 pmu-sample --waits --labels -o x.data -- true 2>err
	grep -qx 'pmu-sample: labels cannot be recorded with --waits: leave out --labels' err
	test ! -e x.data
END

check 'with CAP_PERFMON and CAP_DAC_READ_SEARCH, an ordinary user records waits' <<'END'
	needs_waits
	needs_command setpriv
	chmod 777 .
	capable() {
		caps=+perfmon,+dac_read_search
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps \
			--ambient-caps=$caps "$@"
	}
	capable cat /sys/kernel/tracing/events/sched/sched_waking/id || skip 'capabilities do not last'
	capable pmu-sample -q --waits -e dummy -o s.data -- waits mutex 1 10
	pmu-topprof -q --block -o b.pb.gz s.data
END

done_testing
