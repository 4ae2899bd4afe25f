/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranking - ranks the definitions and stacks of a profile by their contents alone.
 *
 * Ids are assigned as samples arrive.  The encoder writes everything in the order of its rank, so
 * equal samples give the same profile, byte for byte, in whatever order they came.
 */
#pragma once
#include "aggregate/profile.h"

/*
 * The ranks of one kind of definition.  An index counts through two tables: first the resolved
 * stream's, then the profile's own.
 */
struct ranks {
	uint32_t *order;	/* indices of the USED definitions, in order */
	uint32_t *rank;		/* by index: 1 + its index in ORDER; 0: unused */
	uint32_t used;
};

struct ranking {
	struct profile *p;
	struct ranks strings, objects, functions, frames;
	uint32_t *label_rank;	/* by text id in labels.texts: its index among the sorted texts */
	uint32_t *stacks;	/* indices of all stacks of P, in order */
};

/* Return the tables that define INDEX, of struct ranks; set *ID to its id in these tables. */
const struct resolved *ranking_object(const struct ranking *r, uint32_t index, uint32_t *id);
const struct resolved *ranking_function(const struct ranking *r, uint32_t index, uint32_t *id);
const struct resolved *ranking_frame(const struct ranking *r, uint32_t index, uint32_t *id);

/* Return the rank of the object or function that has this ID in TABLES. */
uint32_t ranking_object_rank(const struct ranking *r, const struct resolved *tables,
			     uint32_t id);
uint32_t ranking_function_rank(const struct ranking *r, const struct resolved *tables,
			       uint32_t id);

/* Return the index, or the rank, of the frame that has the id FRAME in a chain. */
static inline uint32_t ranking_frame_index(const struct ranking *r, uint32_t frame)
{
	return frame & FRAME_OWN ? r->p->resolved->frames + (frame & ~FRAME_OWN) : frame;
}

static inline uint32_t ranking_frame_rank(const struct ranking *r, uint32_t frame)
{
	return r->frames.rank[ranking_frame_index(r, frame)];
}

/*
 * Rank the definitions that the stacks of P use, and the stacks.  From then on P's chains have
 * ranks instead of ids of frames.  P must not change before ranking_release().
 */
void ranking_make(struct ranking *r, struct profile *p);
void ranking_release(struct ranking *r);
