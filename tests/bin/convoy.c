/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convoy SECONDS [REQUESTERS] - threads that queue for two mutexes, and know for whom.
 *
 * Two slow functions hold "big", one holds "small", and requesters (4) take both for next to no
 * time.  So nearly all waiting is due to the slow functions, while nearly every wait is ended by
 * a requester that was next in the queue.
 *
 * Each critical section and each wait is logged, and compared in the end: a function has caused
 * the part of a wait in which it held the lock.  What is left over is the time from an unlock to
 * the next lock.  Holds of a lock do not overlap, so sums up to a moment are enough for that.
 */
#include "tests/bin/waiting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BIG, SMALL, LOCKS };
enum { FLUSH, INDEX, STATS, REQUEST, HOLDERS };
enum { LOCK_BIG, LOCK_SMALL, BY_HOLDER, WAITERS = BY_HOLDER + HOLDERS };
enum { HOLDS = 1 << 22, WAITS = 1 << 22, MOST_REQUESTERS = 10000 };

static const char *const lock_names[] = { "big", "small" };
static const char *const holder_names[] = { "hold_flush", "hold_index", "hold_stats", "request" };
static const char *const waiter_names[] = { "lock_big",   "lock_small", "hold_flush",
					    "hold_index", "hold_stats", "request" };

/* A stretch in which HOLDER had the lock, and the naps in it.  Written by who has the lock. */
struct hold {
	uint64_t start, end, napped;	/* ns */
	unsigned holder;
};

struct wait {
	uint64_t start, end;	/* ns */
	unsigned lock, waiter;
};

/* What all holds of a lock up to a moment took, of each holder. */
struct sums {
	uint64_t held[HOLDERS], napped[HOLDERS];	/* ns */
};

/* The variables whose names a profile shows. */
static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER, small = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *const mutexes[LOCKS] = { &big, &small };

static struct hold *holds[LOCKS];
static size_t hold_counts[LOCKS];	/* guarded by the lock */
static struct wait *waits;
static atomic_size_t wait_count;
static atomic_bool stop;

static void *reserve(size_t count, size_t size)
{
	void *memory = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

/* Take a lock, and log the wait.  Return when the lock was there, in ns. */
static inline __attribute__((always_inline)) uint64_t take(unsigned lock, unsigned waiter)
{
	uint64_t start = now();
	pthread_mutex_lock(mutexes[lock]);
	uint64_t end = now();
	size_t i = atomic_fetch_add(&wait_count, 1);

	if (i >= WAITS)
		exit(1);
	waits[i] = (struct wait){ start, end, lock, waiter };
	return end;
}

/* Log the critical section, and leave it. */
static inline __attribute__((always_inline)) void give(unsigned lock, unsigned holder,
						       uint64_t start, uint64_t napped)
{
	if (hold_counts[lock] == HOLDS)
		exit(1);
	holds[lock][hold_counts[lock]++] = (struct hold){ start, now(), napped, holder };
	pthread_mutex_unlock(mutexes[lock]);
}

static inline __attribute__((always_inline)) void hold(unsigned lock, unsigned holder, unsigned us)
{
	uint64_t start = take(lock, BY_HOLDER + holder), nap_start = now();

	nap(us);
	give(lock, holder, start, now() - nap_start);
	STAY;
}

FUNCTION void hold_flush(void) { hold(BIG, FLUSH, 6000); }
FUNCTION void hold_index(void) { hold(BIG, INDEX, 2000); }
FUNCTION void hold_stats(void) { hold(SMALL, STATS, 1000); }

FUNCTION uint64_t lock_big(void) { return take(BIG, LOCK_BIG); }
FUNCTION uint64_t lock_small(void) { return take(SMALL, LOCK_SMALL); }

FUNCTION void request(void)
{
	give(BIG, REQUEST, lock_big(), 0);
	give(SMALL, REQUEST, lock_small(), 0);
	STAY;
}

struct role {
	void (*work)(void);
	unsigned pause;	/* us */
};

static void *play(void *argument)
{
	const struct role *role = argument;

	while (!atomic_load(&stop)) {
		role->work();
		nap(role->pause);
	}
	return NULL;
}

static struct sums *sums_of(unsigned lock)
{
	struct sums *sums = reserve(hold_counts[lock] + 1, sizeof(*sums));

	for (size_t i = 0; i < hold_counts[lock]; i++) {
		const struct hold *h = &holds[lock][i];
		sums[i + 1] = sums[i];
		sums[i + 1].held[h->holder] += h->end - h->start;
		sums[i + 1].napped[h->holder] += h->napped;
	}
	return sums;
}

/* What all holds of a lock up to TIME took.  Of a hold at that time, the nap is all but its end. */
static struct sums sums_until(unsigned lock, const struct sums *sums, uint64_t time)
{
	size_t low = 0, high = hold_counts[lock];	/* the first hold that ends after TIME */

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (holds[lock][middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	struct sums until = sums[low];
	const struct hold *h = &holds[lock][low];
	if (low < hold_counts[lock] && h->start < time) {
		uint64_t part = time - h->start;
		until.held[h->holder] += part;
		until.napped[h->holder] += part < h->napped ? part : h->napped;
	}
	return until;
}

static void report(unsigned lock)
{
	const char *name = lock_names[lock];
	const struct sums *sums = sums_of(lock);
	struct sums caused = { 0 };
	uint64_t waited[WAITERS] = { 0 }, rest = 0;

	for (size_t i = 0; i < wait_count; i++) {
		const struct wait *w = &waits[i];
		if (w->lock != lock)
			continue;
		struct sums before = sums_until(lock, sums, w->start);
		struct sums after = sums_until(lock, sums, w->end);
		waited[w->waiter] += w->end - w->start;
		rest += w->end - w->start;
		for (unsigned h = 0; h < HOLDERS; h++) {
			caused.held[h] += after.held[h] - before.held[h];
			caused.napped[h] += after.napped[h] - before.napped[h];
			rest -= after.held[h] - before.held[h];
		}
	}
	for (unsigned w = 0; w < WAITERS; w++) {
		if (waited[w])
			truth("waited", "mutex", name, waiter_names[w], waited[w]);
	}
	for (unsigned h = 0; h < HOLDERS; h++) {
		if (caused.held[h])
			truth("caused", "mutex", name, holder_names[h], caused.held[h]);
		if (caused.napped[h])
			truth("napped", "mutex", name, holder_names[h], caused.napped[h]);
	}
	truth("unsure", "mutex", name, "-", rest);
}

int main(int argc, char **argv)
{
	static struct role roles[] = {
		{ hold_flush, 2500 }, { hold_index, 2500 }, { hold_stats, 700 }, { request, 300 },
	};
	static pthread_t threads[HOLDERS + MOST_REQUESTERS];
	int requesters = argc > 2 ? (int)atof(argv[2]) : 4;
	pthread_attr_t attributes;

	if (argc < 2 || atof(argv[1]) <= 0 || requesters < 1 || requesters > MOST_REQUESTERS)
		return 2;
	waits = reserve(WAITS, sizeof(*waits));
	for (unsigned lock = 0; lock < LOCKS; lock++)
		holds[lock] = reserve(HOLDS, sizeof(**holds));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	int count = REQUEST + requesters;
	for (int i = 0; i < count; i++) {
		struct role *role = &roles[i < REQUEST ? i : REQUEST];
		if (pthread_create(&threads[i], &attributes, play, role))
			return 1;
	}
	nap((unsigned)(atof(argv[1]) * 1e6));
	atomic_store(&stop, true);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (unsigned lock = 0; lock < LOCKS; lock++)
		report(lock);
	return 0;
}
