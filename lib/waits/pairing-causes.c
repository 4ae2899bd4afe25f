/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the threads that kept others waiting did meanwhile.  If they waited themselves, that is the
 * cause, and it may have a cause of its own.  So each thread remembers its waits as long as some
 * thread waits since before their end.
 */
#include "waits/pairing-internal.h"

#include <stdlib.h>

enum {
	KEPT_STRETCHES = 64,	/* of a wait: the last; time before has no further cause */
	STEPS_MAX = 1 << 24,	/* work for all waits, and ... */
	STEPS_PER_WAIT = 1000,	/* ... for each that has ended */
};

/* Return the start of the wait that began first, of those that have not ended. */
static uint64_t oldest_start(const struct pairing *p)
{
	return p->oldest == NONE ? UINT64_MAX : p->thread[p->oldest].since;
}

/* Forget the first COUNT waits of T. */
static void forget_first(struct pairing *p, struct pairing_thread *t, uint32_t count)
{
	if (count == 0)
		return;
	uint32_t gone = count < t->pasts ? t->past[count].first : t->stretches - t->pending;
	t->pasts -= count;
	t->stretches -= gone;
	p->past -= count + gone;
	memmove(t->past, t->past + count, t->pasts * sizeof(*t->past));
	if (t->stretches)
		memmove(t->stretch, t->stretch + gone, t->stretches * sizeof(*t->stretch));
	for (uint32_t i = 0; i < t->pasts; i++)
		t->past[i].first -= gone;
}

/* Forget the waits of T that ended before all waits of now, if these are half of its waits. */
static void forget_old(struct pairing *p, struct pairing_thread *t)
{
	uint64_t oldest = oldest_start(p);
	uint32_t half = t->pasts / 2;

	if (p->past >= PAIRING_PAST_MAX)
		forget_first(p, t, half + t->pasts % 2);
	else if (t->pasts >= 16 && t->past[half].until <= oldest)
		forget_first(p, t, half);
}

/* Forget all waits that ended before all waits of now. */
static void sweep(struct pairing *p)
{
	uint64_t oldest = oldest_start(p);

	p->swept = p->waits;
	for (uint32_t i = 0; i < p->threads; i++) {
		struct pairing_thread *t = &p->thread[i];
		uint32_t count = 0;
		while (count < t->pasts && t->past[count].until <= oldest)
			count++;
		forget_first(p, t, count);
	}
}

void causes_keep(struct pairing *p, uint32_t at, uint64_t time)
{
	struct pairing_thread *t = &p->thread[at];

	forget_old(p, t);
	if (p->past >= PAIRING_PAST_MAX && p->waits - p->swept > PAIRING_PAST_MAX / 8)
		sweep(p);
	if (p->past >= PAIRING_PAST_MAX) {
		t->stretches -= t->pending;
		t->pending = 0;
		p->shortened++;
		return;
	}
	t->past = array_grow(t->past, t->pasts, sizeof(*t->past));
	t->past[t->pasts++] = (struct past_wait){
		.since = t->since, .until = time, .stack = t->out.at.stack, .from = t->from,
		.first = t->stretches - t->pending, .stretches = t->pending };
	p->past += 1 + t->pending;
	t->pending = 0;
}

void causes_forget(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];

	t->stretches -= t->pending;
	t->pending = 0;
	forget_first(p, t, t->pasts);
}

/* Return the first of T's waits that ended after TIME. */
static uint32_t first_after(const struct pairing_thread *t, uint64_t time)
{
	uint32_t low = 0, high = t->pasts;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (t->past[middle].until > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool is_spent(struct pairing *p)
{
	return p->steps++ > STEPS_MAX + STEPS_PER_WAIT * p->waits;
}

/* What is added: the time from A to B, below NODE, in which the thread TID kept it waiting. */
struct piece {
	uint32_t node;
	pid_t tid;
	uint32_t stack;		/* of the wake at its end */
	uint64_t a, b;
	uint32_t link;		/* its depth */
};

static void add_piece(struct pairing *p, const struct piece *piece);

/* Add the time from A to B, in which T waited in PAST, below NODE. */
static void add_past(struct pairing *p, const struct pairing_thread *t,
		     const struct past_wait *past, const struct piece *of, uint32_t node)
{
	uint64_t a = past->since > of->a ? past->since : of->a;
	uint64_t b = past->until < of->b ? past->until : of->b, rest = b - a;
	uint64_t start = past->from;

	node = delays_child(&p->delays, node, DELAY_WAITED_IN, past->stack);
	for (uint32_t i = 0; i < past->stretches && of->link + 1 < p->links; i++) {
		const struct past_stretch *s = &t->stretch[past->first + i];
		const struct piece next = {
			.node = node, .tid = s->tid, .stack = s->stack, .link = of->link + 1,
			.a = start > a ? start : a, .b = s->end < b ? s->end : b };
		start = s->end;
		if (next.b <= next.a || is_spent(p))
			continue;
		add_piece(p, &next);
		rest -= next.b - next.a;
	}
	delays_add(&p->delays, node, 0, rest);
}

static void add_piece(struct pairing *p, const struct piece *piece)
{
	uint32_t node = delays_child(&p->delays, piece->node, DELAY_WAITS_FOR, piece->stack);
	uint32_t at = pairing_find_thread(p, piece->tid);
	const struct pairing_thread *t = at == NONE ? NULL : &p->thread[at];
	uint64_t left = piece->b - piece->a;

	for (uint32_t i = t ? first_after(t, piece->a) : 0; t && i < t->pasts; i++) {
		const struct past_wait *past = &t->past[i];
		if (past->since >= piece->b)
			break;
		if (is_spent(p)) {
			p->shortened++;
			break;
		}
		uint64_t a = past->since > piece->a ? past->since : piece->a;
		uint64_t b = past->until < piece->b ? past->until : piece->b;
		if (b <= a || b - a > left)	/* its times go back */
			continue;
		add_past(p, t, past, piece, node);
		left -= b - a;
	}
	delays_add(&p->delays, node, piece->link == 0, left);
}

/* Keep the stretch from A to B of T's wait, which WAKE ended, and add its causes. */
static void add_stretch(struct pairing *p, struct pairing_thread *t,
			const struct pairing_wake *wake, uint64_t a, uint64_t b)
{
	const struct piece piece = { .node = t->root, .tid = wake->tid, .a = a, .b = b,
				     .stack = wake->at.stack };

	if (t->root != NONE) {
		add_piece(p, &piece);
		p->sums.charged += b - a;
	}
	if (t->pending == KEPT_STRETCHES) {
		struct past_stretch *first = t->stretch + t->stretches - t->pending;
		t->from = first->end;
		memmove(first, first + 1, (KEPT_STRETCHES - 1) * sizeof(*first));
		t->stretches--;
		t->pending--;
	}
	t->stretch = array_grow(t->stretch, t->stretches, sizeof(*t->stretch));
	t->stretch[t->stretches++] = (struct past_stretch){ b, wake->tid, wake->at.stack };
	t->pending++;
}

void causes_add(struct pairing *p, uint32_t at, bool in_queue)
{
	struct pairing_thread *t = &p->thread[at];
	uint64_t a = t->since;

	t->from = a;
	t->stretches -= t->pending;	/* of a wait that was not kept */
	t->pending = 0;
	if (!in_queue) {
		if (is_by_somebody(t->by.kind))
			add_stretch(p, t, &t->by, a, t->woken_at);
		return;
	}
	uint64_t dropped = p->queue[t->queue].dropped;
	if (dropped > a) {
		pairing_charge_earlier(p, t->root, dropped - a);
		a = t->from = dropped;
	}
	for (uint32_t w = queue_first_wake(p, at); w != NONE; w = p->wake[w].next) {
		if (is_spent(p)) {	/* the rest is due to the last one */
			p->shortened++;
			add_stretch(p, t, &t->by, a, t->woken_at);
			break;
		}
		add_stretch(p, t, &p->wake[w].is, a, p->wake[w].is.time);
		a = p->wake[w].is.time;
	}
}
