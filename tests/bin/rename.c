/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rename PAUSE - a process whose threads live for a moment, and rename themselves all the time.
 *
 * Four threads at a time run for 3 ms of CPU time each, with hundreds of names, some with
 * characters that are not to be printed; then the process sleeps for PAUSE ms.  It ends after
 * SIGTERM, or with the process that started it.
 */
#include "tests/bin/stop.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, NAMES = 200, CPU_NS = 3000000 };

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *live(void *number)
{
	for (unsigned i = 0; i < NAMES || cpu_time() < CPU_NS; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%c%08x%lx", (char)(11 + i % 240),
			 (unsigned)(i * 2654435761U), (unsigned long)(uintptr_t)number);
		prctl(PR_SET_NAME, name);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double pause = argc > 1 ? strtod(argv[1], NULL) : 100;
	pid_t starter = getppid();
	uintptr_t number = 0;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	stop_at(SIGTERM);
	while (!stopped && getppid() == starter) {
		pthread_t thread[THREADS];
		unsigned started = 0;
		while (started < THREADS &&
		       pthread_create(&thread[started], NULL, live, (void *)number++) == 0)
			started++;
		while (started > 0)
			pthread_join(thread[--started], NULL);
		usleep((useconds_t)(pause * 1000));
	}
	return 0;
}
