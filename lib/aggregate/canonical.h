/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canonical - the canonical order of a profile's parts, which depends on their content only.
 *
 * Ids are assigned as samples arrive.  Everything that is written is renumbered in this order, so
 * that equal samples, in any order, give the same profile, byte for byte.
 */
#pragma once
#include "aggregate/profile.h"

/*
 * The order of one kind of definition.  An index counts through two tables: first the
 * resolved tables, then the profile's own.
 */
struct canonical_order {
	uint32_t *order;	/* indices of the USED definitions, in order */
	uint32_t *rank;		/* by index: 1 + its place in ORDER; 0: unused */
	uint32_t used;
};

struct canonical {
	struct profile *p;
	struct canonical_order strings, objects, functions, frames;
	uint32_t *label_rank;	/* by text id in labels.texts: its place among the sorted texts */
	uint32_t *stacks;	/* indices of all stacks of P, in order */
};

/* Return the tables that define INDEX of a canonical_order; set *ID to its id in these tables. */
const struct resolved *canonical_object(const struct canonical *c, uint32_t index, uint32_t *id);
const struct resolved *canonical_function(const struct canonical *c, uint32_t index, uint32_t *id);
const struct resolved *canonical_frame(const struct canonical *c, uint32_t index, uint32_t *id);

/* Return the rank of the object or function that has this ID in TABLES. */
uint32_t canonical_object_rank(const struct canonical *c, const struct resolved *tables,
			       uint32_t id);
uint32_t canonical_function_rank(const struct canonical *c, const struct resolved *tables,
				 uint32_t id);

/* Return the index, or the rank, of the frame that has the id FRAME in a chain. */
static inline uint32_t canonical_frame_index(const struct canonical *c, uint32_t frame)
{
	return frame & FRAME_OWN ? c->p->resolved->frames + (frame & ~FRAME_OWN) : frame;
}

static inline uint32_t canonical_frame_rank(const struct canonical *c, uint32_t frame)
{
	return c->frames.rank[canonical_frame_index(c, frame)];
}

/*
 * Order the parts of P that its stacks use.  From then on P's chains have the ranks of frames in
 * place of their ids.  P must not change before canonical_release().
 */
void canonical_make(struct canonical *c, struct profile *p);
void canonical_release(struct canonical *c);
