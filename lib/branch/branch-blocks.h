/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch-blocks - how often each line of code was executed, from the ranges that cover it.
 *
 * Ranges overlap: the CPU may enter straight-line code anywhere, and leave it at any branch.  So
 * the executions of an instruction are the sum of the ranges that contain it.  The code of an
 * object is cut where that sum changes and where the source line changes.
 *
 * A line is executed once where its code is in one piece, however many branches are in it: it
 * counts as often as its most executed instruction.  Compilers mix the instructions of neighbouring
 * lines, so a line counts once, too, in code without a cut by the sum.
 */
#pragma once
#include "branch/branch-functions.h"
#include "branch/branch-names.h"

/* Code of one line. */
struct branch_block {
	uint64_t start, end;	/* places: END is after the last byte */
	uint64_t line;		/* hash of its lines; 0: they are unknown */
	uint64_t count;		/* executions */
	double cycles;
	uint64_t piece;		/* number of the piece of equal sums that it was seen in last */
};

/* Zero-initialised: empty. */
struct branch_blocks {
	struct branch_block *block;
	uint32_t count;
	struct table table;	/* by piece and line */
	uint64_t pieces;	/* so far */
	uint64_t lookups;	/* of lines so far, which are limited */
	bool has_cycles;	/* of some range */
};

/* Fill the empty B from the ranges of N->b, all of whose cells are of that kind or come after. */
void branch_blocks_make(struct branch_blocks *b, struct branch_names *n);

void branch_blocks_release(struct branch_blocks *b);
