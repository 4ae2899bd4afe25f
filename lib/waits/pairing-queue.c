/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks, the threads that wait for them, and the wakes on them.
 *
 * A wait ends with the last wake of its lock's queue.  Its first stretch may be a part of one
 * between two wakes, and is charged at once.  All others are whole: each wake only counts for how
 * many waits the stretch to it is the first whole one, or the last.  When no thread needs a wake
 * any more, its stretch is charged for all waits that have it.  So the cost of a wait does not
 * depend on the number of wakes in it.
 */
#include "waits/pairing-internal.h"

#include <stdlib.h>

/* Return the queue for the lock KEY; NONE: nobody waits for it, or the mode needs no queues. */
static uint32_t find_queue(const struct pairing *p, uint64_t key)
{
	return TABLE_FIND(&p->queue_table, hash_u64(key), i, p->queue[i].lock.key == key);
}

static uint32_t add_queue(struct pairing *p, const struct pairing_lock *lock)
{
	uint32_t at = p->free_queue;

	if (at != NONE) {
		p->free_queue = p->queue[at].first;
	} else {
		p->queue = array_grow(p->queue, p->queues, sizeof(*p->queue));
		at = p->queues++;
	}
	p->queue[at] = (struct pairing_queue){ .lock = *lock, .head = NONE, .tail = NONE,
					       .first = NONE, .last = NONE };
	table_add(&p->queue_table, hash_u64(lock->key), at);
	return at;
}

static void free_queue(struct pairing *p, uint32_t at)
{
	struct pairing_queue *q = &p->queue[at];

	table_remove(&p->queue_table, hash_u64(q->lock.key), at);
	q->lock.key = 0;
	q->first = p->free_queue;
	p->free_queue = at;
}

void queue_enter(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];

	t->queue = NONE;
	if (!t->out.lock.key || p->mode == PAIRING_BLOCK)
		return;
	uint32_t id = find_queue(p, t->out.lock.key);
	if (id == NONE)
		id = add_queue(p, &t->out.lock);
	struct pairing_queue *q = &p->queue[id];
	t->queue = id;
	t->ahead = q->tail;
	t->behind = NONE;
	if (q->tail == NONE)
		q->head = at;
	else
		p->thread[q->tail].behind = at;
	q->tail = at;
	t->after = q->last;
	t->after_number = q->numbers;
	q->newest = t->since > q->newest ? t->since : q->newest;
}

/*
 * Return how much of the stretch from FROM to TO is hand-over: until RAN, when the thread that was
 * woken before it ran.  If another thread took the lock meanwhile, there was none.
 */
static uint64_t handover(uint64_t from, uint64_t to, uint64_t ran)
{
	return ran > from && ran <= to ? ran - from : 0;
}

/* Charge the stretch to the first wake of Q, and remove that wake. */
static void settle_first(struct pairing *p, struct pairing_queue *q)
{
	uint32_t at = q->first;
	struct pairing_kept_wake *w = &p->wake[at];

	q->whole += w->opens;
	if (q->whole) {
		uint64_t ns = q->whole * (w->is.time - q->settled);
		q->charged += ns;
		pairing_charge(p, &w->is, q->lock.name, RULE_UNLOCKS, q->whole, ns);
		p->sums.handover += q->whole * handover(q->settled, w->is.time, q->ran);
	}
	q->whole -= w->closes;
	q->settled = w->is.time;
	q->ran = w->ran;
	q->first = w->next;
	if (q->first == NONE)
		q->last = NONE;
	w->woken = NONE;
	w->next = p->free_wake;
	p->free_wake = at;
}

/* Return whether a wait in Q has the first wake in it, or may have. */
static bool needs_first(const struct pairing *p, const struct pairing_queue *q)
{
	return q->head != NONE &&
	       p->wake[q->first].number > p->thread[q->head].after_number;
}

/* Forget the wakes on queue AT that no wait needs. */
static void queue_settle(struct pairing *p, uint32_t at)
{
	struct pairing_queue *q = &p->queue[at];

	while (q->first != NONE && !needs_first(p, q))
		settle_first(p, q);
	if (q->head == NONE && q->first == NONE) {
		p->unequal += q->due != q->charged;
		free_queue(p, at);
	}
}

void queue_leave(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];
	uint32_t id = t->queue;

	if (id == NONE)
		return;
	struct pairing_queue *q = &p->queue[id];
	*(t->ahead == NONE ? &q->head : &p->thread[t->ahead].behind) = t->behind;
	*(t->behind == NONE ? &q->tail : &p->thread[t->behind].ahead) = t->ahead;
	t->queue = NONE;
	queue_settle(p, id);
}

/* Forget a wake to make room: the oldest of Q, or, if it has none, of another queue. */
static void drop_wake(struct pairing *p, struct pairing_queue *q)
{
	if (q->first == NONE)
		q = &p->queue[p->search];	/* the one that lost a wake last */
	while (!q->lock.key || q->first == NONE) {
		p->search = (p->search + 1) % p->queues;
		q = &p->queue[p->search];
	}
	p->dropped++;
	settle_first(p, q);
	q->dropped = q->settled;
}

static uint32_t new_wake(struct pairing *p, struct pairing_queue *q)
{
	if (p->free_wake == NONE && p->wakes == PAIRING_WAKES_MAX)
		drop_wake(p, q);
	uint32_t at = p->free_wake;
	if (at != NONE) {
		p->free_wake = p->wake[at].next;
		return at;
	}
	p->wake = array_grow(p->wake, p->wakes, sizeof(*p->wake));
	return p->wakes++;
}

void queue_wake(struct pairing *p, uint64_t key, struct pairing_wake *wake, uint32_t woken)
{
	uint32_t id = find_queue(p, key);

	/* a thread that waits no more needs no wakes */
	while (id != NONE && p->queue[id].head != NONE &&
	       pairing_expire(p, p->queue[id].head, wake->time))
		id = find_queue(p, key);
	if (id == NONE)
		return;
	struct pairing_queue *q = &p->queue[id];
	wake->time = wake->time > q->newest ? wake->time : q->newest;
	q->newest = wake->time;
	uint32_t at = new_wake(p, q);
	p->wake[at] = (struct pairing_kept_wake){ .is = *wake, .next = NONE, .woken = woken,
						  .number = ++q->numbers };
	if (woken != NONE)
		p->thread[woken].by_kept = at;
	if (q->last == NONE)
		q->first = at;
	else
		p->wake[q->last].next = at;
	q->last = at;
}

void queue_runs(struct pairing *p, uint32_t at, uint64_t time)
{
	uint32_t by = p->thread[at].by_kept;

	if (by != NONE && p->wake[by].woken == at)	/* else it is kept no longer */
		p->wake[by].ran = time;
	p->thread[at].by_kept = NONE;
}

uint32_t queue_first_wake(const struct pairing *p, uint32_t at)
{
	const struct pairing_thread *t = &p->thread[at];
	const struct pairing_queue *q = &p->queue[t->queue];
	bool is_kept = t->after != NONE && q->first != NONE &&
		       t->after_number >= p->wake[q->first].number;

	return is_kept ? p->wake[t->after].next : q->first;
}

/* Charge what unlocks that were dropped have ended of T's wait.  Return its end. */
static uint64_t charge_dropped(struct pairing *p, const struct pairing_thread *t,
			       struct pairing_queue *q)
{
	if (q->dropped <= t->since)
		return t->since;
	uint64_t ns = q->dropped - t->since;
	pairing_charge_earlier(p, t->root, ns);
	q->charged += ns;
	return q->dropped;
}

void queue_charge(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];
	struct pairing_queue *q = &p->queue[t->queue];
	uint32_t first = queue_first_wake(p, at);
	struct pairing_kept_wake *w = &p->wake[first];
	uint64_t from = charge_dropped(p, t, q);
	uint64_t ns = w->is.time - from;

	q->due += t->woken_at - t->since;
	q->charged += ns;
	pairing_charge(p, &w->is, q->lock.name, RULE_UNLOCKS, 1, ns);
	p->sums.handover += handover(from, w->is.time, first == q->first ? q->ran
							: p->wake[t->after].ran);
	if (first == q->last)
		return;
	p->wake[w->next].opens++;
	p->wake[q->last].closes++;
}
