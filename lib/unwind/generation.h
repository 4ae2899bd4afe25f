/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation - frames of earlier stacks, and their callers, for the joiner.
 *
 * A node is a frame of a thread, and its caller's node.  A frame that was seen with two callers has
 * two nodes.  So the callers from a node on are those of one stack that was seen.  A node's caller
 * is in the node's own generation.
 */
#pragma once
#include "base/table.h"
#include "unwind/internal.h"

enum {
	NODES_MAX = 1 << 15,	/* of a generation */
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
	bool has_rival;		/* see generation.places */
	uint16_t kept[MACHINE_KEPT];
};

/* Zero-initialised: empty. */
struct generation {
	struct node node[NODES_MAX];
	uint32_t count;
	struct table table;	/* over NODE */
	/*
	 * Over NODE: for each place (generation.c), the first node with a caller in this place.  It
	 * has a rival if a later node has another caller in this place.
	 */
	struct table places;
};

static inline bool has_caller(const struct node *n)
{
	return n->caller != CALLER_UNKNOWN && n->caller != CALLER_NONE;
}

/* Return the caller of N, which is in G and has one. */
static inline const struct node *caller_of(const struct generation *g, const struct node *n)
{
	return &g->node[n->caller - 1];
}

static inline uint32_t node_id(const struct generation *g, const struct node *n)
{
	return (uint32_t)(n - g->node);
}

/* Return whether F is the frame of node N. */
static inline bool is_frame_of(const struct node *n, const struct frame *f)
{
	return n->pc == (f->pc | (f->is_exact ? EXACT : 0)) && n->sp == f->sp;
}

/* Return the frame of node N, as it was when N was seen last. */
struct frame node_frame(const struct node *n);

/* Return a probe for the nodes of frame F of the thread SERIAL. */
struct table_probe generation_probe(const struct generation *g, const struct frame *f,
				    uint32_t serial);

/* Return the next node of frame F among those that PROBE is at, or NULL. */
struct node *generation_next(struct generation *g, struct table_probe *probe,
			     const struct frame *f, uint32_t serial);

/* Add a node for F, which has none with CALLER yet.  G has less than NODES_MAX. */
struct node *generation_add(struct generation *g, const struct frame *f, uint32_t serial,
			    uint32_t caller);

/*
 * Return whether G has another caller that could be in the place of the caller of N, which is in
 * OWN: the frame of N was seen with it, or it called the function of N, and has the same frame
 * size and the same caller.
 */
bool generation_has_rival(struct generation *g, const struct generation *own,
			  const struct node *n);

/* Make G empty, and free its tables. */
void generation_clear(struct generation *g);
