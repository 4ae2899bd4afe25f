/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node is a frame of a thread and its caller.  A frame that was seen with several callers has
 * several nodes, so from any node on, the callers are those of one stack that was seen.  Which
 * of several a cut stack has, its registers may say; else it is extended as far as they agree.
 *
 * There are two generations of nodes: a new stack goes into the young one, and when that is
 * full, the old one is discarded and the young one becomes the old one.  A node's caller is
 * always in the node's own generation.
 *
 * The nodes of a thread have a serial number in place of the tid, which is used again.  A thread
 * that ends gets a new one.
 */
#include "unwind/joiner.h"
#include "unwind/internal.h"

enum {
	NODES_MAX = 1 << 15,	/* of a generation */
	NODES_OF_FRAME = 16,	/* at most; a frame with so many is not joined */
	LAST_MAX = 256,		/* frames of the last stack whose nodes are remembered */
	OVERLAP = 3,		/* frames that a cut stack must share with an earlier one */
	CALLER_UNKNOWN = 0,	/* in node.caller */
};
#define CALLER_NONE UINT32_MAX	/* the frame is the start of the thread */
#define EXACT (1ULL << 63)	/* in node.pc: frame.is_exact */

struct node {
	uint64_t pc, sp;
	uint64_t registers;	/* as in struct frame, of the last stack with this node */
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

static bool has_caller(const struct node *n)
{
	return n->caller != CALLER_UNKNOWN && n->caller != CALLER_NONE;
}

static uint64_t hash_of(const struct frame *f, uint32_t serial)
{
	return hash_more(hash_more(f->pc, f->sp), serial);
}

static uint64_t pc_of(const struct frame *f)
{
	return f->pc | (f->is_exact ? EXACT : 0);
}

/* Whether F is the frame of node N. */
static bool is_frame_of(const struct node *n, const struct frame *f)
{
	return n->pc == pc_of(f) && n->sp == f->sp;
}

/* Return the next node of frame F among those that PROBE is at, or NULL. */
static struct node *next_node(struct generation *g, struct table_probe *probe,
			      const struct frame *f, uint32_t serial)
{
	uint32_t id;

	while ((id = table_next(&g->table, probe)) != TABLE_NONE) {
		struct node *n = &g->node[id];
		if (is_frame_of(n, f) && n->serial == serial)
			return n;
	}
	return NULL;
}

/* The callers that a cut stack may have. */
struct candidates {
	const struct node *node[NODES_OF_FRAME];	/* of its last frame */
	uint32_t count;
};

/* Return the node OVERLAP - 1 callers after N, if all of these are the OVERLAP frames at FRAME. */
static const struct node *follow(const struct generation *g, const struct node *n,
				 const struct frame *frame)
{
	for (int i = 1; i < OVERLAP; i++) {
		if (!has_caller(n))
			return NULL;
		n = &g->node[n->caller - 1];
		if (!is_frame_of(n, &frame[i]))
			return NULL;
	}
	return has_caller(n) ? n : NULL;
}

/*
 * Find the nodes of the last of FRAMES frames that had the same callees.  If some of them had the
 * same registers as now, only those; none if there are too many.  False: the frames are new.
 */
static bool find_candidates(struct generation *g, uint32_t serial, const struct frame *frame,
			    uint32_t frames, struct candidates *c)
{
	const struct frame *last = &frame[frames - 1], *first = &frame[frames - OVERLAP];
	struct table_probe probe = table_probe(&g->table, hash_of(first, serial));
	bool had_same = false;
	uint32_t nodes = 0;
	const struct node *n;

	c->count = 0;
	while (++nodes < NODES_OF_FRAME && (n = next_node(g, &probe, first, serial)) != NULL) {
		n = follow(g, n, first);
		bool is_same = n && n->registers == last->registers;
		if (!n || (had_same && !is_same))
			continue;
		if (is_same && !had_same)
			c->count = 0;
		had_same |= is_same;
		c->node[c->count++] = n;
	}
	if (nodes < NODES_OF_FRAME)
		return c->count > 0;
	c->count = 0;
	return true;
}

/* Replace the candidates by their callers.  False: not all have one, or these differ. */
static bool next_callers(const struct generation *g, struct candidates *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		if (!has_caller(c->node[i]))
			return false;
		c->node[i] = &g->node[c->node[i]->caller - 1];
		if (c->node[i]->pc != c->node[0]->pc || c->node[i]->sp != c->node[0]->sp)
			return false;
	}
	return c->count > 0;
}

uint32_t joiner_extend(struct joiner *j, pid_t tid, struct frame *frame, uint32_t frames,
		       uint32_t frames_max, bool *is_whole)
{
	struct generation *g = j->young;
	uint32_t serial = serial_of(j, tid);
	struct candidates c;

	*is_whole = false;
	if (frames < OVERLAP)
		return frames;
	if (!find_candidates(g, serial, frame, frames, &c)) {
		g = j->old;
		find_candidates(g, serial, frame, frames, &c);
	}
	while (frames < frames_max && next_callers(g, &c)) {
		const struct node *n = c.node[0];
		frame[frames++] = (struct frame){ n->pc & ~EXACT, n->sp, n->registers,
						  n->pc & EXACT };
		*is_whole = c.count == 1 && n->caller == CALLER_NONE;
	}
	return frames;
}

/*
 * Return the node in the young generation of F with CALLER, at place FROM_START in its stack; it
 * is made.  NULL: the frame has too many callers.
 */
static struct node *young_node(struct joiner *j, const struct frame *f, uint32_t serial,
			       uint32_t caller, uint32_t from_start)
{
	struct generation *g = j->young;
	uint32_t *last = &j->last[from_start % LAST_MAX];
	struct node *n = &g->node[*last];
	int others = 0;

	if (*last < g->count && is_frame_of(n, f) && n->serial == serial && n->caller == caller)
		return n;
	struct table_probe probe = table_probe(&g->table, hash_of(f, serial));
	while ((n = next_node(g, &probe, f, serial)) != NULL && n->caller != caller)
		if (++others == NODES_OF_FRAME)
			return NULL;
	if (!n) {
		n = &g->node[g->count];
		*n = (struct node){ .pc = pc_of(f), .sp = f->sp, .serial = serial,
				    .caller = caller };
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
		struct node *n = young_node(j, &frame[i], serial, caller, frames - 1 - i);
		if (!n)
			return;
		n->registers = frame[i].registers;
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
