/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killed WHO - processes that wait for each other, and one of them is killed:
 *
 *	holder	of a mutex, which it never unlocks then: those that wait are killed, too, at last
 *	waiter	one of two that wait for a mutex; the other gets it when its holder unlocks it
 *	writer	of a pipe, whose reader gets to know it
 *
 * Prints how long waiter() waited, in all, and of that the time that culprit() caused.
 */
#include "tests/bin/waiting.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAITERS = 2, WHILE_US = 150000 };

/* Times are 0 before they come. */
static struct shared {
	pthread_mutex_t mutex;
	atomic_uint_fast64_t held, since[WAITERS], until[WAITERS];
} *shared;

static int ends[2];

static void take_mutex(void) { pthread_mutex_lock(&shared->mutex); }
static void give_mutex(void) { pthread_mutex_unlock(&shared->mutex); }

static void take_end(void)
{
	char byte;

	close(ends[1]);
	if (read(ends[0], &byte, 1))
		exit(1);
}

FUNCTION void waiter(int i, void (*take)(void))
{
	shared->since[i] = now();
	take();
	shared->until[i] = now();
	STAY;
}

FUNCTION void culprit(void (*take)(void), unsigned us)
{
	take();
	shared->held = now();
	nap(us);
	give_mutex();
	STAY;
}

static pid_t start(void)
{
	pid_t child = fork();

	if (child < 0)
		exit(1);
	return child;
}

static pid_t start_waiter(int i, void (*take)(void), void (*give)(void))
{
	pid_t child = start();

	if (!child) {
		waiter(i, take);
		give();
		exit(0);
	}
	return child;
}

static void wait_for(const atomic_uint_fast64_t *time)
{
	while (!*time)
		nap(1000);
}

/* Kill CHILD, and waiter I with it; -1: it is not a waiter. */
static void end(pid_t child, int i)
{
	if (i >= 0)
		shared->until[i] = now();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void nothing(void) { }

static void run_for_mutex(bool kill_holder)
{
	pid_t holder = start(), waiters[WAITERS];

	if (!holder) {
		culprit(take_mutex, kill_holder ? 1000 * WHILE_US : 3 * WHILE_US);
		exit(0);
	}
	wait_for(&shared->held);
	for (int i = 0; i < WAITERS; i++)
		waiters[i] = start_waiter(i, take_mutex, give_mutex);
	for (int i = 0; i < WAITERS; i++)
		wait_for(&shared->since[i]);
	nap(WHILE_US);
	if (kill_holder) {
		end(holder, -1);
		nap(WHILE_US);
	}
	end(waiters[0], 0);
	if (kill_holder)
		end(waiters[1], 1);
	else
		waitpid(waiters[1], NULL, 0);
}

static void run_for_pipe(void)
{
	if (pipe(ends))
		exit(1);
	pid_t reader = start_waiter(0, take_end, nothing), writer = start();
	if (!writer) {
		culprit(nothing, 1000 * WHILE_US);
		exit(0);
	}
	close(ends[1]);
	wait_for(&shared->since[0]);
	nap(WHILE_US);
	end(writer, -1);
	waitpid(reader, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *who = argc > 1 ? argv[1] : "holder";
	pthread_mutexattr_t attributes;
	uint64_t waited[WAITERS];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &attributes);
	if (strcmp(who, "writer"))
		run_for_mutex(!strcmp(who, "holder"));
	else
		run_for_pipe();
	for (int i = 0; i < WAITERS; i++)
		waited[i] = shared->until[i] - shared->since[i];
	truth("waited", who, "-", "waiter", waited[0] + waited[1]);
	truth("caused", who, "-", "culprit", strcmp(who, "holder") ? waited[1] : 0);
	return 0;
}
