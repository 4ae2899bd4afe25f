/* SPDX-License-Identifier: Apache-2.0 */
/* flame-verdicts - what a comparison says of each function and call path in a page or picture. */
#pragma once
#include "pprof/decode.h"

struct flame;

/*
 * The verdicts of one sample type.  A code is 0 if there is no verdict, else
 * 2 * (1 + enum verdict), plus 1 if the share is larger than that of the base.
 */
struct flame_verdicts {
	const char *why_not;	/* reason why nothing is judged; NULL: it is */
	uint8_t *flat, *cumulative;	/* codes, by function */
	uint32_t functions;	/* size of FLAT and CUMULATIVE */
	uint8_t *path;		/* code of the call path to each node; NULL: paths are not judged */
};

/*
 * Set F->verdicts.  AFTER has just been added to F, and before it or after it BASE, unless that is
 * NULL: then AFTER is a difference.  The functions have the verdicts that diff gives them.  If each
 * side has one run, call paths are compared in the same way, and called at the same limits.
 */
void flame_judge(struct flame *f, const struct decoded *base, const struct decoded *after);

/*
 * Move the codes of paths to the new numbers of nodes: I becomes NEW[I], one of NODES, unless it
 * has an OWNER.  Nodes that stand for several have no verdict.
 */
void flame_move_verdicts(struct flame *f, const uint32_t *new, const uint32_t *owner,
			 uint32_t nodes);

/* Return the code of NODE for the type that is shown first: of its path, or else its function. */
uint8_t flame_verdict(const struct flame *f, uint32_t node);

void flame_free_verdicts(struct flame *f);
