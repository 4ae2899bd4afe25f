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
 * address takes several searches.
 */
#define BISECT(LOW, END, I, IS_AFTER) ({				\
	size_t bisect_low = (LOW), bisect_high = (END);			\
	while (bisect_low < bisect_high) {				\
		size_t I = bisect_low + (bisect_high - bisect_low) / 2;	\
		if (IS_AFTER)						\
			bisect_high = I;				\
		else							\
			bisect_low = I + 1;				\
	}								\
	bisect_low; })
