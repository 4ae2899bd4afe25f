/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handoff [ROUNDS] - waits for a lock that is handed to a thread which polls for it, if there is
 * one.  The kernel sees nothing of that: only next_holder(), which has the lock after culprit(),
 * wakes waiter().  So of what culprit() causes, a profile knows nothing.
 */
#include "tests/bin/own-lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FREE, TAKEN, CONTENDED };

static _Atomic uint32_t handed_lock;
static atomic_bool polls, is_handed, stop;
static int rounds = 300;

static void futex(int operation, uint32_t value)
{
	syscall(SYS_futex, &handed_lock, operation, value, NULL, NULL, 0);
}

static void lock(void)
{
	uint32_t state = FREE;

	if (atomic_compare_exchange_strong(&handed_lock, &state, TAKEN))
		return;
	while (atomic_exchange(&handed_lock, CONTENDED) != FREE)
		futex(FUTEX_WAIT_PRIVATE, CONTENDED);
}

static void unlock(void)
{
	if (atomic_exchange(&polls, false))
		atomic_store(&is_handed, true);
	else if (atomic_exchange(&handed_lock, FREE) == CONTENDED)
		futex(FUTEX_WAKE_PRIVATE, 1);
}

FUNCTION void next_holder(void)
{
	atomic_store(&polls, true);
	while (!atomic_exchange(&is_handed, false))
		nap(50);
	unlock();
	STAY;
}

static void *keep_asking(void *unused)
{
	while (!atomic_load(&stop)) {
		nap(2500);
		waiter();
	}
	return unused;
}

static void *keep_polling(void *unused)
{
	for (int i = 0; i < rounds; i++)
		next_holder();
	atomic_store(&stop, true);
	return unused;
}

static void *keep_waiting(void *unused)
{
	while (!atomic_load(&stop)) {
		culprit();
		nap(1500);
	}
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const work[])(void *) = { keep_asking, keep_polling, keep_waiting };
	enum { THREADS = sizeof(work) / sizeof(*work) };
	pthread_t thread[THREADS];

	if (argc > 1)
		rounds = (int)atof(argv[1]);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work[i], NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	truth("waited", "handoff", "handed_lock", "waiter", waited);
	truth("caused", "handoff", "handed_lock", "culprit", waited);
	return 0;
}
