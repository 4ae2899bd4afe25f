/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared-lock SECONDS - processes that queue for a lock in shared memory: culprit(), of one, holds
 * it for long, waiter(), of four others, for no time.  Prints their process ids, a line each.
 */
#include "tests/bin/waiting.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAITERS = 4 };

static pthread_mutex_t *lock;

FUNCTION void culprit(void)
{
	pthread_mutex_lock(lock);
	nap(10000);
	pthread_mutex_unlock(lock);
	STAY;
}

FUNCTION void waiter(void)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	STAY;
}

static void start(void (*work)(void), uint64_t end)
{
	pid_t process = fork();

	if (process > 0) {
		printf("%d\n", (int)process);
		fflush(stdout);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (now() < end) {
		work();
		nap(500);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t end = now() + (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 1));
	pthread_mutexattr_t shared;

	lock = mmap(NULL, sizeof(*lock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (lock == MAP_FAILED)
		return 1;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(lock, &shared);
	start(culprit, end);
	for (int i = 0; i < WAITERS; i++)
		start(waiter, end);
	while (wait(NULL) > 0)
		;
	return 0;
}
