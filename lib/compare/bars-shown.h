/* SPDX-License-Identifier: Apache-2.0 */
/* bars-shown - what tables show of error bars: which one, how wide, and of which rows. */
#pragma once
#include "compare/bars.h"

/* The shares that bars are for. */
enum bars_how {
	BARS_AUTO,	/* shares in the program; for a marked row, in this recording */
	BARS_PROGRAM,	/* shares in the program, also in other runs like this one */
	BARS_RUN,	/* shares in this recording only */
	BARS_NONE,
	BARS_HOWS
};

/* Their names, for options; then NULL. */
extern const char *const bars_how_name[BARS_HOWS + 1];

/* A bar as it is shown. */
struct bars_bounds {
	double low, high;	/* shares */
	bool is_exact;
};

struct bars_bounds bars_bounds(const struct bars *b, const struct share_bar *bar,
			       enum bars_how how);

/*
 * Return whether so many samples were lost that bars show the worst case, not the estimate.  Of
 * complete recordings, which have no estimate, one lost sample is enough.
 */
bool bars_show_worst(const struct bars *b);

/* Return the limits of a share if none of the lost samples were of its row, or all of them. */
double bars_worst_low(const struct bars *b, double low);
double bars_worst_high(const struct bars *b, double high);

/*
 * Set *HALF to half the width of the bar as it is shown, in percentage points.  Return false if
 * the share is exact.
 */
bool bars_half(const struct bars *b, const struct share_bar *bar, enum bars_how how, double *half);

/* Return NUMBER, which is not negative, rounded up to a multiple of STEP. */
double bars_round_up(double number, double step);

/* Return whether the bar has the mark "~". */
bool bars_marks(const struct share_bar *bar, enum bars_how how);

/* The rows that a table of bars marks or leaves out. */
struct bars_left {
	bool any_mark;		/* some row is marked */
	uint64_t unsure;	/* the last rows, which may be smaller than rows left out */
	uint64_t few;		/* rows left out because they have too few samples */
	double share;		/* sum of the shares of these rows */
	double high;		/* largest upper limit of their bars */
};

/*
 * Show rows with too few samples, too, if they hold a quarter of the cost: the profile is short,
 * and a table without them would say little.  After bars_make().
 */
void bars_keep_most(struct bars *b, enum bars_how how);

/*
 * Return whether the share of BAR is below bars_least() and may be 0: it has too few samples, and
 * is left out.
 */
bool bars_may_be_zero(const struct bars *b, const struct share_bar *bar, enum bars_how how);

/*
 * A table shows at most MOST of the COUNT rows in ROW, sorted by their share of KIND: the limits of
 * such a choice are too optimistic.  Set the limits of the shown rows' bars that allow for it
 * (false coverage rate, Benjamini and Yekutieli), unless a row is sure to be larger than those
 * that are not shown.  Return how many of the last rows that are shown are not sure to be larger.
 */
uint64_t bars_select(struct bars *b, const uint32_t *row, uint32_t count, uint64_t most,
		     enum bars_of kind, enum bars_how how);

/* If a table leaves out a row for that reason, count it in LEFT.  Return whether it does. */
bool bars_leave_out(const struct bars *b, const struct share_bar *flat,
		    const struct share_bar *cumulative, enum bars_how how, struct bars_left *left);
