/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node is a frame of a thread and its caller.  There are two generations of nodes: a new stack
 * goes into the young one, and when that is full, the old one is discarded and the young one
 * becomes the old one.  A node's caller is always in the node's own generation.
 *
 * The nodes of a thread have a serial number in place of the tid, which is used again.  A thread
 * that ends gets a new one.
 */
#include "unwind/joiner.h"
#include "unwind/internal.h"

enum {
	NODES_MAX = 1 << 15,	/* of a generation */
	LAST_MAX = 256,		/* frames of the last stack whose nodes are remembered */
	CALLER_UNKNOWN = 0,	/* in node.caller */
};
#define CALLER_NONE UINT32_MAX	/* the frame is the start of the thread */
#define EXACT (1ULL << 63)	/* in node.pc: frame.is_exact */

struct node {
	uint64_t pc, sp;
	uint32_t serial;	/* of the thread */
	uint32_t caller;	/* index of the caller's node + 1, or CALLER_* */
};

struct generation {
	struct node node[NODES_MAX];
	uint32_t count;
	struct table table;	/* over NODE */
};

struct joiner {
	struct generation *young, *old;
	/*
	 * The nodes in YOUNG of the last stack, from the start of its thread on.  The next stack
	 * often has the same, so most frames need no lookup.
	 */
	uint32_t last[LAST_MAX];
	struct table threads;	/* over THREAD, by tid */
	struct thread {
		pid_t tid;
		uint32_t serial;
	} *thread;
	uint32_t count;
	uint32_t serials;	/* the last serial number */
};

struct joiner *joiner_new(void)
{
	struct joiner *j = mem_zeroed(1, sizeof(*j));

	j->young = mem_zeroed(1, sizeof(*j->young));
	j->old = mem_zeroed(1, sizeof(*j->old));
	return j;
}

static uint32_t find_thread(const struct joiner *j, pid_t tid)
{
	return TABLE_FIND(&j->threads, hash_u64((uint32_t)tid), i, j->thread[i].tid == tid);
}

/* Return the serial number of thread TID. */
static uint32_t serial_of(struct joiner *j, pid_t tid)
{
	uint32_t id = find_thread(j, tid);

	if (id == TABLE_NONE) {
		id = j->count++;
		j->thread = array_grow(j->thread, id, sizeof(*j->thread));
		j->thread[id] = (struct thread){ tid, ++j->serials };
		table_add(&j->threads, hash_u64((uint32_t)tid), id);
	}
	return j->thread[id].serial;
}

static uint64_t hash_of(const struct frame *f, uint32_t serial)
{
	return hash_more(hash_more(f->pc, f->sp), serial);
}

static struct node *find_node(struct generation *g, const struct frame *f, uint32_t serial)
{
	struct table_probe probe = table_probe(&g->table, hash_of(f, serial));
	uint64_t pc = f->pc | (f->is_exact ? EXACT : 0);
	uint32_t id;

	while ((id = table_next(&g->table, &probe)) != TABLE_NONE) {
		struct node *n = &g->node[id];
		if (n->pc == pc && n->sp == f->sp && n->serial == serial)
			return n;
	}
	return NULL;
}

static uint32_t extend_from(struct generation *g, uint32_t serial, struct frame *frame,
			    uint32_t frames, uint32_t frames_max, bool *is_whole)
{
	struct node *n = find_node(g, &frame[frames - 1], serial);
	const struct node *before = find_node(g, &frame[frames - 2], serial);

	if (!n || !before || before->caller != (uint32_t)(n - g->node) + 1)
		return frames;
	while (n->caller != CALLER_UNKNOWN && n->caller != CALLER_NONE && frames < frames_max) {
		n = &g->node[n->caller - 1];
		frame[frames++] = (struct frame){ n->pc & ~EXACT, n->sp, n->pc & EXACT };
	}
	*is_whole = n->caller == CALLER_NONE;
	return frames;
}

uint32_t joiner_extend(struct joiner *j, pid_t tid, struct frame *frame, uint32_t frames,
		       uint32_t frames_max, bool *is_whole)
{
	uint32_t serial = serial_of(j, tid), more = frames;

	*is_whole = false;
	if (frames < 2)
		return frames;
	more = extend_from(j->young, serial, frame, frames, frames_max, is_whole);
	if (more == frames)
		more = extend_from(j->old, serial, frame, frames, frames_max, is_whole);
	return more;
}

/* Return the node in the young generation of F, at place FROM_START in its stack; it is made. */
static struct node *young_node(struct joiner *j, const struct frame *f, uint32_t serial,
			       uint32_t from_start)
{
	struct generation *g = j->young;
	uint64_t pc = f->pc | (f->is_exact ? EXACT : 0);
	uint32_t *last = &j->last[from_start % LAST_MAX];
	struct node *n = &g->node[*last];

	if (*last < g->count && n->pc == pc && n->sp == f->sp && n->serial == serial)
		return n;
	n = find_node(g, f, serial);
	if (!n) {
		n = &g->node[g->count];
		*n = (struct node){ pc, f->sp, serial, CALLER_UNKNOWN };
		table_add(&g->table, hash_of(f, serial), g->count++);
	}
	*last = (uint32_t)(n - g->node);
	return n;
}

/* Make the young generation the old one, and start with an empty one. */
static void age(struct joiner *j)
{
	struct generation *old = j->old;

	j->old = j->young;
	j->young = old;
	old->count = 0;
	table_release(&old->table);
}

void joiner_add(struct joiner *j, pid_t tid, const struct frame *frame, uint32_t frames,
		bool is_whole)
{
	uint32_t serial = serial_of(j, tid), caller = is_whole ? CALLER_NONE : CALLER_UNKNOWN;

	if (frames > NODES_MAX)
		return;
	if (j->young->count + frames > NODES_MAX)
		age(j);
	struct generation *g = j->young;
	for (uint32_t i = frames; i-- > 1; ) {	/* the leaf is nobody's caller */
		struct node *n = young_node(j, &frame[i], serial, frames - 1 - i);
		if (caller != CALLER_UNKNOWN)
			n->caller = caller;
		caller = (uint32_t)(n - g->node) + 1;
	}
}

void joiner_end(struct joiner *j, pid_t tid)
{
	uint32_t id = find_thread(j, tid);

	if (id != TABLE_NONE)
		j->thread[id].serial = ++j->serials;
}

void joiner_forget(struct joiner *j, pid_t tid)
{
	uint32_t id = find_thread(j, tid);

	if (id == TABLE_NONE)
		return;
	table_remove(&j->threads, hash_u64((uint32_t)tid), id);
	uint32_t last = --j->count;
	if (id == last)
		return;
	table_remove(&j->threads, hash_u64((uint32_t)j->thread[last].tid), last);
	j->thread[id] = j->thread[last];
	table_add(&j->threads, hash_u64((uint32_t)j->thread[id].tid), id);
}

void joiner_free(struct joiner *j)
{
	if (!j)
		return;
	table_release(&j->young->table);
	table_release(&j->old->table);
	table_release(&j->threads);
	free(j->young);
	free(j->old);
	free(j->thread);
	free(j);
}
