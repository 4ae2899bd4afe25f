/* SPDX-License-Identifier: Apache-2.0 */
/* top-print - prints the rows of a top: as a table, with callers and callees, as JSON, as CSV. */
#pragma once
#include "compare/diff.h"
#include "compare/ratios.h"
#include "compare/top.h"
#include "names/name-filter.h"
#include "show/bars-print.h"

#include <stdio.h>

enum top_format { TOP_TEXT, TOP_JSON, TOP_CSV, TOP_FORMATS };

/* The names of the formats, for options; then NULL. */
extern const char *const top_format_name[TOP_FORMATS + 1];

struct top_printing;

/* How a format is written. */
struct top_writer {
	bool is_for_people;	/* a table: rows that say little are left out */
	bool selects;		/* bars allow for the choice of the rows that a table shows */
	void (*head)(struct top_printing *p);	/* these are private to top-print */
	void (*row)(struct top_printing *p, uint32_t row, bool is_first);
	void (*foot)(struct top_printing *p);	/* NULL: nothing follows the rows */
};

/* By enum top_format. */
extern const struct top_writer top_writers[TOP_FORMATS];

/* The part of a top that is printed. */
struct top_view {
	const char *type, *unit;	/* of the values */
	uint64_t rows;		/* at most so many */
	double min;		/* leave out rows below this share of the whole, 0 to 1 */
	double min_call;	/* leave out calls below this share of the row's cumulative value */
	size_t columns;		/* width of the terminal; 0: names are not shortened */
	const struct name_filter *filter;	/* only rows whose name matches; NULL: all */
	enum bars_how bars;	/* which error bars, if T has some */
	bool objects;		/* a column with the objects, if they were collected */
	bool by_cumulative;	/* sorted so; ratios, too, are of the cumulative cost */
	struct ratio_column *ratio;	/* columns after the shares */
	size_t ratios;
	const struct diff *diff;	/* verdicts on a difference, for JSON; NULL: none */
	uint64_t skip;		/* rows of the table that come before the first that is printed */
	uint32_t selected;	/* row that is drawn inverse on a screen; 0: none */
	bool on_screen;		/* lines have the marks of show/screen.h */
	const char *note;	/* after the total, such as " in the last 10 s"; NULL: none */
};

/*
 * Set *ROW, which the caller frees or passes again, to the rows of a table of T, in its order, all
 * of them.  Return how many these are.
 */
size_t top_rows(struct top *t, const struct top_view *view, uint32_t **row);

/*
 * Print T, sorted, to OUT, as AS.  If it has calls, print each row's callers and callees, too.  A
 * table that is sorted by flat cost, and has neither calls nor a filter, leaves out rows without
 * flat cost.
 */
void top_print(struct top *t, const struct top_view *view, const struct top_writer *as, FILE *out);
