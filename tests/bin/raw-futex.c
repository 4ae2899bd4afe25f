/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw-futex [ROUNDS [processes]] - waits of threads made by clone() for a lock of three states, as
 * in Ulrich Drepper's "Futexes Are Tricky": a program without pthreads, and with no function of a
 * C library that waits.  Output and rounds are those of "waits".  With "processes", the threads are
 * processes that share their memory.
 */
#include "tests/bin/own-lock.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FREE, TAKEN, CONTENDED };
enum { WAITERS = 3, STACK = 64 * 1024 };

static _Atomic uint32_t raw_lock;
static atomic_bool stop;
static pid_t thread_ids[WAITERS + 1];
static int rounds = 300;
static bool processes;

static long futex(void *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void lock(void)
{
	uint32_t state = FREE;

	if (atomic_compare_exchange_strong(&raw_lock, &state, TAKEN))
		return;
	while (atomic_exchange(&raw_lock, CONTENDED) != FREE)
		futex(&raw_lock, FUTEX_WAIT_PRIVATE, CONTENDED);
}

static void unlock(void)
{
	if (atomic_exchange(&raw_lock, FREE) == CONTENDED)
		futex(&raw_lock, FUTEX_WAKE_PRIVATE, 1);
}

static int keep_asking(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		waiter();
		nap(200);
	}
	return 0;
}

static int keep_waiting(void *unused)
{
	(void)unused;
	for (int i = 0; i < rounds; i++) {
		culprit();
		nap(1500);
	}
	atomic_store(&stop, true);
	return 0;
}

static void start(int (*work)(void *), pid_t *id)
{
	static const int of_threads = CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_PARENT_SETTID |
		    CLONE_CHILD_CLEARTID | (processes ? 0 : of_threads);
	char *stack = malloc(STACK);

	if (!stack || clone(work, stack + STACK, flags, NULL, id, NULL, id) < 0)
		exit(1);
}

/* The kernel sets *ID to 0 at the end of the thread, and wakes us. */
static void join(pid_t *id)
{
	for (pid_t running; (running = *(volatile pid_t *)id) != 0;)
		futex(id, FUTEX_WAIT, (uint32_t)running);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = (int)atof(argv[1]);
	processes = argc > 2;
	for (int i = 0; i < WAITERS; i++)
		start(keep_asking, &thread_ids[i]);
	start(keep_waiting, &thread_ids[WAITERS]);
	for (int i = 0; i <= WAITERS; i++)
		join(&thread_ids[i]);
	truth("waited", "raw", "raw_lock", "waiter", waited);
	truth("caused", "raw", "raw_lock", "culprit", waited);
	return 0;
}
