/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node is a frame of a thread and its caller.  A frame that was seen with several callers has
 * several nodes, so from any node on, the callers are those of one stack that was seen.
 *
 * A cut stack is joined to a node if that may be the same call of the function:
 *	- it was seen in one of the thread's last AGE_MAX stacks;
 *	- the registers that the cut stack's last function keeps for its caller, as far as they
 *	  are in the dump, have not changed: they cannot, while it is the same call; and
 *	- there is some evidence for it: one of these registers has a value that the callee did
 *	  not have, so it is this caller's own; or the words of the stack are the same.
 * Of several nodes, the one with most evidence counts, and of these the one seen last.
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
	THREADS_MAX = NODES_MAX,
	LAST_MAX = 256,		/* frames of the last stack whose nodes are remembered */
	AGE_MAX = 32,		/* stacks of a thread; what was seen before them is too old */
	CALLER_UNKNOWN = 0,	/* in node.caller */
};
#define CALLER_NONE UINT32_MAX	/* the frame is the start of the thread */
#define EXACT (1ULL << 63)	/* in node.pc: frame.is_exact */

struct node {
	uint64_t pc, sp;
	uint32_t serial;	/* of the thread */
	uint32_t caller;	/* index of the caller's node + 1, or CALLER_* */
	uint32_t stack;		/* number of the thread's last stack with this node */
	uint32_t words;		/* of that stack, as in struct frame */
	uint16_t kept[MACHINE_KEPT];
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
		uint32_t stacks;	/* that were remembered */
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

/*
 * Return the thread TID, until the next call.  If there are too many, all others are forgotten: a
 * stream may have threads without FORK and EXIT.  The nodes of most are gone by then.
 */
static struct thread *thread_of(struct joiner *j, pid_t tid)
{
	uint32_t id = find_thread(j, tid);

	if (id == TABLE_NONE && j->count == THREADS_MAX) {
		table_release(&j->threads);
		j->count = 0;
	}
	if (id == TABLE_NONE) {
		id = j->count++;
		j->thread = array_grow(j->thread, id, sizeof(*j->thread));
		j->thread[id] = (struct thread){ .tid = tid, .serial = ++j->serials };
		table_add(&j->threads, hash_u64((uint32_t)tid), id);
	}
	return &j->thread[id];
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

/* Return whether F is the frame of node N. */
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

enum { DIFFERENT, UNKNOWN, SAME, SAME_CALL };

/*
 * Compare the registers of a frame in an earlier stack and NOW.  CALLEE has those of the frame's
 * callee now.
 */
static int compare(const uint16_t *earlier, const uint16_t *now, const uint16_t *callee)
{
	int result = UNKNOWN;

	for (int i = 0; i < MACHINE_KEPT; i++) {
		if (!earlier[i] || !now[i])
			continue;
		if (earlier[i] != now[i])
			return DIFFERENT;
		if (now[i] % 2 == 0 && now[i] != callee[i])
			result = SAME_CALL;
		else if (result == UNKNOWN)
			result = SAME;
	}
	return result;
}

static bool has_words(const struct node *n, const struct frame *f)
{
	return n->words && n->words == f->words;
}

/*
 * Return how strong the evidence is that N and its callee BELOW are the calls of the cut stack's
 * last two frames, of which LAST is the last; 0: too weak.  CALLER: what is known about its
 * caller.
 */
static int evidence(const struct generation *g, const struct node *below, const struct node *n,
		    const struct frame *last, const struct frame *caller)
{
	const struct node *next = &g->node[n->caller - 1];
	int callers = UNKNOWN, registers = compare(n->kept, last->kept, last[-1].kept);
	int words = has_words(n, last) + has_words(below, &last[-1]);

	if (caller->sp)
		callers = next->sp == caller->sp ? compare(next->kept, caller->kept, last->kept)
						 : DIFFERENT;
	if (callers == DIFFERENT)
		return 0;
	if (callers != SAME_CALL && registers != SAME_CALL && !words)
		return 0;
	return 1 + words + (callers > UNKNOWN) + (registers > UNKNOWN);
}

/* Return whether N was seen in one of the last stacks of thread T. */
static bool is_recent(const struct node *n, const struct thread *t)
{
	return t->stacks - n->stack <= AGE_MAX;
}

/*
 * Return the node that the last of FRAMES frames has, or NULL; CALLER as in joiner_extend().  Set
 * *IS_NEW if G has nothing about that frame's callee.
 */
static const struct node *find_node(struct generation *g, const struct thread *t,
				    const struct frame *frame, uint32_t frames,
				    const struct frame *caller, bool *is_new)
{
	const struct frame *last = &frame[frames - 1];
	struct table_probe probe = table_probe(&g->table, hash_of(last - 1, t->serial));
	const struct node *below, *best = NULL;
	int nodes = 0, most = 0;

	while ((below = next_node(g, &probe, last - 1, t->serial)) != NULL) {
		const struct node *n = has_caller(below) ? &g->node[below->caller - 1] : NULL;
		nodes++;
		if (!n || !is_frame_of(n, last) || !has_caller(n) || !is_recent(n, t))
			continue;
		int found = evidence(g, below, n, last, caller);
		if (found < most || (found == most && best && n->stack < best->stack))
			continue;
		most = found;
		best = found ? n : NULL;
	}
	*is_new = nodes == 0;
	return nodes < NODES_OF_FRAME ? best : NULL;
}

uint32_t joiner_extend(struct joiner *j, pid_t tid, struct frame *frame, uint32_t frames,
		       const struct frame *caller, uint32_t frames_max, bool *is_whole)
{
	const struct thread *t = thread_of(j, tid);
	struct generation *g = j->young;
	const struct node *n;
	bool is_new;

	*is_whole = false;
	if (frames < 2)
		return frames;
	n = find_node(g, t, frame, frames, caller, &is_new);
	if (is_new) {
		g = j->old;
		n = find_node(g, t, frame, frames, caller, &is_new);
	}
	while (n && frames < frames_max && has_caller(n)) {
		struct frame *f = &frame[frames++];
		n = &g->node[n->caller - 1];
		*f = (struct frame){ .pc = n->pc & ~EXACT, .sp = n->sp, .words = n->words,
				     .is_exact = n->pc & EXACT };
		memcpy(f->kept, n->kept, sizeof(f->kept));
	}
	*is_whole = n && n->caller == CALLER_NONE;
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
	uint32_t caller = is_whole ? CALLER_NONE : CALLER_UNKNOWN;

	if (frames > NODES_MAX)
		return;
	if (j->young->count + frames > NODES_MAX)
		age(j);
	struct generation *g = j->young;
	struct thread *t = thread_of(j, tid);
	t->stacks++;
	for (uint32_t i = frames; i-- > 1; ) {	/* the leaf is nobody's caller */
		struct node *n = young_node(j, &frame[i], t->serial, caller, frames - 1 - i);
		if (!n)
			return;
		n->stack = t->stacks;
		n->words = frame[i].words;
		memcpy(n->kept, frame[i].kept, sizeof(n->kept));
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
