/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_history - whose code was at an address at a time.
 *
 * A function has its addresses from its time on, until one of a later time
 * gets them.  The history of many functions takes memory of n log n, a look
 * into it time of log n squared, however often they cover each other.
 */
#pragma once
#include "symbol/jitmap.h"

#define JIT_NOBODY UINT32_MAX

struct jit_function;

/* Zero-initialised: empty. */
struct jit_history {
	uint64_t *edge;		/* where ranges begin or end, ascending */
	uint32_t *latest;	/* from each edge to the next, at last: function, or JIT_NOBODY */
	bool *by_time;		/* the same: it depends on the time whose it is */
	uint32_t edges;
	uint32_t *order;	/* functions by time, those of one time as they were told */
	uint32_t *first;	/* of each node of a tree over the ranges: its first entry */
	uint32_t *entry;	/* places in ORDER, ascending in each node */
};

/* The history of COUNT functions at F, which find() below is to be given again. */
void jit_history_make(struct jit_history *h, const struct jit_function *f, uint32_t count);

/*
 * The function at ADDRESS at TIME; before the first one's time, that one.
 * *BY_TIME: at other times it may be another one.
 */
uint32_t jit_history_find(const struct jit_history *h, const struct jit_function *f,
			  uint64_t address, uint64_t time, bool *by_time);

void jit_history_release(struct jit_history *h);
