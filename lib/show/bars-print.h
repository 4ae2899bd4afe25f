/* SPDX-License-Identifier: Apache-2.0 */
/* bars-print - error bars as people and programs read them. */
#pragma once
#include "show/bars.h"

#include <stdio.h>

/* The shares that have bars. */
enum bars_how {
	BARS_AUTO,	/* the program's; for a marked row, this recording's */
	BARS_PROGRAM,	/* the program's, also in other runs like this one */
	BARS_RUN,	/* those in this recording only */
	BARS_NONE,
};

/* What the bars cover and what they do not, for -v and JSON. */
extern const char bars_note[];

/* Print what the samples are: a line of a table's head. */
void bars_print_head(const struct bars *b, FILE *out);

/* Print the mark and half the width of the bar in 7 columns, in points. */
void bars_print_half(const struct bars *b, const struct share_bar *bar, enum bars_how how,
		     FILE *out);

/* Return whether the bar has the mark "~". */
bool bars_marks(const struct share_bar *bar, enum bars_how how);

/* Return whether BAR has too few samples to tell its share, below bars_least(), from nothing. */
bool bars_is_little(const struct bars *b, const struct share_bar *bar, enum bars_how how);

/* What a table of bars leaves out or marks. */
struct bars_left {
	bool any_mark;
	uint64_t little;	/* rows with too few samples */
	double share;		/* of these rows together */
};

/* Print "low,high,mark," of the same bar, as shares; an exact share has no width. */
void bars_print_csv(const struct bars *b, const struct share_bar *bar, enum bars_how how,
		    FILE *out);

/* Print SHARE in per cent, with two digits or all before the point, and a per cent sign. */
void bars_print_percent(double share, FILE *out);

/* Print the lines after a table.  ROW_KIND is what a row is, such as "function". */
void bars_print_foot(const struct bars *b, const struct bars_left *left, const char *row_kind,
		     FILE *out);

/* Print the members of a JSON object on stdout: of all, or of a bar. */
void bars_print_json_head(const struct bars *b);
void bars_print_json(const struct bars *b, const struct share_bar *bar);
