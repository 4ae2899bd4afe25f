/* SPDX-License-Identifier: Apache-2.0 */
/*
 * churn [SECONDS] - a process that is hard to attach to: 1,000 short threads start and
 * end per second, and every 5 ms a lasting thread starts, up to 50 of them.
 *
 * A lasting thread prints "+" and waits.  After SIGUSR1, each lasting thread works for 10 ms
 * of CPU time, and prints its thread ID and its whole CPU time in us; then the process ends.
 * Without a signal, the process ends after SECONDS, whatever its threads do.
 */
#include "tests/bin/stop.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STAYS = 50, STEP_MS = 5, WORK_US = 10000 };

static volatile unsigned sink;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static long cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void *come_and_go(void *unused)
{
	for (unsigned i = 0; i < 1000; i++)
		sink += i;
	return unused;
}

static void *stay(void *unused)
{
	prctl(PR_SET_NAME, "stays");
	puts("+");
	fflush(stdout);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	for (long end = cpu_us() + WORK_US; cpu_us() < end; )
		for (int i = 0; i < 100; i++)	/* reading the clock takes little */
			come_and_go(NULL);
	printf("%ld %ld\n", syscall(SYS_gettid), cpu_us());
	return unused;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1e6;
	struct timespec pause = { .tv_nsec = 1000000 };
	pthread_t thread, stays[STAYS];
	int staying = 0;

	stop_at(SIGUSR1);
	pthread_mutex_lock(&gate);
	for (int ms = 0; ms < seconds * 1000 && !stopped; ms++) {
		if (ms % STEP_MS == 0 && staying < STAYS &&
		    pthread_create(&stays[staying], NULL, stay, NULL) == 0)
			staying++;
		if (pthread_create(&thread, NULL, come_and_go, NULL) == 0)
			pthread_detach(thread);
		nanosleep(&pause, NULL);
	}
	if (!stopped)
		return 0;
	pthread_mutex_unlock(&gate);
	while (staying > 0)
		pthread_join(stays[--staying], NULL);
	return 0;
}
