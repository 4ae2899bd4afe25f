/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of stat-print share. */
#pragma once
#include "results/stat-print.h"

enum { STAT_CELL = 34 };	/* bytes of a value as text, with its NUL */

/* Write VALUE to TEXT: a whole count with all its digits, any other in a few; a NAN as "-". */
void stat_format_value(char *text, size_t size, double value, const char *unit);

void stat_print_text(const struct counting_rows *rows, const struct stat_heading *heading,
		     FILE *out);
