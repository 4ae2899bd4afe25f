/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest - finds the known name that is nearest to a mistyped name.
 *
 * The distance is the number of single edits (optimal string alignment): insert, delete or
 * replace a letter, or swap two neighbours.  Case does not matter.
 */
#pragma once
#include "base/slice.h"

struct suggestion {
	struct slice wanted;	/* the mistyped name */
	unsigned int distance;	/* edits from WANTED to BEST; at first, the limit */
	char best[96];		/* nearest name so far; "": none is near */
};

/* Start a search for WANTED. */
void suggest_begin(struct suggestion *s, struct slice wanted);

/* Make NAME the best if it is nearer than the best so far. */
void suggest_try(struct suggestion *s, const char *name);
