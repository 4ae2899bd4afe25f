/* SPDX-License-Identifier: Apache-2.0 */
/* stat-print - prints what pmu-stat counted. */
#pragma once
#include "counting/counting-rows.h"

#include <stdio.h>

/* What is said beside the rows. */
struct stat_heading {
	const char *of;		/* what was counted: "runs of: sleep 1" */
	const char *per;	/* unit by whose number values are divided: "op"; or NULL */
	size_t runs;
	size_t failed;		/* runs with another exit status than 0, or ended by a signal */
};

/* Print a table to OUT. */
void stat_print_text(const struct counting_rows *rows, const struct stat_heading *heading,
		     FILE *out);

/* Write VALUE to TEXT: a whole count with all its digits, any other in a few; a NAN as "-". */
void stat_format_value(char *text, size_t size, double value, const char *unit);
