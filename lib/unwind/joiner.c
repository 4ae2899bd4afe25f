/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Earlier stacks are kept as nodes: a node is a frame with its callers (generation.h).  A join has
 * two steps.
 *
 * 1. Find a node of the cut stack's last frame: find_node().
 *
 * Frames at the same addresses may belong to another call of the same functions.  So a node needs
 * evidence that the call which it was is still running.  A running call keeps its callers, so a
 * frame below the last one may have the evidence, if its node leads to the last frame's node.  This
 * is evidence:
 *	- A register that functions keep for their callers has its earlier value.  The frame's
 *	  callee has another value, and the last frame's caller had another one.  So a function
 *	  between these two has set the register.
 *	- The words of the stack at the frame are the same as in one of the thread's last AGE_MAX
 *	  stacks.  Another call may have left the same words, so WORDS_SEEN copies must have had
 *	  the node.
 * If no node of the last frame's callee leads to the last frame's node, only a register of the last
 * frame itself is evidence, and WELL_KNOWN copies must have had the node.
 *
 * A function that waits for its callee keeps its registers.  So if a frame above the one with the
 * evidence has another value in a register, that frame is another call.  Then the callers count
 * only if they are usual, see below.
 *
 * This is not enough for a node that is old and rare, because a later call may put the same objects
 * into the same registers.  At least SEEN_LEAST copies must have had the node, one of them in the
 * thread's last AGE_MAX stacks.  If WELL_KNOWN copies had it, all of them may be older.
 * The node is not used if it contradicts the registers of the next frame, as far as the dump has
 * these.
 *
 * 2. Take the node's callers, one after another: take_callers().
 *
 * A caller is taken if no other caller is known that could be in its place:
 *	- The frame that it called was never seen with another caller.
 *	- No other code with the same frame size and the same caller called that frame's function,
 *	  at any address of the stack.  Mostly, that would be another call in the same function.
 * If a later copy shows the caller's place without the caller, the earlier call has ended.  A loop
 * may have called the same functions again.  From there on, the frame that the caller called must
 * be well known with it: WELL_KNOWN copies had its node, one of them in the thread's last AGE_MAX
 * stacks.  Such callers are called usual.
 *
 * A join ends at the first caller that is not taken.  Then the stack stays marked as cut, and has
 * some callers more than its copy.  If the callers ended because the earlier stack was cut, too,
 * the stack is joined again, from there on, as the earlier stack would be.
 *
 * There are two generations of nodes: a new stack goes into the young one.  When that is full, the
 * old one is discarded and the young one becomes the old one.
 *
 * The nodes of a thread have a serial number in place of the tid, which is used again.  A thread
 * that ends gets a new one.
 */
#include "unwind/generation.h"

enum {
	NODES_OF_FRAME = 16,	/* at most; a frame with so many is not joined */
	THREADS_MAX = NODES_MAX / 2,
	LAST_MAX = 256,		/* frames of the last stack whose nodes are remembered */
	AGE_MAX = 32,		/* stacks of a thread; frames that were seen only before these are
				   old */
	BELOW_MAX = 32,		/* frames that are compared */
	CALLERS_MAX = 256,	/* the same for the callers of two nodes */
	JOINS_MAX = 16,		/* earlier stacks, one after another */
	SIGHTS = 48,		/* of a thread */
	SEEN_LEAST = 2,		/* copies that must have had a frame and its callers before these
				   count */
	WORDS_SEEN = 4,		/* the same, before equal words of the stack count */
	WELL_KNOWN = 8,		/* the same, before old copies count, and callers of other calls */
};

/* All frames up to the stack pointer SP were in the copy of the thread's stack number STACK. */
struct sight {
	uint64_t sp;
	uint32_t stack;
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

/* Return whether A of the generation G and B of OTHER have the same callers, as far as both go. */
static bool have_same_callers(const struct generation *g, const struct node *a,
			      const struct generation *other, const struct node *b)
{
	for (int i = 0; i < CALLERS_MAX; i++) {
		if (a == b || !has_caller(a) || !has_caller(b))
			return true;
		a = caller_of(g, a);
		b = caller_of(other, b);
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
	const struct frame f = node_frame(n);
	struct generation *both[] = { j->young, j->old };
	uint32_t last = n->stack;
	const struct node *like;

	if (!is_seen_after(t, n, last))
		return false;
	for (int i = 0; i < 2; i++) {
		struct table_probe probe = generation_probe(both[i], &f, t->serial);
		while ((like = generation_next(both[i], &probe, &f, t->serial)) != NULL)
			if (like->stack > last && have_same_callers(g, n, both[i], like))
				last = like->stack;
	}
	return is_seen_after(t, n, last);
}

/* Return whether another caller could be in the place of the caller of N, which is in G. */
static bool has_rival(struct joiner *j, const struct generation *g, const struct node *n)
{
	return generation_has_rival(j->young, g, n) || generation_has_rival(j->old, g, n);
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
	struct table_probe probe = generation_probe(g, f, t->serial);
	uint32_t caller = node_id(g, n) + 1;
	const struct node *callee;

	while ((callee = generation_next(g, &probe, f, t->serial)) != NULL &&
	       callee->caller != caller)
		;
	return callee;
}

/* What shows that a frame is the call of a node. */
enum evidence {
	EVIDENCE_NONE,
	EVIDENCE_USUAL,		/* it is another call, but its callers may be the usual ones */
	EVIDENCE_SAME,		/* it is the same call */
};

/*
 * Return whether FRAME[I], which was called by the caller of N, or one of the frames below it is
 * the call that N was, as it seems.
 */
static enum evidence has_same_call(struct generation *g, const struct thread *t,
				   const struct node *n, const struct frame *frame, uint32_t i)
{
	const uint16_t *caller = caller_of(g, n)->kept;
	enum evidence most = EVIDENCE_SAME;
	uint32_t least = i > BELOW_MAX ? i - BELOW_MAX : 0;

	for (; n && i > least; i--) {
		const struct frame *f = &frame[i];
		int registers = compare(n->kept, f->kept, f[-1].kept, caller);
		if (registers == SAME_CALL ||
		    (n->words && n->words == f->words && n->seen >= WORDS_SEEN && is_recent(n, t)))
			return most;
		if (registers == DIFFERENT)
			most = EVIDENCE_USUAL;
		n = i > 1 ? find_callee(g, t, f - 1, n) : NULL;	/* the leaf has no node */
	}
	return EVIDENCE_NONE;
}

/*
 * N is a node of G, and EVIDENCE says whether its call is still running.  Return the same for the
 * call of N's caller.
 */
static enum evidence evidence_above(struct joiner *j, const struct generation *g,
				    const struct thread *t, const struct node *n,
				    enum evidence evidence)
{
	const struct node *caller = caller_of(g, n);

	if (evidence == EVIDENCE_NONE ||
	    (evidence == EVIDENCE_SAME && !has_returned(j, g, t, caller)))
		return evidence;
	bool is_usual = n->seen >= WELL_KNOWN && is_recent(n, t) &&
			caller->caller != CALLER_UNKNOWN;
	return is_usual ? EVIDENCE_USUAL : EVIDENCE_NONE;
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
	const struct node *next = caller_of(g, n);
	const struct frame *last = &frame[frames - 1];

	if (caller->sp && (next->sp != caller->sp || compare(next->kept, caller->kept, last->kept,
							     next->kept) == DIFFERENT))
		return EVIDENCE_NONE;
	if (n->seen < SEEN_LEAST || (n->seen < WELL_KNOWN && !is_recent(n, t)))
		return EVIDENCE_NONE;
	enum evidence evidence = EVIDENCE_NONE;
	if (frames >= 3 && find_callee(g, t, last - 1, n))
		evidence = has_same_call(g, t, n, frame, frames - 1);
	else if (n->seen >= WELL_KNOWN && !has_returned(j, g, t, next) &&
		 compare(n->kept, last->kept, last[-1].kept, next->kept) == SAME_CALL)
		evidence = EVIDENCE_SAME;
	return evidence_above(j, g, t, n, evidence);
}

/* Return whether A leads to the start of the thread and B does not, or A to more callers. */
static bool leads_farther(const struct node *a, const struct node *b)
{
	return !b || a->is_whole > b->is_whole ||
	       (a->is_whole == b->is_whole && a->callers > b->callers);
}

/*
 * Return the node in G that the last of FRAMES frames has, or NULL; CALLER as in joiner_extend().
 * Set *EVIDENCE to what shows it.
 */
static const struct node *find_node(struct joiner *j, struct generation *g, const struct thread *t,
				    const struct frame *frame, uint32_t frames,
				    const struct frame *caller, enum evidence *evidence)
{
	const struct frame *last = &frame[frames - 1];
	struct table_probe probe = generation_probe(g, last, t->serial);
	const struct node *n, *best = NULL;
	uint32_t nodes = 0;

	*evidence = EVIDENCE_USUAL;

	while ((n = generation_next(g, &probe, last, t->serial)) != NULL &&
	       nodes++ < NODES_OF_FRAME) {
		enum evidence found = has_caller(n)
			? find_evidence(j, g, t, n, frame, frames, caller) : EVIDENCE_NONE;
		if (found < *evidence)
			continue;
		if (found > *evidence)
			best = NULL;
		*evidence = found;
		if (leads_farther(n, best))
			best = n;
	}
	return nodes < NODES_OF_FRAME ? best : NULL;
}

/*
 * Append the callers of N, which is in G, to the FRAMES frames in FRAME, as far as they are sure,
 * and up to FRAMES_MAX.  Return the new number of frames.  *EVIDENCE is what shows the call of N.
 * Set it to what shows the call of the last frame then, or to EVIDENCE_NONE if that frame's caller
 * is not sure.  Set *IS_WHOLE if the last frame is the start of the thread.
 */
static uint32_t take_callers(struct joiner *j, const struct generation *g, const struct thread *t,
			     const struct node *n, struct frame *frame, uint32_t frames,
			     uint32_t frames_max, enum evidence *evidence, bool *is_whole)
{
	while (has_caller(n) && frames < frames_max) {
		*evidence = has_rival(j, g, n) ? EVIDENCE_NONE
						  : evidence_above(j, g, t, n, *evidence);
		if (*evidence == EVIDENCE_NONE)
			return frames;
		n = caller_of(g, n);
		frame[frames++] = node_frame(n);
	}
	*is_whole = n->caller == CALLER_NONE;
	return frames;
}

/*
 * Extend the frames once, by the callers of one earlier stack.  Return how many there are then.
 * Set *EVIDENCE as take_callers() does.
 */
static uint32_t extend_once(struct joiner *j, const struct thread *t, struct frame *frame,
			    uint32_t frames, const struct frame *caller, uint32_t frames_max,
			    enum evidence *evidence, bool *is_whole)
{
	struct generation *g = j->young;
	const struct node *n = find_node(j, g, t, frame, frames, caller, evidence);

	if (!n) {
		g = j->old;
		n = find_node(j, g, t, frame, frames, caller, evidence);
	}
	return n ? take_callers(j, g, t, n, frame, frames, frames_max, evidence, is_whole)
		 : frames;
}

uint32_t joiner_extend(struct joiner *j, pid_t tid, struct frame *frame, uint32_t frames,
		       const struct frame *caller, uint32_t frames_max, bool *is_whole)
{
	const struct frame unknown = { 0 };
	const struct thread *t = thread_of(j, tid);
	enum evidence evidence = EVIDENCE_USUAL;
	uint32_t before = 0;

	*is_whole = false;
	for (int i = 0; i < JOINS_MAX && frames > before && frames >= 2 && !*is_whole &&
	     evidence != EVIDENCE_NONE; i++) {
		before = frames;
		frames = extend_once(j, t, frame, frames, i ? &unknown : caller, frames_max,
				     &evidence, is_whole);
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
	struct table_probe probe = generation_probe(g, f, serial);
	while ((n = generation_next(g, &probe, f, serial)) != NULL && n->caller != caller)
		if (++others == NODES_OF_FRAME)
			return NULL;
	if (!n)
		n = generation_add(g, f, serial, caller);
	*last = node_id(g, n);
	return n;
}

/* Make the young generation the old one, and start with an empty one. */
static void age(struct joiner *j)
{
	struct generation *old = j->old;

	j->old = j->young;
	j->young = old;
	generation_clear(old);
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
		caller = node_id(g, n) + 1;
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
	generation_clear(j->young);
	generation_clear(j->old);
	table_release(&j->threads);
	free(j->young);
	free(j->old);
	free(j->thread);
	free(j);
}
