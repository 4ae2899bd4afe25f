/* SPDX-License-Identifier: Apache-2.0 */
/* span - address ranges that may overlap, and how to flatten them for lookup. */
#pragma once
#include "base/arena.h"
#include "base/bins.h"
#include "base/heap.h"
#include "base/sort.h"

#include <stddef.h>
#include <stdint.h>

#define SPAN_NONE UINT32_MAX

/* An address range, END exclusive, and the id that belongs to it. */
struct span {
	uint64_t start, end;
	uint32_t value;
};

/* Zero-initialised: empty.  Memory is kept for the spans that are added after spans_flatten(). */
struct spans {
	struct span *at;
	size_t count, room;	/* spans in AT; allocated */
	/* For spans_flatten(): */
	struct sort_key *key;
	struct flat *flat;
	size_t sortable;	/* spans that KEY and FLAT have room for */
	struct heap open;
};

/* The value from START up to the START of the next element is VALUE, or SPAN_NONE. */
struct flat {
	uint64_t start;
	uint32_t value;
};

/* Addresses from START up to END, exclusive. */
struct extent {
	uint64_t start, end;
};

/* A sorted array. */
struct flats {
	struct flat *at;
	size_t count;
	struct bins bins;
};

/*
 * Add [START, END), unless it is empty: the end of a hostile symbol may wrap past the last address.
 */
void spans_add(struct spans *s, uint64_t start, uint64_t end, uint32_t value);

/* Flatten S into ARENA; S is empty again.  Where spans overlap, the one added last wins. */
struct flats spans_flatten(struct spans *s, struct arena *arena);

void spans_release(struct spans *s);

/*
 * Return the value at ADDRESS, or SPAN_NONE.  Narrow SAME, which contains ADDRESS, to the range
 * with that value.
 */
uint32_t flats_narrow(const struct flats *f, uint64_t address, struct extent *same);

/* Narrow SAME to its intersection with START up to END. */
static inline void extent_narrow(struct extent *same, uint64_t start, uint64_t end)
{
	if (start > same->start)
		same->start = start;
	if (end < same->end)
		same->end = end;
}
