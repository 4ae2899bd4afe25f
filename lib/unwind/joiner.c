/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node is a frame of a thread and its caller.  A frame that was seen with several callers has
 * several nodes, so from any node on, the callers are those of one stack that was seen.
 *
 * A cut stack is joined to a node of its last frame if something shows that this is still the same
 * call.  A call's callers stay the same as long as it runs, so any frame will do that has a node
 * below that one, as long as all frames between have one:
 *	- a register that functions keep for their callers has the value that it had; the frame's
 *	  callee had another value, and so had the last frame's caller: one of the functions
 *	  between has set it; or
 *	- the words of the stack are the same as in one of the thread's last AGE_MAX stacks.
 * Without a node below, a register shows it only if the node is usual, see below.
 *
 * A later copy that has the caller's place without the caller shows that it is another call: the
 * function has returned since then.  So does another value of a register in a frame above the one
 * with the evidence: a function that waits for another keeps its registers.  Loops call the same
 * functions again, often from the same callers, so such a node still counts if it is usual: it was
 * in USUAL copies, one of them in the last AGE_MAX stacks.  The registers that the last function
 * keeps for its caller, as far as they are in the dump, must not have changed.
 *
 * If several nodes fit, the one that leads farthest counts, as far as all nodes of the frame have
 * the same callers, also those that do not fit.  The stack may then end where an earlier stack was
 * cut, and is joined again, as that one would be.
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
	THREADS_MAX = NODES_MAX / 2,
	LAST_MAX = 256,		/* frames of the last stack whose nodes are remembered */
	AGE_MAX = 32,		/* stacks of a thread; words that were seen before are too old */
	BELOW_MAX = 32,		/* frames that are compared */
	CALLERS_MAX = 256,	/* the same, of the callers of two nodes */
	JOINS_MAX = 16,		/* earlier stacks, one after another */
	SIGHTS = 48,		/* of a thread */
	SEEN_LEAST = 2,		/* copies with a frame and its callers before these count */
	USUAL = 8,		/* the same, if it seems to be another call */
	CALLER_UNKNOWN = 0,	/* in node.caller */
};
#define CALLER_NONE UINT32_MAX	/* the frame is the start of the thread */
#define EXACT (1ULL << 63)	/* in node.pc: frame.is_exact */

struct node {
	uint64_t pc, sp;
	uint32_t serial;	/* of the thread */
	uint32_t caller;	/* index of the caller's node + 1, or CALLER_* */
	uint32_t stack;		/* number of the thread's last stack whose copy had this node */
	uint32_t seen;		/* number of the stacks whose copy had it */
	uint32_t words;		/* of that stack, as in struct frame */
	uint32_t callers;	/* number of the frames from here to the stack's end */
	bool is_whole;		/* the last of these is the start of the thread */
	uint16_t kept[MACHINE_KEPT];
};

/* All frames up to the stack pointer SP were in the copy of the thread's stack number STACK. */
struct sight {
	uint64_t sp;
	uint32_t stack;
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
		/*
		 * The last stacks, without those after which one was seen to a higher stack
		 * pointer: so the stack pointers descend.
		 */
		struct sight sight[SIGHTS];
		uint32_t sights;
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

/* Make room in T's sights: take two of nearly the same stack pointer together. */
static void merge_sights(struct thread *t)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < t->sights - 1; i++)
		if (t->sight[i].sp - t->sight[i + 1].sp < t->sight[best].sp - t->sight[best + 1].sp)
			best = i;
	t->sight[best].stack = t->sight[best + 1].stack;
	t->sights--;
	memmove(&t->sight[best + 1], &t->sight[best + 2],
		(t->sights - best - 1) * sizeof(t->sight[0]));
}

/* T's last stack was seen up to the stack pointer SP. */
static void add_sight(struct thread *t, uint64_t sp)
{
	while (t->sights && t->sight[t->sights - 1].sp <= sp)
		t->sights--;
	if (t->sights == SIGHTS)
		merge_sights(t);
	t->sight[t->sights++] = (struct sight){ sp, t->stacks };
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

/* Return whether A of the generation G and B of OTHER have the same callers, as far as both go. */
static bool have_same_callers(const struct generation *g, const struct node *a,
			      const struct generation *other, const struct node *b)
{
	for (int i = 0; i < CALLERS_MAX; i++) {
		if (a == b || !has_caller(a) || !has_caller(b))
			return true;
		a = &g->node[a->caller - 1];
		b = &other->node[b->caller - 1];
		if (a->pc != b->pc || a->sp != b->sp)
			return false;
	}
	return a == b;
}

/* Return whether a stack of T after its stack number STACK had the place of N in its copy. */
static bool is_seen_after(const struct thread *t, const struct node *n, uint32_t stack)
{
	for (uint32_t i = 0; i < t->sights; i++)
		if (t->sight[i].stack > stack)
			return t->sight[i].sp >= n->sp;
	return false;
}

/*
 * Return whether the place of N, which is in G, was in the copy of a later stack of T than N's
 * frame with its callers, so that N's function has returned since, or called another one.
 */
static bool has_returned(struct joiner *j, const struct generation *g, const struct thread *t,
			 const struct node *n)
{
	const struct frame f = { .pc = n->pc & ~EXACT, .sp = n->sp, .is_exact = n->pc & EXACT };
	struct generation *both[] = { j->young, j->old };
	uint32_t last = n->stack;
	const struct node *like;

	if (!is_seen_after(t, n, last))
		return false;
	for (int i = 0; i < 2; i++) {
		struct table_probe probe = table_probe(&both[i]->table, hash_of(&f, t->serial));
		while ((like = next_node(both[i], &probe, &f, t->serial)) != NULL)
			if (like->stack > last && have_same_callers(g, n, both[i], like))
				last = like->stack;
	}
	return is_seen_after(t, n, last);
}

enum { DIFFERENT, UNKNOWN, SAME, SAME_CALL };

/*
 * Compare the registers of a frame in an earlier stack and NOW.  CALLEE has those of the frame's
 * callee now; CALLER those that the caller of the last frame had in the earlier stack.  A register
 * that has the same value there was set by that caller, or above it, and says nothing about the
 * calls below.
 */
static int compare(const uint16_t *earlier, const uint16_t *now, const uint16_t *callee,
		   const uint16_t *caller)
{
	int result = UNKNOWN;

	for (int i = 0; i < MACHINE_KEPT; i++) {
		if (!earlier[i] || !now[i])
			continue;
		if (earlier[i] != now[i])
			return DIFFERENT;
		if (now[i] % 2 == 0 && now[i] != callee[i] && caller[i] && now[i] != caller[i])
			result = SAME_CALL;
		else if (result == UNKNOWN)
			result = SAME;
	}
	return result;
}

/* Return whether N was seen in one of the last stacks of thread T. */
static bool is_recent(const struct node *n, const struct thread *t)
{
	return t->stacks - n->stack <= AGE_MAX;
}

/* Return the node of frame F that N called, or NULL. */
static const struct node *find_callee(struct generation *g, const struct thread *t,
				      const struct frame *f, const struct node *n)
{
	struct table_probe probe = table_probe(&g->table, hash_of(f, t->serial));
	uint32_t caller = (uint32_t)(n - g->node) + 1;
	const struct node *callee;

	while ((callee = next_node(g, &probe, f, t->serial)) != NULL && callee->caller != caller)
		;
	return callee;
}

/* What shows that a frame is the call of a node. */
enum evidence {
	EVIDENCE_NONE,
	EVIDENCE_USUAL,		/* it is another call, but the callers may be the usual ones */
	EVIDENCE_SAME,
};

/*
 * Return whether FRAME[I], which was called by the caller of N, or one of the frames below it is
 * the call that N was, as it seems.
 */
static enum evidence has_same_call(struct generation *g, const struct thread *t,
				   const struct node *n, const struct frame *frame, uint32_t i)
{
	const uint16_t *caller = g->node[n->caller - 1].kept;
	enum evidence most = EVIDENCE_SAME;
	uint32_t least = i > BELOW_MAX ? i - BELOW_MAX : 0;

	for (; n && i > least; i--) {
		const struct frame *f = &frame[i];
		int registers = compare(n->kept, f->kept, f[-1].kept, caller);
		if (registers == SAME_CALL ||
		    (n->words && n->words == f->words && is_recent(n, t)))
			return most;
		if (registers == DIFFERENT)
			most = EVIDENCE_USUAL;
		n = i > 1 ? find_callee(g, t, f - 1, n) : NULL;	/* the leaf has no node */
	}
	return EVIDENCE_NONE;
}

/*
 * Return what shows that the last of FRAMES frames is the call of N.  CALLER: what is known about
 * its caller.
 */
static enum evidence find_evidence(struct joiner *j, struct generation *g,
				   const struct thread *t, const struct node *n,
				   const struct frame *frame, uint32_t frames,
				   const struct frame *caller)
{
	const struct node *next = &g->node[n->caller - 1];
	const struct frame *last = &frame[frames - 1];
	bool is_other = has_returned(j, g, t, next);

	if (caller->sp && (next->sp != caller->sp || compare(next->kept, caller->kept, last->kept,
							     next->kept) == DIFFERENT))
		return EVIDENCE_NONE;
	enum evidence evidence = EVIDENCE_NONE;
	if (frames >= 3 && find_callee(g, t, last - 1, n))
		evidence = has_same_call(g, t, n, frame, frames - 1);
	else if (!is_other && n->seen >= USUAL && compare(n->kept, last->kept, last[-1].kept,
							  next->kept) == SAME_CALL)
		evidence = EVIDENCE_SAME;
	if (evidence == EVIDENCE_NONE || n->seen < SEEN_LEAST)
		return EVIDENCE_NONE;
	if (evidence == EVIDENCE_SAME && !is_other)
		return evidence;
	return n->seen >= USUAL && is_recent(n, t) ? EVIDENCE_USUAL : EVIDENCE_NONE;
}

/* Return whether A leads to the start of the thread and B does not, or A to more callers. */
static bool leads_farther(const struct node *a, const struct node *b)
{
	return !b || a->is_whole > b->is_whole ||
	       (a->is_whole == b->is_whole && a->callers > b->callers);
}

/*
 * Return how many callers A of the generation G and B of OTHER have in common before they differ;
 * if one ends first, LEAST.
 */
static uint32_t count_common(const struct generation *g, const struct node *a,
			     const struct generation *other, const struct node *b, uint32_t least)
{
	for (uint32_t count = 0; count < least && has_caller(a) && has_caller(b); count++) {
		a = &g->node[a->caller - 1];
		b = &other->node[b->caller - 1];
		if (a == b)
			break;
		if (a->pc != b->pc || a->sp != b->sp)
			return count;
	}
	return least;
}

/* Return how many callers of frame F, which N of G has, all nodes of F have in common. */
static uint32_t count_sure(struct joiner *j, const struct generation *g, const struct thread *t,
			   const struct node *n, const struct frame *f)
{
	struct generation *both[] = { j->young, j->old };
	uint32_t common = n->callers;
	const struct node *other;

	for (int i = 0; i < 2; i++) {
		struct table_probe probe = table_probe(&both[i]->table, hash_of(f, t->serial));
		while ((other = next_node(both[i], &probe, f, t->serial)) != NULL)
			common = count_common(g, n, both[i], other, common);
	}
	return common;
}

/*
 * Return the node that the last of FRAMES frames has, or NULL; CALLER as in joiner_extend().  Set
 * *COMMON to the number of its callers that all nodes have that may be it.
 */
static const struct node *find_node(struct joiner *j, struct generation *g, const struct thread *t,
				    const struct frame *frame, uint32_t frames,
				    const struct frame *caller, uint32_t *common)
{
	const struct frame *last = &frame[frames - 1];
	struct table_probe probe = table_probe(&g->table, hash_of(last, t->serial));
	const struct node *n, *best = NULL;
	enum evidence most = EVIDENCE_USUAL;
	uint32_t nodes = 0;

	while ((n = next_node(g, &probe, last, t->serial)) != NULL && nodes++ < NODES_OF_FRAME) {
		enum evidence evidence = has_caller(n)
			? find_evidence(j, g, t, n, frame, frames, caller) : EVIDENCE_NONE;
		if (evidence < most)
			continue;
		if (evidence > most)
			best = NULL;
		most = evidence;
		if (leads_farther(n, best))
			best = n;
	}
	if (nodes >= NODES_OF_FRAME || !best)
		return NULL;
	*common = count_sure(j, g, t, best, last);
	return best;
}

/* Extend the frames once, by the callers of one earlier stack.  Return how many there are then. */
static uint32_t extend_once(struct joiner *j, const struct thread *t, struct frame *frame,
			    uint32_t frames, const struct frame *caller, uint32_t frames_max,
			    bool *is_whole)
{
	struct generation *g = j->young;
	uint32_t common = 0;
	const struct node *n = find_node(j, g, t, frame, frames, caller, &common);

	if (!n) {
		g = j->old;
		n = find_node(j, g, t, frame, frames, caller, &common);
	}
	while (n && frames < frames_max && common-- > 0) {
		struct frame *f = &frame[frames++];
		n = &g->node[n->caller - 1];
		*f = (struct frame){ .pc = n->pc & ~EXACT, .sp = n->sp, .words = n->words,
				     .is_exact = n->pc & EXACT };
		memcpy(f->kept, n->kept, sizeof(f->kept));
	}
	*is_whole = n && n->caller == CALLER_NONE;
	return frames;
}

uint32_t joiner_extend(struct joiner *j, pid_t tid, struct frame *frame, uint32_t frames,
		       const struct frame *caller, uint32_t frames_max, bool *is_whole)
{
	const struct frame unknown = { 0 };
	const struct thread *t = thread_of(j, tid);
	uint32_t before = 0;

	*is_whole = false;
	for (int i = 0; i < JOINS_MAX && frames > before && frames >= 2 && !*is_whole; i++) {
		before = frames;
		frames = extend_once(j, t, frame, frames, i ? &unknown : caller, frames_max,
				     is_whole);
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
				    .caller = caller, .is_whole = caller == CALLER_NONE };
		if (has_caller(n)) {
			n->callers = g->node[caller - 1].callers + 1;
			n->is_whole = g->node[caller - 1].is_whole;
		}
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
		uint32_t copied, bool is_whole)
{
	uint32_t caller = is_whole ? CALLER_NONE : CALLER_UNKNOWN;

	if (frames > NODES_MAX)
		return;
	if (j->young->count + frames > NODES_MAX)
		age(j);
	struct generation *g = j->young;
	struct thread *t = thread_of(j, tid);
	t->stacks++;
	if (copied)
		add_sight(t, frame[copied - 1].sp);
	for (uint32_t i = frames; i-- > 1; ) {	/* the leaf is nobody's caller */
		struct node *n = young_node(j, &frame[i], t->serial, caller, frames - 1 - i);
		if (!n)
			return;
		if (i < copied) {
			n->stack = t->stacks;
			n->seen++;
			n->words = frame[i].words;
			memcpy(n->kept, frame[i].kept, sizeof(n->kept));
		}
		caller = (uint32_t)(n - g->node) + 1;
	}
}

void joiner_end(struct joiner *j, pid_t tid)
{
	uint32_t id = find_thread(j, tid);

	if (id == TABLE_NONE)
		return;
	j->thread[id].serial = ++j->serials;
	j->thread[id].sights = 0;
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
