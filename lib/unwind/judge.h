/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge - decides whether frame pointers find so many callers that stacks need not be unwound.
 *
 * For each unwound stack it learns whether the kernel's callchain, by frame pointers, lacks
 * callers.  If this is so for more than 5 % of the first second's stacks, all stacks are unwound.
 * Otherwise only some are, and the judge looks at these all the time, in groups.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised. */
struct judge {
	uint64_t from;		/* time of the first stack, ns */
	uint32_t stacks;	/* judged in this group: the first second, or some later stacks */
	uint32_t lacking;	/* of these, whose callchains lack callers */
	bool is_spared;		/* frame pointers were good enough so far */
	bool is_needed;		/* they were not: this does not change any more */
	uint64_t all, all_lacking;	/* as STACKS and LACKING, of all groups */
};

/* Take into account a stack of TIME, in ns. */
void judge_add(struct judge *j, uint64_t time, bool lacks_callers);
