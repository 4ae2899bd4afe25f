/* SPDX-License-Identifier: Apache-2.0 */
/* bars-print - prints error bars in tables, CSV and JSON. */
#pragma once
#include "show/bars.h"

#include <stdio.h>

/* The shares that bars are for. */
enum bars_how {
	BARS_AUTO,	/* shares in the program; for a marked row, in this recording */
	BARS_PROGRAM,	/* shares in the program, also in other runs like this one */
	BARS_RUN,	/* shares in this recording only */
	BARS_NONE,
};

/* A sentence on what the bars cover and what they leave out, for -v and JSON. */
extern const char bars_note[];

/* Print a line of a table's head: the number of samples and runs, and what +/- says. */
void bars_print_head(const struct bars *b, FILE *out);

/*
 * Set *HALF to half the width of the bar as it is shown, in percentage points.  Return false if
 * the share is exact.
 */
bool bars_half(const struct bars *b, const struct share_bar *bar, enum bars_how how, double *half);

/* Print the mark and half the width of the bar, in percentage points, in 7 columns. */
void bars_print_half(const struct bars *b, const struct share_bar *bar, enum bars_how how,
		     FILE *out);

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

/* Print "low,high,mark," of the bar, as shares; for an exact share low equals high. */
void bars_print_csv(const struct bars *b, const struct share_bar *bar, enum bars_how how,
		    FILE *out);

/* Print SHARE as a percentage, with two digits or as an integer if that has more. */
void bars_print_percent(double share, FILE *out);

/* Print the lines after a table.  ROW_KIND is the word for a row, such as "function". */
void bars_print_foot(const struct bars *b, const struct bars_left *left, const char *row_kind,
		     FILE *out);

/* Print the members of the table's JSON object on stdout. */
void bars_print_json_head(const struct bars *b);

/* Print BAR as a JSON object on stdout. */
void bars_print_json(const struct bars *b, const struct share_bar *bar);
