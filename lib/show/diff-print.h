/* SPDX-License-Identifier: Apache-2.0 */
/* diff-print - prints the differences between profiles as a table or JSON. */
#pragma once
#include "compare/diff.h"

#include <stdio.h>

struct diff_view {
	uint64_t rows;		/* of each group, at most */
	double smallest;	/* change for which the table says how much data finds it */
	size_t columns;		/* width of the terminal; 0: names are not shortened */
	const char *unit;	/* unit of work and its count, as in --per; NULL: none */
};

/* Print a table to OUT. */
void diff_print(const struct diff *d, const struct diff_view *view, FILE *out);

/* Print JSON on stdout. */
void diff_print_json(const struct diff *d, const struct diff_view *view);
