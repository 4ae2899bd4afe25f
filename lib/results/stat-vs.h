/* SPDX-License-Identifier: Apache-2.0 */
/* stat-vs - prints what several commands counted, and how they differ from the first of them. */
#pragma once
#include "counting/comparison.h"

/* A command, or the runs of an earlier one. */
struct stat_side {
	const char *text;		/* the command */
	const char *file;		/* from which its runs were read; NULL: made now */
	size_t runs, failed;
	bool has_shell;			/* a shell runs it, and is counted, too */
	const struct counting_rows *rows;
};

struct stat_vs {
	const struct stat_side *side;	/* the base first */
	size_t sides;
	const struct comparison *comparison;	/* by side, without the base */
	double fdr;			/* false discovery rate at which rows are called */
	const char *per;		/* values are divided by a number of this unit; NULL: not */
	double per_number;		/* that number */
};

/* Print a table for each comparison, then the outliers, on stdout. */
void stat_vs_print_text(const struct stat_vs *vs);

/* Print a line of CSV for each row, or all with the values of all runs as one JSON object. */
void stat_vs_print_csv(const struct stat_vs *vs);
void stat_vs_print_json(const struct stat_vs *vs);
