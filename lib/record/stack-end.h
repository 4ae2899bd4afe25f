/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack-end - how the program's part of a callchain ends.
 *
 * A callchain has no field for this.  An unwinder that cut a stack appends markers
 * PERF_CONTEXT_USER to the callchain: as many as enum stack_end says.  No address follows them,
 * so perf ignores them.  A single marker means nothing: the kernel may write it.
 *
 * Two markers and a word 0 stand for frames that were left out in the middle of a stack; perf shows
 * them as an unknown frame.  The next word is a return address, unless it follows another marker.
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

/* Return the number of words that stand for frames that are left out, */
static inline uint64_t stack_left_out_words(void)
{
	return 3;
}

/* ... and word I of them. */
static inline uint64_t stack_left_out_word(uint64_t i)
{
	return i < 2 ? (uint64_t)PERF_CONTEXT_USER : 0;
}

/* Return whether words from I on stand for frames that are left out of CHAIN. */
static inline bool stack_is_left_out(struct words chain, uint64_t i)
{
	for (uint64_t k = 0; k < stack_left_out_words(); k++)
		if (chain.count - i <= k || word_at(chain, i + k) != stack_left_out_word(k))
			return false;
	return true;
}
