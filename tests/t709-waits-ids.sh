#!/bin/sh
# Who keeps whom waiting, where ids mean something else, or stacks say less.
# kinds: release
. tests/lib.sh
. tests/waiting.sh

check 'inside a PID namespace, threads are known from their first wake on; a line says so' <<'END'
	needs_waits
	needs_command unshare
	unshare -pf --mount-proc true 2>why || skip 'no namespaces here'
	unshare -pf --mount-proc pmu-sample -q --waits -e dummy -m 8Mi -o s.data -- \
		waits mutex 50 2>truth
	pmu-topprof --block -o block s.data 2>said
	pmu-topprof -q --mutex -o mutex s.data
	cat said
	grep 'recorded in a PID namespace, .* of [0-9]* wakes are of unknown threads' said
	waits=$(ns_with block -focus='^waiter$' -tagfocus=ended=thread -ignore=scheduler)
	at_least "$waits" $(($(ns_with block -focus='^waiter$' -ignore=scheduler) * 8 / 10))
	at_least "$(ns_with mutex -focus='^culprit$' -ignore=scheduler)" $((waits * 80 / 100))
	pmu-sample -q --waits -e dummy -o s.data -- waits mutex 5 2>truth
	pmu-topprof --block -o block s.data 2>said
	none grep namespace said
END

check 'processes that share their memory have the same locks: clone() with CLONE_VM only' <<'END'
	needs_waits
	right memory -- raw-futex 50 processes
END

check 'the parent of vfork() waits for the child' <<'END'
	needs_waits
	cat >vforks.c <<-'C'
		#include <unistd.h>
		#include <sys/wait.h>
		int main(void)
		{
			for (int i = 0; i < 20; i++) {
				if (vfork() == 0) {
					usleep(10000);
					_exit(0);
				}
				wait(NULL);
			}
			return 0;
		}
	C
	gcc -O1 vforks.c -o vforks
	pmu-sample -q --waits -e dummy -o s.data -- ./vforks
	pmu-topprof -q --block -o block s.data
	at_least "$(ns_with block -focus='vfork' -ignore=scheduler)" 190000000
END

check '--waits-min: short waits are at a frame of their own, in each profile' <<'END'
	needs_waits
	pmu-sample -q --waits --waits-min 2ms -e dummy -m 8Mi -o s.data -- convoy 1 2>truth
	short=
	for how in block mutex mutex=causes; do
		pmu-topprof -q --$how --to folded -o folded s.data
		# in causes, they are also where others waited
		is=$(awk '/;\[short waits\] / && !/\[waits for\]/ { n += $NF }
			END { printf "%d", n }' folded)
		test "${short:=$is}" = "$is"
	done
	at_least "$short" 10000000
END

check 'a thread that works between waits for the same does not wait meanwhile' <<'END'
	needs_waits
	cat >again.c <<-'C'
		#include <pthread.h>
		#include <time.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static long ms(clockid_t clock)
		{
			struct timespec t;
			clock_gettime(clock, &t);
			return t.tv_sec * 1000 + t.tv_nsec / 1000000;
		}
		__attribute__((noinline)) static void work(void)
		{
			for (long end = ms(CLOCK_THREAD_CPUTIME_ID) + 3;
			     ms(CLOCK_THREAD_CPUTIME_ID) < end;)
				;
		}
		__attribute__((noinline)) static void try(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_REALTIME, &t);
			t.tv_nsec += 2000000;
			if (t.tv_nsec >= 1000000000)
				t.tv_nsec -= 1000000000, t.tv_sec++;
			pthread_mutex_timedlock(&lock, &t);
		}
		static void *poll(void *unused)
		{
			for (int i = 0; i < 100; i++) {
				try();
				work();
			}
			return unused;
		}
		int main(void)
		{
			pthread_t thread;
			pthread_mutex_lock(&lock);
			pthread_create(&thread, NULL, poll, NULL);
			return pthread_join(thread, NULL);
		}
	C
	gcc -O1 -pthread again.c -o again
	pmu-sample -q --waits -e dummy -o s.data -- ./again
	pmu-topprof -q --block -o block s.data
	tries=$(go tool pprof -sample_index=contentions -top -focus='^try$' block 2>err |
		sed -n 's/^Showing .* accounting for \([0-9]*\),.*/\1/p')
	# each by itself
	at_least "$tries" 95
END

done_testing
