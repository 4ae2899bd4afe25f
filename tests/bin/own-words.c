/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own-words KIND [ROUNDS] - four threads queue for a lock that each waits for at a word of its own:
 * KIND is "semaphores" or "conditions".  Of "vectors", all wait at one word, by futex_waitv().
 * They hold it for no time: culprit() has all that they wait for, but the next in the queue ends
 * it.
 */
#include "tests/bin/own-lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

enum { FREE, TAKEN, CONTENDED, WAITERS = 4 };

struct vector { uint64_t value, address; uint32_t flags, reserved; };	/* struct futex_waitv */

static struct place {
	sem_t semaphore;
	pthread_cond_t condition;
	bool is_next;
	struct place *behind;
} *head, *tail;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;	/* of HEAD, TAIL, IS_TAKEN */
static bool is_taken;
static _Atomic uint32_t word;
static _Thread_local struct place own;
static atomic_bool stop;
static bool by_semaphore, by_vector;
static int rounds = 200;

static void wait_at_word(void)
{
	uint32_t state = FREE;

	if (atomic_compare_exchange_strong(&word, &state, TAKEN))
		return;
	while (atomic_exchange(&word, CONTENDED) != FREE) {
		struct vector v = { CONTENDED, (uintptr_t)&word, 2 | FUTEX_PRIVATE_FLAG, 0 };
		syscall(SYS_futex_waitv, &v, 1, 0, NULL, 0);
	}
}

static void lock(void)
{
	if (by_vector) {
		wait_at_word();
		return;
	}
	pthread_mutex_lock(&queue);
	if (is_taken) {
		own.is_next = false;
		own.behind = NULL;
		*(head ? &tail->behind : &head) = &own;
		tail = &own;
		while (!by_semaphore && !own.is_next)
			pthread_cond_wait(&own.condition, &queue);
	}
	bool waits = is_taken && by_semaphore;
	is_taken = true;
	pthread_mutex_unlock(&queue);
	if (waits)
		sem_wait(&own.semaphore);
}

static void unlock(void)
{
	if (by_vector) {
		if (atomic_exchange(&word, FREE) == CONTENDED)
			syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		return;
	}
	pthread_mutex_lock(&queue);
	struct place *next = head;
	is_taken = next;
	if (next) {
		head = next->behind;
		next->is_next = true;
	}
	pthread_mutex_unlock(&queue);
	if (next && by_semaphore)
		sem_post(&next->semaphore);
	else if (next)
		pthread_cond_signal(&next->condition);
}

static void *keep_asking(void *unused)
{
	pthread_cond_init(&own.condition, NULL);
	while (!atomic_load(&stop)) {
		waiter();
		if (by_vector)	/* else culprit() rarely gets the lock */
			nap(1000);
	}
	return unused;
}

static void *keep_holding(void *unused)
{
	pthread_cond_init(&own.condition, NULL);
	for (int i = 0; i < rounds; i++)
		culprit();
	atomic_store(&stop, true);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread[WAITERS + 1];

	if (argc < 2)
		return 2;
	by_semaphore = !strcmp(argv[1], "semaphores");
	by_vector = !strcmp(argv[1], "vectors");
	if (by_vector && syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) && errno == ENOSYS)
		return 77;
	if (argc > 2)
		rounds = (int)atof(argv[2]);
	for (int i = 0; i <= WAITERS; i++)
		if (pthread_create(&thread[i], NULL, i ? keep_asking : keep_holding, NULL))
			return 1;
	for (int i = 0; i <= WAITERS; i++)
		pthread_join(thread[i], NULL);
	truth("waited", argv[1], "lock", "waiter", waited);
	truth("caused", argv[1], "lock", "culprit", waited);
	return 0;
}
