/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canon - an order of a profile's parts that depends on what they are alone.
 *
 * Ids count up as samples come.  What is written is numbered anew, so that
 * equal samples in any order make the same profile, to the byte.
 */
#pragma once
#include "profile/profile.h"

/* Definitions of one sort: those of the resolved tables, and behind them those of our own. */
struct canon_order {
	uint32_t *order;	/* what is used, in order: indices into the two together */
	uint32_t *rank;		/* of each index: 1 + its place in ORDER; 0: not used */
	uint32_t used;
};

struct canon {
	const struct profile *p;
	struct canon_order strings, objects, functions, frames;
	uint32_t *label_rank;	/* by id of a text of labels: its place in their order */
	uint32_t *stacks;	/* all of P's, in order */
};

/* What an index of a canon_order means, and in which tables its own ids are. */
const struct resolved *canon_object(const struct canon *c, uint32_t index, uint32_t *id);
const struct resolved *canon_function(const struct canon *c, uint32_t index, uint32_t *id);
const struct resolved *canon_frame(const struct canon *c, uint32_t index, uint32_t *id);

/* The rank of what a definition in TABLES calls by ID. */
uint32_t canon_object_rank(const struct canon *c, const struct resolved *tables, uint32_t id);
uint32_t canon_function_rank(const struct canon *c, const struct resolved *tables, uint32_t id);

/* The index of a frame, by its id in a chain; and its rank. */
static inline uint32_t canon_frame_index(const struct canon *c, uint32_t frame)
{
	return frame & FRAME_OWN ? c->p->resolved->frames + (frame & ~FRAME_OWN) : frame;
}

static inline uint32_t canon_frame_rank(const struct canon *c, uint32_t frame)
{
	return c->frames.rank[canon_frame_index(c, frame)];
}

void canon_make(struct canon *c, const struct profile *p);
void canon_release(struct canon *c);
