/* SPDX-License-Identifier: Apache-2.0 */
/* bisect - binary search in anything that is sorted. */
#pragma once
#include <stddef.h>

/*
 * Return the first index from LOW up to END for which IS_AFTER holds, or END if it never holds.
 * IS_AFTER is an expression of the index I, which is false for indexes up to some point, and true
 * for those after it:
 *
 *	size_t next = BISECT(0, count, i, symbol[i].address > address);
 *
 * A macro, because what is compared differs in type, place and order, and each lookup of an
 * address takes several searches.  There is no branch on the result of a comparison: the CPU cannot
 * predict it.
 */
#define BISECT(LOW, END, I, IS_AFTER) ({				\
	size_t bisect_low = (LOW), bisect_end = (END);			\
	size_t bisect_left = bisect_low < bisect_end ? bisect_end - bisect_low : 0;	\
	BISECT_UNTIL(0, I, IS_AFTER);					\
	bisect_low; })

/*
 * The same in a large array AT, of which searches for scattered addresses find little in the CPU's
 * cache.  The elements where most searches begin are there, but those at the end come one after the
 * other, since nothing is predicted.  So all of these are prefetched at once.
 */
#define BISECT_FAR(AT, LOW, END, I, IS_AFTER) ({			\
	_Static_assert(sizeof(*(AT)) <= BISECT_LINE, "an element is at most a line");	\
	size_t bisect_low = (LOW), bisect_end = (END);			\
	size_t bisect_left = bisect_low < bisect_end ? bisect_end - bisect_low : 0;	\
	BISECT_UNTIL(BISECT_NEAR / sizeof(*(AT)), I, IS_AFTER);		\
	for (size_t bisect_at = 0; bisect_at < bisect_left;		\
	     bisect_at += BISECT_LINE / sizeof(*(AT)))			\
		__builtin_prefetch((AT) + bisect_low + bisect_at);	\
	BISECT_UNTIL(0, I, IS_AFTER);					\
	bisect_low; })

enum { BISECT_LINE = 64, BISECT_NEAR = 12 * BISECT_LINE };	/* bytes */

/* Search until MOST elements are left: the index is one of these, or that after them. */
#define BISECT_UNTIL(MOST, I, IS_AFTER)					\
	while (bisect_left > (MOST)) {					\
		size_t bisect_half = (bisect_left + 1) / 2;		\
		size_t I = bisect_low + bisect_half - 1;		\
		size_t bisect_step = bisect_half & -(size_t)!(IS_AFTER);	\
		bisect_low += bisect_step;				\
		bisect_left -= bisect_half;				\
	}
