/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-cells - how often each branch was taken, and each range of code was executed.
 *
 * A place is a byte of an object: its offset in the object's file, and the object's id.  So counts
 * of all processes that map an object add up, wherever it was mapped.
 */
#pragma once
#include "base/table.h"

#include <stdbool.h>

enum { PLACE_OFFSET_BITS = 40 };	/* 1 TiB: no file with code is larger */

#define PLACE_OUTSIDE 0ULL	/* not in the object, or not in any */
#define PLACE_OBJECTS_MAX ((1U << 18) - 1)	/* ids of objects in places are smaller */

static inline uint64_t place_make(uint32_t object, uint64_t offset)
{
	return (uint64_t)(object + 1) << PLACE_OFFSET_BITS | offset;
}

/* Return the object of PLACE, which is not PLACE_OUTSIDE. */
static inline uint32_t place_object(uint64_t place)
{
	return (uint32_t)(place >> PLACE_OFFSET_BITS) - 1;
}

static inline uint64_t place_offset(uint64_t place)
{
	return place & ((1ULL << PLACE_OFFSET_BITS) - 1);
}

/* Return whether A and B are in one object. */
static inline bool places_are_in_one(uint64_t a, uint64_t b)
{
	return a && b && place_object(a) == place_object(b);
}

enum branch_cell_kind {
	CELL_RANGE,		/* code from FROM to TO was executed */
	CELL_RANGE_ENTERED,	/* the same, and the branch to FROM came from outside */
	CELL_BRANCH,		/* the branch at FROM went to TO */
	CELL_ADDRESS,		/* FROM was sampled; TO is PLACE_OUTSIDE */
};

enum { CELL_KIND_SHIFT = 62, CELL_TYPE_SHIFT = 58 };
#define CELL_PLACE_MASK ((1ULL << CELL_TYPE_SHIFT) - 1)

struct branch_cell {
	uint64_t from;		/* place */
	uint64_t to;		/* place; above: the kind, and PERF_BR_* if that is asked for */
	uint64_t count;
	uint64_t mispredicted, predicted;	/* of a branch; the rest of COUNT is unknown */
	uint64_t cycles;	/* of all that have a number of cycles; 0: none has */
};

/* Zero-initialised, with MOST set: empty. */
struct branch_cells {
	struct branch_cell *cell;
	uint32_t count;
	uint32_t most;		/* cells; what finds no room is not counted */
	struct table table;
};

static inline enum branch_cell_kind branch_cell_kind(const struct branch_cell *c)
{
	return (enum branch_cell_kind)(c->to >> CELL_KIND_SHIFT);
}

/* Return the place to which a branch went, or where a range ends. */
static inline uint64_t branch_cell_to(const struct branch_cell *c)
{
	return c->to & CELL_PLACE_MASK;
}

/* Return the type of a branch, PERF_BR_*; 0: unknown. */
static inline unsigned branch_cell_type(const struct branch_cell *c)
{
	return c->to >> CELL_TYPE_SHIFT & 15;
}

/* Return whether the CPU said of some of its records whether C, a branch, was predicted. */
static inline bool branch_cell_is_judged(const struct branch_cell *c)
{
	return c->mispredicted || c->predicted;
}

/* Return the cell with these FROM and TO, a new one if there was none; NULL: no room. */
struct branch_cell *branch_cells_at(struct branch_cells *cells, uint64_t from, uint64_t to);

/* Sort the COUNT cells C by kind and places, and add up equal ones.  Return how many are left. */
uint32_t branch_cells_sort(struct branch_cell *c, uint32_t count);

void branch_cells_release(struct branch_cells *cells);
