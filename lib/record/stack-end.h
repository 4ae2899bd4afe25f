/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack-end - how the program's part of a callchain ends.
 *
 * A callchain has no field for this.  An unwinder that cut a stack appends markers
 * PERF_CONTEXT_USER to the callchain: as many as enum stack_end says.  No address follows them,
 * so perf ignores them.  A single marker means nothing: the kernel may write it.
 */
#pragma once
#include "record/sample.h"

enum stack_end {
	STACK_NONE,		/* no stack of the program is known */
	STACK_WHOLE,		/* nothing indicates that it was cut */
	STACK_NO_CODE,		/* cut at a return address that is not in code */
	STACK_DUMP,		/* cut at the end of the dump */
	STACK_NO_INFORMATION,	/* cut in code without unwind information */
	STACK_ONE_FRAME,	/* frame pointers led to no caller */
	STACK_ENDS
};

/* Return the number of markers for END; 0: unwinders do not mark this end. */
static inline uint64_t stack_end_markers(enum stack_end end)
{
	return end >= STACK_NO_CODE && end <= STACK_NO_INFORMATION ? (uint64_t)end : 0;
}

/* Remove the markers at the end of CHAIN, and return what they mean, or STACK_WHOLE. */
static inline enum stack_end stack_end_take(struct words *chain)
{
	uint64_t markers = 0;

	while (chain->count && word_at(*chain, chain->count - 1) == (uint64_t)PERF_CONTEXT_USER) {
		chain->count--;
		markers++;
	}
	return markers >= STACK_NO_CODE && markers <= STACK_NO_INFORMATION
		? (enum stack_end)markers : STACK_WHOLE;
}
