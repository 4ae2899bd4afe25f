/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-profile - branches and executed code as profiles for pprof (pmu-branch(1)).
 */
#pragma once
#include "base/output.h"
#include "branch/branches.h"
#include "names/demangle.h"

enum branch_view {
	BRANCH_BLOCKS,		/* how often code was executed */
	BRANCH_MISPREDICTS,	/* how often branches were taken, and mispredicted */
	BRANCH_EDGES,		/* which line calls which function, and how often */
};

/*
 * Write the VIEW of what branches_choose() has left of B, which is for people, to OUT.  Names have
 * STYLE.  Return the number of ranges.
 */
uint64_t branch_profile_write(struct branches *b, enum branch_view view,
			      enum demangle_style style, struct output *out);
