/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bins - an index of a large sorted array, for numbers that are spread as evenly as addresses.
 *
 * The range of the numbers is divided into bins of the same size, about one for each cache line
 * that the array takes.  So a search looks at few elements, however large the array is.
 */
#pragma once
#include "base/arena.h"
#include "base/bisect.h"

#include <stdint.h>

/* Zero-initialised: the array has no bins. */
struct bins {
	uint32_t *first;	/* by bin: index of the first element in the bin or after it */
	uint64_t base;		/* the first number */
	uint32_t count;		/* of bins; 0: the array has none */
	uint8_t shift;		/* a bin has 1 << SHIFT numbers */
};

enum {
	BINS_LEAST = 64,	/* elements of an array that has bins */
	BINS_EACH = 4,		/* elements of a bin, about */
	BINS_LINE = 64,		/* bytes of a line of the cache */
};

/*
 * Make bins B, in ARENA, of a sorted array of COUNT elements, unless it is small.  NUMBER is an
 * expression of the index I.
 */
#define BINS_MAKE(B, ARENA, COUNT, I, NUMBER) ({			\
	struct bins *bins_of = (B);					\
	size_t bins_size = (COUNT), I = 0;				\
	if (bins_size >= BINS_LEAST && bins_size < UINT32_MAX) {	\
		uint32_t bins_next = 0;					\
		bins_of->base = (NUMBER);				\
		I = bins_size - 1;					\
		uint64_t bins_last = (NUMBER) - bins_of->base;		\
		while (bins_last >> bins_of->shift >= bins_size / BINS_EACH)	\
			bins_of->shift++;				\
		bins_of->count = (uint32_t)(bins_last >> bins_of->shift) + 1;	\
		bins_of->first = arena_alloc((ARENA), (bins_of->count + 1ULL) *	\
					      sizeof(*bins_of->first));	\
		for (I = 0; I < bins_size; I++)				\
			while (bins_next <= ((NUMBER) - bins_of->base) >> bins_of->shift)	\
				bins_of->first[bins_next++] = (uint32_t)I;	\
		bins_of->first[bins_next] = (uint32_t)bins_size;	\
	} })

/*
 * Search the array AT for NUMBER, with the help of the bins B.  Returns what BISECT(0, COUNT, I,
 * IS_AFTER) returns.  Prefetches the whole bin, because a search would load its elements one after
 * the other.
 */
#define BINS_BISECT(B, AT, NUMBER, COUNT, I, IS_AFTER) ({		\
	struct bins_range bins_in = bins_find((B), (NUMBER), (COUNT));	\
	for (size_t I = bins_in.low; I < bins_in.end && I < bins_in.low + BINS_LEAST;	\
	     I += BINS_LINE / sizeof(*(AT)))				\
		__builtin_prefetch((AT) + I);				\
	BISECT(bins_in.low, bins_in.end, I, IS_AFTER); })

struct bins_range {
	size_t low, end;
};

/* Return the range of indexes, of COUNT, in which the first element after NUMBER is. */
static inline struct bins_range bins_find(const struct bins *b, uint64_t number, size_t count)
{
	if (!b->count)
		return (struct bins_range){ 0, count };
	uint64_t bin = number < b->base ? 0 : (number - b->base) >> b->shift;
	bin = bin < b->count ? bin : b->count - 1;
	return (struct bins_range){ b->first[bin], b->first[bin + 1] };
}
