/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/pairing-internal.h"

#include <stdlib.h>

enum {
	/*
	 * A thread that is about to wait can be woken before the record of its switch is written.
	 * A wake at most this much before a wait, without any wake during it, was one of these.
	 */
	EARLY_NS = 20000,
	SWITCH_NS = 100000,	/* in which a thread that is switched out may still be sampled */
	LATE_NS = 20000000,	/* ... unless the wait is longer: then it was for something else */
	JOIN_NS = 1000000000,	/* from an exit until a thread that waited for it runs */
};

uint32_t pairing_find_thread(const struct pairing *p, pid_t tid)
{
	return TABLE_FIND(&p->thread_table, hash_u64((uint32_t)tid), i, p->thread[i].tid == tid);
}

/* Return the thread TID, a new one if necessary; NONE: there are too many. */
static uint32_t find_or_add(struct pairing *p, pid_t tid)
{
	uint32_t at = tid > 0 ? pairing_find_thread(p, tid) : NONE;

	if (at != NONE || tid <= 0)
		return at;
	at = p->free_thread;
	if (at != NONE) {
		p->free_thread = p->thread[at].newer;
	} else {
		if (p->threads == PAIRING_THREADS_MAX)
			return NONE;
		p->thread = array_grow(p->thread, p->threads, sizeof(*p->thread));
		at = p->threads++;
	}
	p->thread[at] = (struct pairing_thread){ .tid = tid, .queue = NONE, .by_kept = NONE };
	table_add(&p->thread_table, hash_u64((uint32_t)tid), at);
	return at;
}

void pairing_begin(struct pairing *p)
{
	p->oldest = p->newest = p->free_thread = p->free_queue = p->free_wake = NONE;
}

/* Append thread T to those that wait. */
static void enter(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];

	t->waits = true;
	t->older = p->newest;
	t->newer = NONE;
	*(t->older == NONE ? &p->oldest : &p->thread[t->older].newer) = at;
	p->newest = at;
	queue_enter(p, at);
}

/* Remove thread T from those that wait. */
static void leave(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];

	queue_leave(p, at);
	*(t->older == NONE ? &p->oldest : &p->thread[t->older].newer) = t->newer;
	*(t->newer == NONE ? &p->newest : &p->thread[t->newer].older) = t->older;
	t->waits = t->woken = false;
	t->by.time = 0;
}

void pairing_out(struct pairing *p, const struct pairing_out *out)
{
	uint32_t at = find_or_add(p, out->tid);

	if (at == NONE) {
		p->refused += out->tid > 0;
		return;
	}
	struct pairing_thread *t = &p->thread[at];
	if (t->exited)
		return;		/* its last switch out */
	if (t->waits)
		pairing_runs(p, out->tid, out->time);
	t->out = *out;
	t->since = out->time;
	t->woken = t->is_out = false;
	enter(p, at);
}

void pairing_switched(struct pairing *p, pid_t tid, uint64_t time, bool preempted)
{
	uint32_t at = pairing_find_thread(p, tid);
	struct pairing_thread *t = at == NONE ? NULL : &p->thread[at];

	if (!t || !t->waits || t->is_out)
		return;
	t->is_out = true;
	if (preempted) {
		leave(p, at);
	} else if (time > t->since && !t->woken) {
		queue_leave(p, at);	/* wakes before that are not during the wait */
		t->since = time;
		queue_enter(p, at);
	}
}

static bool is_by_somebody(enum pairing_ended ended)
{
	return ended == ENDED_THREAD || ended == ENDED_PROCESS || ended == ENDED_EXIT;
}

/* Return whether the wait of T, which ended so, is shown. */
static bool is_shown(const struct pairing *p, const struct pairing_thread *t,
		     enum pairing_ended ended)
{
	if (t->out.is_aside)
		return false;
	if (p->mode == PAIRING_BLOCK && p->all)
		return true;
	return is_by_somebody(ended) ||
	       (p->mode == PAIRING_BLOCK && ended == ENDED_UNKNOWN && t->out.lock.key);
}

/* Return the node of the wait of T, which ended so. */
static uint32_t root_of(struct pairing *p, const struct pairing_thread *t,
			enum pairing_ended ended, enum pairing_rule rule)
{
	const struct pairing_about about = {
		.labels = t->out.at.labels, .lock = t->out.lock.key ? t->out.lock.name : 0,
		.waker = t->woken ? t->by.name : NONE, .waker_pid = t->by.pid, .ended = ended,
		.rule = rule };
	const struct delay_place place = { t->out.at.stack, p->labels(p->context, &about) };

	return delays_root(&p->delays, place);
}

void pairing_charge(struct pairing *p, const struct pairing_wake *by, uint32_t lock,
		    enum pairing_rule rule, uint64_t count, uint64_t ns)
{
	const struct pairing_about about = {
		.labels = by->at.labels, .lock = lock, .waker = by->name, .is_stretch = true,
		.rule = rule };
	const struct delay_place place = { by->at.stack, p->labels(p->context, &about) };

	delays_add(&p->delays, delays_root(&p->delays, place), count, ns);
	p->sums.charged += ns;
}

void pairing_charge_earlier(struct pairing *p, uint32_t root, uint64_t ns)
{
	delays_add(&p->delays, delays_child(&p->delays, root, DELAY_EARLIER, 0), 1, ns);
	p->sums.charged += ns;
}

/* Return how the wait of T, which is woken, is divided. */
static enum pairing_rule rule_of(const struct pairing_thread *t)
{
	bool has_stretches = t->out.lock.key && is_by_somebody(t->by.kind);

	return t->out.rule == RULE_UNLOCKS && !has_stretches ? RULE_LAST : t->out.rule;
}

/* Say who kept T waiting, until it was woken. */
static void charge(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];
	enum pairing_rule rule = rule_of(t);

	if (p->mode == PAIRING_CAUSES)
		causes_add(p, at, rule == RULE_UNLOCKS);
	else if (p->mode == PAIRING_MUTEX && rule == RULE_UNLOCKS)
		queue_charge(p, at);
	else if (p->mode == PAIRING_MUTEX)
		pairing_charge(p, &t->by, t->out.lock.key ? t->out.lock.name : 0, rule, 1,
			       t->woken_at - t->since);
}

/* T, which waits, is woken by t->by. */
static void end_by_wake(struct pairing *p, uint32_t at, uint64_t time)
{
	struct pairing_thread *t = &p->thread[at];
	bool is_other = t->by.kind == ENDED_THREAD && t->by.pid != t->out.pid;
	enum pairing_ended ended = is_other ? ENDED_PROCESS : t->by.kind;
	bool is_lock = t->out.lock.key && t->out.rule != RULE_LAST;

	t->woken = true;
	t->woken_at = time > t->since ? time : t->since;
	uint64_t ns = t->woken_at - t->since;
	t->root = NONE;
	if (is_shown(p, t, ended)) {
		p->sums.waited += ns;
		p->sums.locked += is_lock ? ns : 0;
		p->sums.parked += is_lock && t->out.rule == RULE_PARKED ? ns : 0;
		t->root = root_of(p, t, ended, rule_of(t));
		if (p->mode == PAIRING_BLOCK)
			delays_add(&p->delays, t->root, 1, ns);
	}
	/* a wait that is not shown may be the cause of another */
	if (p->mode == PAIRING_CAUSES || (p->mode == PAIRING_MUTEX && t->root != NONE))
		charge(p, at);
	queue_leave(p, at);
}

/*
 * A wake counts for all who wait at its word.  If it ends a wait for another lock, it counts there,
 * too: the kernel may move waiters to another word, and the end of a thread has no word.
 */
void pairing_wake(struct pairing *p, pid_t tid, const struct pairing_wake *wake)
{
	struct pairing_wake by = *wake;
	uint32_t at = find_or_add(p, tid);	/* it may be about to wait for the first time */
	struct pairing_thread *t = at == NONE ? NULL : &p->thread[at];
	bool ends = t && t->waits && !t->woken;
	uint64_t own = ends && is_by_somebody(wake->kind) ? t->out.lock.key : 0;

	for (int i = 0; i < 2; i++) {
		uint64_t key = i ? wake->pair : wake->word;
		struct pairing_wake copy = *wake;
		if (key && key != own)
			queue_wake(p, key, &copy, NONE);
	}
	if (own)
		queue_wake(p, own, &by, at);
	if (t && !t->woken)
		t->by = by;
	if (ends)
		end_by_wake(p, at, by.time);
}

/* T, which waited, runs or the stream ends at TIME, and no wake was recorded. */
static void end_unseen(struct pairing *p, uint32_t at, uint64_t time, bool is_open)
{
	struct pairing_thread *t = &p->thread[at];
	uint64_t ns = time > t->since ? time - t->since : 0;
	enum pairing_ended ended = t->out.sleeps && !is_open ? ENDED_TIMER : ENDED_UNKNOWN;
	bool is_shown_here = is_shown(p, t, ended);

	if (is_shown_here || (t->out.lock.key && !t->out.is_aside))
		*(is_open ? &p->sums.open : &p->sums.outside) += ns;
	else if (!t->out.is_aside)
		p->sums.elsewhere += ns;
	if (is_shown_here)
		delays_add(&p->delays, root_of(p, t, ended, RULE_LAST), 1, ns);
}

/* The wait of T, which is woken, goes on to TIME only because of the scheduler. */
static void add_scheduler(struct pairing *p, const struct pairing_thread *t, uint64_t time)
{
	uint64_t ns = time > t->woken_at ? time - t->woken_at : 0;

	if (t->root == NONE || !ns)
		return;
	p->sums.scheduler += ns;
	delays_add(&p->delays, delays_child(&p->delays, t->root, DELAY_SCHEDULER, 0), 0, ns);
}

/* Return the last thread for whose exit T, which runs from TIME on, may have waited; or NULL. */
static const struct pairing_exited *find_joined(const struct pairing *p,
						const struct pairing_thread *t, uint64_t time)
{
	for (uint32_t i = 1; t->out.joins && i <= PAIRING_EXITS; i++) {
		const struct pairing_exited *e = &p->exited[(p->exits - i) % PAIRING_EXITS];
		bool is_its = e->as.pid == t->out.pid || e->parent == t->out.pid;
		if (is_its && e->as.time > t->since && e->as.time <= time &&
		    time - e->as.time < JOIN_NS)
			return e;
	}
	return NULL;
}

void pairing_runs(struct pairing *p, pid_t tid, uint64_t time)
{
	uint32_t at = pairing_find_thread(p, tid);
	struct pairing_thread *t = at == NONE ? NULL : &p->thread[at];

	if (!t || !t->waits)
		return;
	bool was_early = !t->woken && t->by.time && t->by.time + EARLY_NS >= t->since &&
			 time < t->since + LATE_NS;
	const struct pairing_exited *joined = t->woken ? NULL : find_joined(p, t, time);
	if (joined) {
		t->by = joined->as;
		t->out.rule = RULE_LAST;
		end_by_wake(p, at, joined->as.time);
	} else if (was_early) {
		t->out.rule = RULE_LAST;	/* it is not the end of a stretch of this wait */
		end_by_wake(p, at, t->since);
	}
	if (t->woken) {
		add_scheduler(p, t, time);
		queue_runs(p, at, time);
	} else {
		end_unseen(p, at, time, false);
	}
	if (p->mode == PAIRING_CAUSES)
		causes_keep(p, at, time);
	p->waits++;
	leave(p, at);
}

void pairing_sampled(struct pairing *p, pid_t tid, uint64_t time)
{
	uint32_t at = pairing_find_thread(p, tid);
	const struct pairing_thread *t = at == NONE ? NULL : &p->thread[at];

	if (t && (t->woken || time >= t->since + SWITCH_NS))
		pairing_runs(p, tid, time);
}

/* Begin with TID anew: it does not wait.  Return it; NONE: there are too many. */
static uint32_t restart(struct pairing *p, pid_t tid)
{
	uint32_t at = find_or_add(p, tid);

	if (at == NONE)
		return NONE;
	if (p->thread[at].waits)
		leave(p, at);
	p->thread[at].by.time = 0;
	return at;
}

void pairing_new_thread(struct pairing *p, pid_t tid)
{
	uint32_t at = restart(p, tid);

	if (at == NONE)
		return;
	p->thread[at].exited = false;
	causes_forget(p, at);
}

void pairing_exit(struct pairing *p, const struct pairing_wake *last, pid_t parent)
{
	uint32_t at = restart(p, last->tid);

	if (at != NONE)
		p->thread[at].exited = true;
	p->exited[p->exits++ % PAIRING_EXITS] = (struct pairing_exited){ *last, parent };
}

void pairing_forget(struct pairing *p, pid_t tid)
{
	uint32_t at = pairing_find_thread(p, tid);

	if (at == NONE)
		return;
	p->refused += p->thread[at].waits;
	if (p->thread[at].waits)
		leave(p, at);
	causes_forget(p, at);
	free(p->thread[at].past);
	free(p->thread[at].stretch);
	table_remove(&p->thread_table, hash_u64((uint32_t)tid), at);
	p->thread[at] = (struct pairing_thread){ .tid = 0, .newer = p->free_thread };
	p->free_thread = at;
}

void pairing_end(struct pairing *p, uint64_t time)
{
	while (p->oldest != NONE) {
		uint32_t at = p->oldest;
		if (p->thread[at].woken)
			add_scheduler(p, &p->thread[at], time);
		else
			end_unseen(p, at, time, true);
		leave(p, at);
	}
}

void pairing_relabel(struct pairing *p, const uint32_t *moved)
{
	delays_relabel(&p->delays, moved);
	for (uint32_t i = 0; i < p->threads; i++) {
		struct pairing_thread *t = &p->thread[i];
		t->out.at.labels = t->waits ? moved[t->out.at.labels] : 0;
		t->by.at.labels = t->by.time ? moved[t->by.at.labels] : 0;
	}
	for (uint32_t i = 0; i < p->queues; i++)
		if (p->queue[i].lock.key)
			for (uint32_t w = p->queue[i].first; w != NONE; w = p->wake[w].next)
				p->wake[w].is.at.labels = moved[p->wake[w].is.at.labels];
}

void pairing_release(struct pairing *p)
{
	for (uint32_t i = 0; i < p->threads; i++) {
		free(p->thread[i].past);
		free(p->thread[i].stretch);
	}
	free(p->thread);
	free(p->queue);
	free(p->wake);
	table_release(&p->thread_table);
	table_release(&p->queue_table);
	delays_release(&p->delays);
	*p = (struct pairing){ .mode = PAIRING_NONE };
}
