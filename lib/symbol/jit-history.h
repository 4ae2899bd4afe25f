/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_history - which JIT-compiled function was at an address at a time.
 *
 * A function has its addresses from its own time on, until a function with a later time covers
 * them. A history of n functions takes O(n log n) memory and a lookup O(log^2 n) time, however
 * often the functions cover each other.
 */
#pragma once
#include "symbol/jitmap.h"

#define JIT_NOBODY UINT32_MAX

struct jit_function;

/* Zero-initialised: empty. */
struct jit_history {
	uint64_t *edge;		/* start and end addresses of all functions, ascending, unique */
	/* per range from an edge to the next: the latest function, or JIT_NOBODY */
	uint32_t *latest;
	bool *varies;		/* per range: the function varies with the time */
	uint32_t edges;
	uint32_t *order;	/* functions by time; equal times in the order of their records */
	uint32_t *first;	/* per node of a tree over the ranges: its first index in ENTRY */
	uint32_t *entry;	/* indexes into ORDER, ascending in each node */
};

/* Build the history of the COUNT functions at F. jit_history_find() needs the same F. */
void jit_history_make(struct jit_history *h, const struct jit_function *f, uint32_t count);

/*
 * Return the index in F of the function at ADDRESS at TIME, or JIT_NOBODY. If TIME is before
 * all functions at ADDRESS, the earliest one is returned. *VARIES: the function there may be
 * different at other times.
 */
uint32_t jit_history_find(const struct jit_history *h, const struct jit_function *f,
			  uint64_t address, uint64_t time, bool *varies);

void jit_history_release(struct jit_history *h);
