/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison - which rows of one command differ from those of another, and which may by chance.
 *
 *	struct comparison c[2];
 *
 *	comparison_make(&c[0], &base, &first);
 *	comparison_make(&c[1], &base, &second);
 *	comparison_judge(c, 2, COMPARISON_USUAL_FDR);
 *	use c[i].row
 *	comparison_release(&c[i]);
 */
#pragma once
#include "counting/counting-rows.h"
#include "stats/change.h"

#define COMPARISON_USUAL_FDR 0.05

/* What the rank test says of a row. */
enum comparison_ranks {
	RANKS_AGREE,		/* the same as Welch's test */
	RANKS_DISAGREE,
	RANKS_TOO_FEW,		/* there are too few runs for this test to call any change */
};

/* A row of both commands. */
struct comparison_row {
	const struct counting_row *base, *after;
	bool is_tested;		/* both have two values or more; else all below is unknown */
	bool is_exact;		/* all runs of a command have the same value */
	/* relative to the mean of the base, such as 0.01; INFINITY if only that is 0 */
	double change;
	double low, high;	/* its 95 % interval; without width if IS_EXACT; infinite where the
				   base is so uncertain that it may be 0 */
	double p, q;		/* of Welch's test; false discovery rate at which it is called */
	double rank_p, rank_q;	/* of the rank test */
	bool is_called;		/* chance is an unlikely cause of the change */
	enum comparison_ranks ranks;
	struct change found;	/* private */
};

struct comparison {
	struct comparison_row *row;
	size_t rows;
};

/* Compare the rows of BASE and AFTER with the same names, by their means.  C refers to both. */
void comparison_make(struct comparison *c, const struct counting_rows *base,
		     const struct counting_rows *after);

/*
 * Set which rows of COUNT comparisons are called: the number of all their rows is allowed for.  FDR
 * is the share of called rows, on average, that are called by chance.
 */
void comparison_judge(struct comparison *c, size_t count, double fdr);

/* Return the p of the one-sided test whether ROW, which is tested, grew by more than LIMIT. */
double comparison_above(const struct comparison_row *row, double limit);

/* Return the row called NAME, or NULL. */
const struct comparison_row *comparison_find(const struct comparison *c, const char *name);

void comparison_release(struct comparison *c);
