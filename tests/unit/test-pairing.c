/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing: who kept whom waiting, by waits and wakes that no kernel wrote.  The quick way to divide
 * waits is compared with a slow one, which looks at each wake for each wait.
 */
#include "tests/unit/tap.h"
#include "waits/pairing.h"

#include <stdlib.h>

enum { THREADS = 40, LOCKS = 5, EVENTS = 200000, STACKS = THREADS + 1 };

static uint32_t labels(void *context, const struct pairing_about *about)
{
	(void)context;
	return about->lock;
}

static struct pairing begin(enum pairing_mode mode)
{
	struct pairing p = { .mode = mode, .links = 3, .labels = labels };

	pairing_begin(&p);
	return p;
}

/* Thread TID, whose stack has its number, waits for LOCK (0: none) from TIME on. */
static void out(struct pairing *p, pid_t tid, uint32_t lock, uint64_t time)
{
	pairing_out(p, &(struct pairing_out){
		.pid = 1, .tid = tid, .time = time, .at = { (uint32_t)tid, 0 },
		.lock = { .key = lock, .name = lock }, .rule = RULE_UNLOCKS });
}

/* Thread BY, with the stack BY + 100, wakes TID at LOCK. */
static void wake(struct pairing *p, pid_t by, pid_t tid, uint32_t lock, uint64_t time)
{
	pairing_wake(p, tid, &(struct pairing_wake){
		.time = time, .pid = 1, .tid = by, .at = { (uint32_t)by + 100, 0 },
		.word = lock, .kind = ENDED_THREAD });
}

/* Return the ns of the nodes with LINK and STACK whose parent has the stack PARENT (0: any). */
static uint64_t sum(const struct pairing *p, enum delay_link link, uint32_t stack, uint32_t parent)
{
	const struct delay_node *node = p->delays.node;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < p->delays.count; i++)
		if (node[i].link == link && node[i].at.stack == stack &&
		    (!parent || node[node[i].parent].at.stack == parent))
			ns += node[i].ns;
	return ns;
}

/* A queue: 1 and 2 wait for a lock of 3, which unlocks it at 100; 1 has it until 103. */
static void make_queue(struct pairing *p)
{
	out(p, 3, 0, 5);	/* it holds the lock, and sleeps */
	out(p, 1, 7, 10);
	out(p, 2, 7, 20);
	pairing_runs(p, 3, 90);
	wake(p, 3, 1, 7, 100);
	pairing_runs(p, 1, 102);
	wake(p, 1, 2, 7, 103);
	pairing_runs(p, 2, 107);
	pairing_end(p, 200);
}

static void test_queue(void)
{
	struct pairing p = begin(PAIRING_BLOCK);

	make_queue(&p);
	tap(sum(&p, DELAY_ROOT, 1, 0) == 90 && sum(&p, DELAY_ROOT, 2, 0) == 83 &&
	    p.delays.count == 4 && p.sums.scheduler == 6, "waits end with their wakes");
	pairing_release(&p);
	p = begin(PAIRING_MUTEX);
	make_queue(&p);
	tap(sum(&p, DELAY_ROOT, 103, 0) == 90 + 80 && sum(&p, DELAY_ROOT, 101, 0) == 3,
	    "each stretch is due to the unlock at its end, not to the last one");
	tap(p.sums.charged == p.sums.waited && p.sums.waited == 173 && !p.unequal,
	    "the stretches are as long as the waits");
	tap(p.sums.handover == 2, "from the wake until the next holder ran is hand-over");
	pairing_release(&p);
	p = begin(PAIRING_CAUSES);
	make_queue(&p);
	tap(sum(&p, DELAY_WAITED_IN, 3, 103) == 80 + 70 &&
	    sum(&p, DELAY_WAITS_FOR, 103, 1) == 10 && sum(&p, DELAY_WAITS_FOR, 103, 2) == 10,
	    "where the thread that held the lock waited meanwhile is the cause");
	pairing_release(&p);
}

static void test_chain(void)
{
	struct pairing p = begin(PAIRING_CAUSES);

	out(&p, 3, 0, 0);		/* 1 waits for 2, which waits for 3, which sleeps */
	out(&p, 2, 8, 0);
	out(&p, 1, 7, 0);
	pairing_runs(&p, 3, 50);
	wake(&p, 3, 2, 8, 60);
	pairing_runs(&p, 2, 61);
	wake(&p, 2, 1, 7, 70);
	pairing_runs(&p, 1, 71);
	tap(sum(&p, DELAY_WAITS_FOR, 102, 1) == 9 && sum(&p, DELAY_WAITED_IN, 2, 102) == 1 &&
	    sum(&p, DELAY_WAITS_FOR, 103, 2) == 2 * 10 &&
	    sum(&p, DELAY_WAITED_IN, 3, 103) == 2 * 50,
	    "causes are followed from thread to thread");
	pairing_release(&p);
}

static void test_edges(void)
{
	struct pairing p = begin(PAIRING_BLOCK);

	out(&p, 1, 7, 10);
	pairing_switched(&p, 1, 12, true);
	tap(p.delays.count == 0, "a thread that is preempted does not wait");
	out(&p, 1, 7, 20);
	pairing_runs(&p, 1, 30);
	out(&p, 1, 6, 40);
	pairing_end(&p, 100);
	tap(p.sums.timed == 10 && p.sums.open == 60 && p.sums.waited == 0,
	    "waits without a wake have unknown ends");
	out(&p, 2, 7, 110);
	wake(&p, 1, 2, 7, 105);
	pairing_runs(&p, 2, 120);
	tap(p.sums.waited == 0 && p.sums.scheduler == 10, "a wake before its wait ends it at once");
	wake(&p, 1, 2, 7, 130);
	out(&p, 2, 7, 131);
	pairing_runs(&p, 2, 141);
	tap(p.sums.scheduler == 20 && p.sums.timed == 10,
	    "so does one that comes just before the switch");
	wake(&p, 1, 2, 7, 142);
	out(&p, 2, 0, 143);
	pairing_runs(&p, 2, 5000000143);
	tap(p.sums.scheduler == 20 && p.sums.waited == 0 && p.sums.outside_hidden > 1000000000,
	    "but it does not end a long wait for something else");
	wake(&p, 1, 9, 7, 5900000000);
	out(&p, 9, 7, 5900000001);
	pairing_runs(&p, 9, 5900000011);
	tap(p.sums.scheduler == 30 && p.sums.timed == 10,
	    "a thread that never waited before can be woken so, too");
	out(&p, 2, 7, 6000000000);
	pairing_sampled(&p, 2, 6000003000);
	wake(&p, 1, 2, 7, 7000000000);
	pairing_runs(&p, 2, 7000000000);
	tap(p.sums.waited == 1000000000, "a sample of the switch itself does not end the wait");
	p.sums.waited = 0;
	pairing_exit(&p, &(struct pairing_wake){ .time = 149, .pid = 1, .tid = 2 }, 0);
	out(&p, 2, 7, 150);
	pairing_end(&p, 300);
	tap(p.sums.open == 60, "a thread that has exited waits no more");
	pairing_new_thread(&p, 2);
	out(&p, 2, 7, 8000000000);
	pairing_end(&p, 8000000100);
	tap(p.sums.open == 160, "one that runs another program does");
	pairing_release(&p);
}

static void test_own_words(void)
{
	struct pairing p = begin(PAIRING_MUTEX);
	struct pairing_out semaphore = { .pid = 1, .tid = 2, .lock = { 7, 7, false },
					 .rule = RULE_UNLOCKS, .is_idle = true };

	for (pid_t tid = 2; tid <= 3; tid++) {	/* each at its own */
		semaphore.tid = tid;
		semaphore.time = 10;
		semaphore.lock.key = (uint64_t)tid;
		pairing_out(&p, &semaphore);
		wake(&p, 1, tid, (uint32_t)tid, 110);
		pairing_runs(&p, tid, 110);
		tap(own_words_sum(&p.own) == (tid == 2 ? 0 : 200), tid == 2
		    ? "one thread with a word of its own is nothing special"
		    : "with two, the waits at words of one thread each are known");
	}
	semaphore.lock.key = 2;		/* 3 waits where 2 did */
	semaphore.time = 120;
	pairing_out(&p, &semaphore);
	wake(&p, 1, 3, 2, 220);
	pairing_end(&p, 300);
	tap(own_words_sum(&p.own) == 0 && p.sums.waited == 300 && !p.unequal,
	    "a word at which another thread waits later was not one of these");
	pairing_release(&p);
}

/* A timer wakes TID, which runs from TIME on. */
static void interrupt(struct pairing *p, pid_t tid, uint64_t time)
{
	pairing_wake(p, tid, &(struct pairing_wake){
		.time = time - 1, .pid = 1, .tid = 99, .at = { 1, 0 }, .kind = ENDED_TIMER });
	pairing_runs(p, tid, time);
}

/* 1 waits for a lock, with interruptions, from 10 to 10,000; 2 unlocks it then. */
static void make_interrupted(struct pairing *p)
{
	out(p, 1, 7, 10);
	interrupt(p, 1, 1000);
	out(p, 1, 7, 1010);
	pairing_switched(p, 1, 1011, true);	/* it only was preempted, ... */
	pairing_runs(p, 1, 4000000);
	out(p, 1, 7, 4000010);			/* ... and goes on to wait */
	pairing_switched(p, 1, 4000011, false);
	wake(p, 3, 3, 7, 4000020);
	pairing_runs(p, 1, 4000100);		/* a signal from outside, which has no wake */
	out(p, 1, 7, 4000110);
	wake(p, 2, 1, 7, 4000200);
	pairing_runs(p, 1, 4000210);
}

static void test_interrupted(void)
{
	struct pairing p = begin(PAIRING_MUTEX);

	make_interrupted(&p);
	tap(sum(&p, DELAY_ROOT, 103, 0) == 4000020 - 10 &&
	    sum(&p, DELAY_ROOT, 102, 0) == 4000200 - 4000020 && p.sums.timed == 0,
	    "a wait that is interrupted goes on, and is divided as a whole");
	pairing_release(&p);
	p = begin(PAIRING_BLOCK);
	make_interrupted(&p);
	tap(sum(&p, DELAY_ROOT, 1, 0) == 4000200 - 10 && p.sums.scheduler == 10,
	    "it is one wait");
	out(&p, 1, 7, 5000000);
	interrupt(&p, 1, 5000100);
	out(&p, 1, 8, 5000110);
	pairing_end(&p, 5000120);
	tap(p.sums.timed == 99 && p.sums.open == 10 && p.sums.scheduler == 11,
	    "a wait for another lock is another wait");
	out(&p, 1, 7, 6000000);
	interrupt(&p, 1, 6000100);
	out(&p, 1, 7, 8000000);
	pairing_end(&p, 8000010);
	tap(p.sums.timed == 198 && p.sums.open == 20, "so is one that comes later");
	out(&p, 1, 7, 9000000);
	interrupt(&p, 1, 9000100);
	pairing_exit(&p, &(struct pairing_wake){ .time = 9000200, .pid = 1, .tid = 1 }, 0);
	tap(p.sums.timed == 297 && !p.unequal, "and a thread that ends waits no more");
	out(&p, 2, 7, 10000000);
	interrupt(&p, 2, 10000100);
	wake(&p, 3, 2, 8, 10000200);
	out(&p, 2, 8, 10000210);
	pairing_runs(&p, 2, 10000230);
	tap(p.sums.timed == 396 && sum(&p, DELAY_ROOT, 2, 0) == 99 && p.sums.outside == 0,
	    "a wake for the next wait is not lost");
	pairing_release(&p);
}

/* The slow way: for each thread that waits, the wakes so far on its lock. */
static struct slow {
	bool waits;
	uint32_t lock;
	uint64_t since;
	struct slow_wake { uint64_t time; uint32_t stack; } *wake;
	uint32_t wakes;
} slow[THREADS + 1];
static uint64_t expected[STACKS + 100];

static void slow_wake(uint32_t by, uint32_t tid, uint32_t lock, uint64_t time)
{
	for (int i = 1; i <= THREADS; i++) {
		struct slow *s = &slow[i];
		if (!s->waits || (s->lock != lock && s->lock != slow[tid].lock))
			continue;
		s->wake = array_grow(s->wake, s->wakes, sizeof(*s->wake));
		s->wake[s->wakes++] = (struct slow_wake){ time, by + 100 };
	}
	struct slow *s = &slow[tid];
	uint64_t a = s->since;
	for (uint32_t i = 0; i < s->wakes; i++) {
		expected[s->wake[i].stack] += s->wake[i].time - a;
		a = s->wake[i].time;
	}
	s->waits = false;
}

/* The same random waits and wakes for P and for the slow way. */
static void make_random(struct pairing *p)
{
	uint64_t random = 88172645463325252u, time = 1;

	memset(expected, 0, sizeof(expected));
	for (int i = 0; i < EVENTS; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		uint32_t tid = 1 + random % THREADS, by = 1 + random / 100 % THREADS;
		uint32_t lock = 1 + random / 10000 % LOCKS;
		time += random / 1000000 % 50;
		if (slow[by].waits)
			continue;
		if (!slow[tid].waits && tid != by) {
			slow[tid] = (struct slow){ .waits = true, .lock = lock, .since = time,
						   .wake = slow[tid].wake };
			out(p, (pid_t)tid, lock, time);
		} else if (tid != by && random / 11 % 4 == 0) {
			interrupt(p, (pid_t)tid, time);
			time += random / 13 % 50;
			if (random / 17 % 2) {		/* it waits for another lock then */
				slow[tid].lock = slow[tid].lock % LOCKS + 1;
				slow[tid].since = time;
				slow[tid].wakes = 0;
			}
			out(p, (pid_t)tid, slow[tid].lock, time);
		} else if (tid != by) {		/* some wakes are at another word than the wait */
			lock = random / 7 % 8 ? slow[tid].lock : lock;
			wake(p, (pid_t)by, (pid_t)tid, lock, time);
			slow_wake(by, tid, lock, time);
			pairing_runs(p, (pid_t)tid, time);
		}
	}
	pairing_end(p, time);
	for (int i = 1; i <= THREADS; i++) {
		free(slow[i].wake);
		slow[i] = (struct slow){ .waits = false };
	}
}

static void test_random(void)
{
	bool is_same = true, is_same_in_causes = true;
	uint64_t total = 0;
	struct pairing p = begin(PAIRING_MUTEX), causes = begin(PAIRING_CAUSES);

	make_random(&causes);
	make_random(&p);
	for (uint32_t stack = 101; stack <= 100 + THREADS; stack++) {
		total += expected[stack];
		is_same &= sum(&p, DELAY_ROOT, stack, 0) == expected[stack];
	}
	tap(is_same && total > 1000000, "the quick way divides waits as the slow one does");
	tap(p.sums.charged == total && p.sums.waited == total && !p.unequal &&
	    p.wakes < EVENTS / 10, "sums are equal, and wakes are forgotten");
	uint64_t below = 0;
	for (uint32_t i = 0; i < causes.delays.count; i++)
		below += causes.delays.node[i].ns;
	is_same_in_causes = below == total && causes.sums.charged == total;
	tap(is_same_in_causes, "causes have the same sum");
	pairing_release(&p);
	pairing_release(&causes);
}

/* More wakes, threads and locks than are kept, at one moment, and times that go back. */
static void test_many(void)
{
	enum { MANY = 1 << 21, WAITERS = 1000 };
	struct pairing p = begin(PAIRING_MUTEX);

	for (pid_t tid = 1; tid <= WAITERS; tid++)
		out(&p, tid, 1 + (uint32_t)tid % 3, 10);
	for (uint32_t i = 0; i < MANY; i++)
		wake(&p, 5000, 6000, 1 + i % 3, MANY - i);
	for (pid_t tid = 1; tid <= WAITERS; tid++)
		wake(&p, 5001, tid, 1 + (uint32_t)tid % 3, MANY + 100);
	pairing_end(&p, MANY + 200);
	tap(p.wakes == PAIRING_WAKES_MAX && p.dropped > 0 && p.sums.charged == p.sums.waited &&
	    p.sums.waited == (uint64_t)WAITERS * (MANY + 90) && !p.unequal,
	    "wakes beyond the limit are dropped, and the sums stay equal");
	pairing_release(&p);
	p = begin(PAIRING_CAUSES);
	for (pid_t tid = 1; tid <= MANY; tid++)
		out(&p, tid, (uint32_t)tid, (uint64_t)(MANY - tid));
	tap(p.threads == PAIRING_THREADS_MAX && p.refused == MANY - PAIRING_THREADS_MAX,
	    "threads beyond the limit are counted");
	for (pid_t tid = 1; tid <= MANY; tid++)
		wake(&p, tid - 1, tid, (uint32_t)tid, 50);
	pairing_end(&p, 60);
	tap(p.sums.charged == p.sums.waited && !p.unequal, "sums stay equal");
	pairing_release(&p);
}

int main(void)
{
	test_queue();
	test_chain();
	test_edges();
	test_own_words();
	test_interrupted();
	test_random();
	test_many();
	return tap_done();
}
