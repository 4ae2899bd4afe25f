/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way of most samples.  What a sample's thread is (its name, its labels, the version of
 * its address space) stays the same until another record comes.  So if the thread had a sample
 * since the last one, and a sample had the same stack before, only the stack is looked up.  All
 * others go the long way, in collect.c, with the same result.
 */
#include "aggregate/collect-internal.h"
#include "base/short-ways.h"

enum { THREADS = 64 };	/* a power of two */

/* A thread that had a sample of an event. */
struct collect_thread {
	uint64_t changes;	/* value of c->changes at that time: all fields are valid while it
				   is the same */
	uint64_t version;	/* of all its samples: resolver_version() */
	pid_t pid, tid;
	uint32_t event;
	uint32_t labels;	/* their set of labels; TABLE_NONE: none was counted yet */
	bool follows;		/* resolver_follows() */
	uint64_t slice;		/* of LABELS, if there are slices */
};

void collect_begin_threads(struct collect *c)
{
	const struct collect_options *how = &c->how;

	if (!c->thread)
		c->thread = mem_zeroed(THREADS, sizeof(*c->thread));
	collect_forget_threads(c);
	c->knows = SHORT_WAYS && !c->selects && !how->latency && !how->parallelism &&
		   !how->wall && how->split == SPLIT_NOT && !how->data_frames &&
		   !how->resolve.symbols && !c->unwind && labeler_is_by_thread(&c->labeler);
}

/* Return whether T is of the thread and event of A, and still valid. */
static inline bool is_known(const struct collect *c, const struct collect_thread *t,
			    const struct collect_ahead *a)
{
	return t->changes == c->changes && t->tid == a->plain.tid && t->pid == a->plain.pid &&
	       t->event == a->event;
}

/* Fill T for the thread and event of A.  Return false if each of its samples may differ. */
static bool look_up(struct collect *c, struct collect_thread *t, const struct collect_ahead *a)
{
	uint64_t version;

	if (events_sample_waits(c->events, a->event) ||
	    !resolver_process_version(c->resolver, a->plain.pid, &version))
		return false;
	*t = (struct collect_thread){
		.changes = c->changes, .version = version, .pid = a->plain.pid,
		.tid = a->plain.tid, .event = a->event, .labels = TABLE_NONE,
		.follows = resolver_follows(c->resolver, c->in, a->event) };
	return true;
}

bool collect_read_known(struct collect *c, struct collect_ahead *a)
{
	const struct stream_events *events = c->events;

	if (!c->knows || events->has_labels || events->reads_groups)
		return false;
	a->event = events->count == 1 ? 0 : events_of_sample(events, a->rec.body);
	if (a->event == TABLE_NONE ||
	    !sample_decode_plain(&events->event[a->event], &a->rec, &a->plain) ||
	    a->plain.time != stream_possible_time(c->in, a->plain.time))
		return false;
	struct collect_thread *t = &c->thread[((uint32_t)a->plain.tid + a->event) % THREADS];
	if (!is_known(c, t, a) && !look_up(c, t, a))
		return false;
	a->thread = t;
	a->has_key = true;
	collect_make_key(a, a->thread->version, a->plain.ip, &a->plain.callchain);
	return true;
}

/* Return whether there are intervals, and the current one ends before TIME or has not begun. */
static bool ends_interval(const struct collect *c, uint64_t time)
{
	return c->how.interval && time && (!c->interval_end || time >= c->interval_end);
}

/* Return whether a sample of thread T at TIME has T's slice, which is known to be in use. */
static inline bool is_in_slice(const struct collect *c, const struct collect_thread *t,
			       uint64_t time)
{
	const struct slices *s = &c->labeler.slices;

	return s->most == 0 || (time > s->start && s->span && time / s->span == t->slice);
}

/* Return whether P may get another stack. */
static bool has_room(const struct collect *c, const struct profile *p)
{
	uint64_t most = c->how.max_stacks ? c->how.max_stacks : CHAINS_MAX;

	return p->stacks.count < most && c->events->count <= MANY_EVENTS;
}

bool collect_count_known(struct collect *c, struct collect_ahead *a)
{
	const struct collect_thread *t = a->thread;
	const struct sample_plain *s = &a->plain;

	if (!t || !is_known(c, t, a) || t->labels == TABLE_NONE || c->subjects == 0 ||
	    ends_interval(c, s->time) || !is_in_slice(c, t, s->time))
		return false;
	struct profile *p = &c->subject[0].profile;	/* of all samples: SPLIT_NOT */
	struct chain_entry *chain = has_room(c, p) ? chains_find(&p->chains, a->key, &a->entry)
						   : NULL;
	if (!chain)
		return false;
	c->samples++;
	c->several_processes |= s->pid != c->first_pid;
	collect_time(c, s->time);
	profile_add(p, chain, t->labels, a->event, s->period, s->time);
	resolver_count_end(c->resolver, chain->end, t->follows);
	return true;
}

void collect_know_labels(struct collect *c, struct collect_ahead *a, uint32_t labels)
{
	const struct slices *s = &c->labeler.slices;

	if (!is_known(c, a->thread, a))
		return;
	a->thread->labels = labels;
	a->thread->slice = s->span ? a->plain.time / s->span : 0;
}
