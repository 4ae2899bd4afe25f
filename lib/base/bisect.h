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
 * A macro, because callers compare different types and fields, and a function call per comparison
 * would slow down each lookup of an address.  There is no branch on the result of a comparison,
 * because the CPU cannot predict it.
 */
#define BISECT(LOW, END, I, IS_AFTER) ({				\
	size_t bisect_low = (LOW), bisect_end = (END);			\
	size_t bisect_left = bisect_low < bisect_end ? bisect_end - bisect_low : 0;	\
	while (bisect_left > 0) {					\
		size_t bisect_half = (bisect_left + 1) / 2;		\
		size_t I = bisect_low + bisect_half - 1;		\
		size_t bisect_step = bisect_half & -(size_t)!(IS_AFTER);	\
		bisect_low += bisect_step;				\
		bisect_left -= bisect_half;				\
	}								\
	bisect_low; })
