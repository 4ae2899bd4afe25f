/* SPDX-License-Identifier: Apache-2.0 */
/* diff-print - prints what changed between profiles: as a table, as JSON. */
#pragma once
#include "show/diff.h"

#include <stdio.h>

struct diff_view {
	uint64_t rows;		/* of each group, at most */
	double smallest;	/* change for which the table says what it takes to see it */
	const char *unit;	/* of work; NULL: none */
};

void diff_print(const struct diff *d, const struct diff_view *view, FILE *out);

/* Print JSON on stdout. */
void diff_print_json(const struct diff *d, const struct diff_view *view);
