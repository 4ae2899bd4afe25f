/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delays - how long threads waited, summed by path: a stack, what it waited for, and so on.
 *
 * A path is a tree's way from a root: the root is a stack with labels, and each link adds a stack
 * (of the thread that ended the wait, or of where that thread waited itself).
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"

#include <stdbool.h>

/* What connects a stack to the one before it in its path. */
enum delay_link {
	DELAY_ROOT,
	DELAY_WAITS_FOR,	/* the stack that ended the wait */
	DELAY_WAITED_IN,	/* where the thread of that stack waited meanwhile */
	DELAY_SCHEDULER,	/* no stack: the wait is over, and the thread is ready to run */
	DELAY_EARLIER,		/* no stack: unlocks that were forgotten ended the wait */
};

/* Numbers that the caller gave: a stack, and the labels that go with it. */
struct delay_place {
	uint32_t stack, labels;
};

struct delay_node {
	uint32_t parent;	/* index; TABLE_NONE: a root */
	struct delay_place at;	/* LABELS: of roots */
	enum delay_link link;
	uint64_t count;		/* waits, or parts of them */
	uint64_t ns;
};

enum { DELAY_NODES_MAX = 1 << 22 };

/* Zero-initialised: empty. */
struct delays {
	struct delay_node *node;
	uint32_t count;
	struct table table;	/* over NODE */
	uint64_t refused;	/* nodes beyond the limit: their time is at their parents */
};

/*
 * Return the root AT, or the path that goes on from PARENT.  Beyond the limit: TABLE_NONE, or
 * PARENT.
 */
uint32_t delays_root(struct delays *d, struct delay_place at);
uint32_t delays_child(struct delays *d, uint32_t parent, enum delay_link link, uint32_t stack);

/* Add COUNT and NS to NODE, if it is one. */
void delays_add(struct delays *d, uint32_t node, uint64_t count, uint64_t ns);

/* The labels of roots have new numbers: label I is MOVED[I]. */
void delays_relabel(struct delays *d, const uint32_t *moved);

void delays_release(struct delays *d);
