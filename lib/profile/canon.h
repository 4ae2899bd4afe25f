/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canon - the canonical order of a profile's parts, which depends on their content only.
 *
 * Ids are assigned as samples arrive.  Everything that is written is renumbered in this
 * order, so that equal samples, in any order, make the same profile to the byte.
 */
#pragma once
#include "profile/profile.h"

/*
 * The order of one kind of definition.  An index counts through two tables: first the
 * resolved tables, then the profile's own.
 */
struct canon_order {
	uint32_t *order;	/* indices of the USED definitions, in order */
	uint32_t *rank;		/* by index: 1 + its place in ORDER; 0: unused */
	uint32_t used;
};

struct canon {
	const struct profile *p;
	struct canon_order strings, objects, functions, frames;
	uint32_t *label_rank;	/* by text id in labels.texts: its place among the sorted texts */
	uint32_t *stacks;	/* indices of all stacks of P, in order */
};

/* Return the tables that define INDEX of a canon_order; set *ID to its id in these tables. */
const struct resolved *canon_object(const struct canon *c, uint32_t index, uint32_t *id);
const struct resolved *canon_function(const struct canon *c, uint32_t index, uint32_t *id);
const struct resolved *canon_frame(const struct canon *c, uint32_t index, uint32_t *id);

/* Return the rank of the object or function that has this ID in TABLES. */
uint32_t canon_object_rank(const struct canon *c, const struct resolved *tables, uint32_t id);
uint32_t canon_function_rank(const struct canon *c, const struct resolved *tables, uint32_t id);

/* Return the index, or the rank, of the frame that has the id FRAME in a chain. */
static inline uint32_t canon_frame_index(const struct canon *c, uint32_t frame)
{
	return frame & FRAME_OWN ? c->p->resolved->frames + (frame & ~FRAME_OWN) : frame;
}

static inline uint32_t canon_frame_rank(const struct canon *c, uint32_t frame)
{
	return c->frames.rank[canon_frame_index(c, frame)];
}

/* Order the parts of P that its stacks use.  P must not change before canon_release(). */
void canon_make(struct canon *c, const struct profile *p);
void canon_release(struct canon *c);
