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
	EXIT_NS = 5000000,	/* ... until one that may have waited for something else runs */
	PAUSE_NS = 200000,	/* in which a thread that was interrupted waits again */
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
	t->waits = t->woken = t->pauses = t->went_on = false;
	t->by.time = 0;
}

const struct pairing_out *pairing_find_wait(const struct pairing *p, pid_t tid)
{
	uint32_t at = pairing_find_thread(p, tid);

	return at != NONE && p->thread[at].waits ? &p->thread[at].out : NULL;
}

/* Return whether the wait of T, which ended so, is one of those that another thread could end. */
static bool is_counted(const struct pairing *p, const struct pairing_thread *t,
		       enum pairing_ended ended)
{
	bool is_idle = t->out.is_idle && !t->out.lock.is_shared;

	if (t->out.is_aside)
		return false;
	return (p->mode == PAIRING_BLOCK && p->all) || is_by_somebody(ended) ||
	       (t->out.lock.key && !is_idle);
}

/* Return whether the wait of T, which ended so, is shown. */
static bool is_shown(const struct pairing *p, const struct pairing_thread *t,
		     enum pairing_ended ended)
{
	return is_counted(p, t, ended) && (p->mode == PAIRING_BLOCK || is_by_somebody(ended));
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

/* Return whether OUT is for a semaphore or a condition. */
static bool may_be_own(const struct pairing_out *out)
{
	return out->lock.key && out->is_idle && out->rule != RULE_PARKED && !out->joins;
}

/* Return the word that T waits for, if that may be its own, and nobody else has waited there. */
static struct own_word *own_word_of(const struct pairing *p, const struct pairing_thread *t)
{
	return may_be_own(&t->out) ? own_words_find(&p->own, t->out.lock.key) : NULL;
}

/* Return how the wait of T, which is woken, is divided. */
static enum pairing_rule rule_of(const struct pairing *p, const struct pairing_thread *t)
{
	if (!is_by_somebody(t->by.kind))
		return RULE_NONE;
	if (t->out.rule != RULE_UNLOCKS)
		return t->out.rule;
	if (!t->out.lock.key)
		return RULE_LAST;
	return own_word_of(p, t) ? RULE_PARKED : RULE_UNLOCKS;
}

/* Say who kept T waiting, until it was woken. */
static void charge(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];
	enum pairing_rule rule = rule_of(p, t);

	if (t->out.is_short) {		/* nobody knows what for */
		struct pairing_wake as = t->by;
		as.at = t->out.at;
		as.name = NONE;
		if (t->root != NONE)
			pairing_charge(p, &as, 0, RULE_NONE, 1, t->woken_at - t->since);
	} else if (p->mode == PAIRING_CAUSES) {
		causes_add(p, at, rule == RULE_UNLOCKS);
	} else if (p->mode == PAIRING_MUTEX && rule == RULE_UNLOCKS) {
		queue_charge(p, at);
	} else if (p->mode == PAIRING_MUTEX) {
		pairing_charge(p, &t->by, t->out.lock.key ? t->out.lock.name : 0, rule, 1,
			       t->woken_at - t->since);
	}
}

/* Add NS of T's wait, which ended so, to the sums. */
static void add_waited(struct pairing *p, const struct pairing_thread *t,
		       enum pairing_ended ended, uint64_t ns)
{
	bool is_parked = t->out.rule == RULE_PARKED;
	bool is_lock = t->out.lock.key && (is_parked || (t->out.rule == RULE_UNLOCKS &&
							 !t->out.is_idle));	/* semaphores */

	if (t->out.lock.key && !is_by_somebody(ended)) {
		p->sums.timed += ns;
		return;
	}
	struct own_word *own = own_word_of(p, t);
	if (own)
		own->ns += ns;
	p->sums.waited += ns;
	p->sums.locked += is_lock ? ns : 0;
	p->sums.parked += is_lock && is_parked ? ns : 0;
}

/* T, which waits, is woken by t->by. */
static void end_by_wake(struct pairing *p, uint32_t at, uint64_t time)
{
	struct pairing_thread *t = &p->thread[at];
	bool is_other = t->by.kind == ENDED_THREAD && t->by.pid != t->out.pid;
	enum pairing_ended ended = is_other ? ENDED_PROCESS : t->by.kind;

	t->woken = true;
	t->woken_at = time > t->since ? time : t->since;
	uint64_t ns = t->woken_at - t->since;
	t->root = NONE;
	if (is_counted(p, t, ended))
		add_waited(p, t, ended, ns);
	if (is_shown(p, t, ended)) {
		t->root = root_of(p, t, ended, rule_of(p, t));
		if (p->mode == PAIRING_BLOCK)
			delays_add(&p->delays, t->root, 1, ns);
	}
	/* a wait that is not shown may be the cause of another */
	if (p->mode == PAIRING_CAUSES || (p->mode == PAIRING_MUTEX && t->root != NONE))
		charge(p, at);
	queue_leave(p, at);
}

/* Return whether T, whose wait ended so, may wait for the same lock again at once. */
static bool may_go_on(const struct pairing_thread *t, enum pairing_ended ended)
{
	bool is_outside = ended == ENDED_UNKNOWN && t->out.lock.is_shared;

	return t->out.lock.key && !is_by_somebody(ended) && !is_outside;
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
	bool ends = t && t->waits && !t->woken && !t->pauses;

	if (ends && t->out.awaits_signal && by.kind == ENDED_SIGNAL)
		by.kind = ENDED_THREAD;
	uint64_t own = ends && is_by_somebody(by.kind) ? t->out.lock.key : 0;

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
	if (ends && may_go_on(t, by.kind)) {
		t->woken = true;
		t->woken_at = by.time > t->piece ? by.time : t->piece;
	} else if (ends) {
		end_by_wake(p, at, by.time);
	}
}

/* T, which waited, runs or the stream ends at TIME, and no wake was recorded. */
static void end_unseen(struct pairing *p, uint32_t at, uint64_t time, bool is_open)
{
	struct pairing_thread *t = &p->thread[at];
	struct pairing_sums *sums = &p->sums;
	uint64_t ns = time > t->since ? time - t->since : 0;
	enum pairing_ended ended = t->out.sleeps && !is_open ? ENDED_TIMER : ENDED_UNKNOWN;

	bool is_own = t->out.lock.key && !t->out.lock.is_shared;	/* no process reaches it */
	if (is_counted(p, t, ended))
		*(is_open ? &sums->open
		  : is_own || t->out.sleeps ? &sums->timed : &sums->outside) += ns;
	else if (!t->out.is_aside)
		*(t->out.sleeps || t->out.is_short || (is_own && !is_open) ? &sums->slept
		  : is_open ? &sums->open_hidden : &sums->outside_hidden) += ns;
	if (is_shown(p, t, ended))
		delays_add(&p->delays, root_of(p, t, ended, RULE_NONE), 1, ns);
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

/* Return whether T, which runs from TIME on, may have waited for the exit E. */
static bool may_have_joined(const struct pairing_thread *t, const struct pairing_exited *e,
			    uint64_t time)
{
	bool is_own = e->as.pid == t->out.pid, is_child = !is_own && e->parent == t->out.pid;
	bool is_its = is_child || (t->out.joins && is_own) || (t->out.reads_pipe && !is_own);

	return is_its && e->as.time > t->since && e->as.time <= time &&
	       time - e->as.time < (t->out.joins ? JOIN_NS : EXIT_NS);
}

/* Return the last thread for whose exit T, which runs from TIME on, may have waited; or NULL. */
static const struct pairing_exited *find_joined(const struct pairing *p,
						const struct pairing_thread *t, uint64_t time)
{
	bool may = t->out.joins || t->out.sees_exits || t->out.reads_pipe;

	for (uint32_t i = 1; may && i <= PAIRING_EXITS; i++) {
		const struct pairing_exited *e = &p->exited[(p->exits - i) % PAIRING_EXITS];
		if (may_have_joined(t, e, time))
			return e;
	}
	return NULL;
}

/* The wait of T has ended, and T runs from TIME on. */
static void finish(struct pairing *p, uint32_t at, uint64_t time)
{
	struct pairing_thread *t = &p->thread[at];

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

/* T was interrupted, and runs from TIME on: it may go on to wait. */
static void begin_pause(struct pairing_thread *t, uint64_t time)
{
	if (!t->woken) {
		t->woken_at = time;
		t->by.time = 0;
	}
	t->paused_by = t->by;
	t->by.time = 0;
	t->woken = false;
	t->pauses = t->is_out = true;
	t->resumed = time;
}

/* T does not go on: its wait ended when it was interrupted. */
static void give_up(struct pairing *p, uint32_t at)
{
	struct pairing_thread *t = &p->thread[at];
	uint64_t ran = t->resumed > t->woken_at ? t->resumed : t->woken_at;
	struct pairing_wake last = t->by;	/* while it ran: it may be for the next wait */

	t->pauses = false;
	t->by = t->paused_by;
	if (t->by.time)
		end_by_wake(p, at, t->woken_at);
	finish(p, at, ran);
	p->thread[at].by = last;
}

bool pairing_expire(struct pairing *p, uint32_t at, uint64_t time)
{
	const struct pairing_thread *t = &p->thread[at];
	bool is_over = t->pauses && t->resumed && time >= t->resumed + PAUSE_NS;

	if (is_over)
		give_up(p, at);
	return is_over;
}

void pairing_runs(struct pairing *p, pid_t tid, uint64_t time)
{
	uint32_t at = pairing_find_thread(p, tid);
	struct pairing_thread *t = at == NONE ? NULL : &p->thread[at];

	if (!t || !t->waits)
		return;
	if (t->pauses) {
		t->resumed = t->resumed ? t->resumed : time;
		pairing_expire(p, at, time);
		return;
	}
	bool was_early = !t->woken && t->by.time && t->by.time + EARLY_NS >= t->piece &&
			 time < t->piece + LATE_NS;
	const struct pairing_exited *joined = t->woken ? NULL : find_joined(p, t, time);
	if (joined) {
		t->by = joined->as;
		t->out.rule = RULE_LAST;
		end_by_wake(p, at, joined->as.time);
	} else if (was_early) {
		t->out.rule = RULE_LAST;	/* it is not the end of a stretch of this wait */
		end_by_wake(p, at, t->piece);
	} else if (may_go_on(t, t->woken ? t->by.kind : ENDED_UNKNOWN)) {
		begin_pause(t, time);
		return;
	}
	finish(p, at, time);
}

/* Return whether T, which is interrupted, goes on to wait with OUT. */
static bool goes_on(const struct pairing_thread *t, const struct pairing_out *out)
{
	return out->lock.key == t->out.lock.key &&
	       (!t->resumed || out->time < t->resumed + PAUSE_NS);
}

void pairing_out(struct pairing *p, const struct pairing_out *out)
{
	uint32_t at = find_or_add(p, out->tid);

	if (p->oldest != NONE)
		pairing_expire(p, p->oldest, out->time);
	if (at == NONE) {
		p->refused += out->tid > 0;
		return;
	}
	struct pairing_thread *t = &p->thread[at];
	if (t->exited)
		return;		/* its last switch out */
	if (t->waits && !t->woken && !t->pauses && out->lock.key &&
	    out->lock.key == t->out.lock.key)
		return;		/* it was looked at again, as at the start of the next file */
	if (t->waits && !t->pauses)
		pairing_runs(p, out->tid, out->time);
	if (t->pauses && goes_on(t, out)) {
		t->pauses = t->is_out = false;
		t->went_on = true;
		t->piece = out->time;
		return;
	}
	if (t->pauses)
		give_up(p, at);
	t->out = *out;
	t->since = t->piece = out->time;
	t->woken = t->is_out = false;
	if (may_be_own(out))
		own_words_wait(&p->own, out->lock.key, out->tid);
	enter(p, at);
}

void pairing_switched(struct pairing *p, pid_t tid, uint64_t time, bool preempted)
{
	uint32_t at = pairing_find_thread(p, tid);
	struct pairing_thread *t = at == NONE ? NULL : &p->thread[at];

	if (!t || !t->waits || t->is_out)
		return;
	t->is_out = true;
	if (preempted && t->went_on) {
		t->pauses = true;
		t->resumed = 0;
	} else if (preempted) {
		leave(p, at);
	} else if (time > t->piece && !t->woken) {
		t->piece = time;
		if (t->went_on)
			return;
		queue_leave(p, at);	/* wakes before that are not during the wait */
		t->since = time;
		queue_enter(p, at);
	}
}

void pairing_sampled(struct pairing *p, pid_t tid, uint64_t time)
{
	uint32_t at = pairing_find_thread(p, tid);
	const struct pairing_thread *t = at == NONE ? NULL : &p->thread[at];

	if (t && (t->woken || time >= t->piece + SWITCH_NS))
		pairing_runs(p, tid, time);
}

/* Begin with TID anew: it does not wait.  Return it; NONE: there are too many. */
static uint32_t restart(struct pairing *p, pid_t tid)
{
	uint32_t at = find_or_add(p, tid);

	if (at == NONE)
		return NONE;
	if (p->thread[at].pauses)
		give_up(p, at);
	else if (p->thread[at].waits)
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
	if (p->thread[at].pauses)
		give_up(p, at);
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

/* The stream ends at TIME, while T waits. */
static void cut(struct pairing *p, uint32_t at, uint64_t time)
{
	struct pairing_thread *t = &p->thread[at];

	if (t->woken && may_go_on(t, t->by.kind))
		end_by_wake(p, at, t->woken_at);
	if (t->woken)
		add_scheduler(p, t, time);
	else
		end_unseen(p, at, time, true);
	leave(p, at);
}

void pairing_end(struct pairing *p, uint64_t time)
{
	while (p->oldest != NONE) {
		uint32_t at = p->oldest;
		if (p->thread[at].pauses)
			give_up(p, at);
		else
			cut(p, at, time);
	}
}

void pairing_relabel(struct pairing *p, const uint32_t *moved)
{
	delays_relabel(&p->delays, moved);
	for (uint32_t i = 0; i < p->threads; i++) {
		struct pairing_thread *t = &p->thread[i];
		t->out.at.labels = t->waits ? moved[t->out.at.labels] : 0;
		t->by.at.labels = t->by.time ? moved[t->by.at.labels] : 0;
		if (t->paused_by.time && (t->pauses || t->went_on))
			t->paused_by.at.labels = moved[t->paused_by.at.labels];
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
	own_words_release(&p->own);
	*p = (struct pairing){ .mode = PAIRING_NONE };
}
