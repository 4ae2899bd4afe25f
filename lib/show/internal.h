/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "compare/ratios.h"

#include <stdio.h>

/* ratios-print - prints ratios in tables and JSON. */

/* The width of most ratios' columns. */
enum { RATIO_COLUMNS = 24 };

/* Return the width of C. */
int ratios_width(const struct ratio_column *c);

/* Return the width of the COUNT columns from C on. */
size_t ratios_widths(const struct ratio_column *c, size_t count);

/* Print R in the width of C. */
void ratios_print(const struct ratio_column *c, const struct ratio *r, FILE *out);

/* Print the lines after a table: the ratio of the whole profile, and a caveat if there is one. */
void ratios_print_foot(const struct ratio_column *c, FILE *out);

/* Print R as three fields of CSV, each with a comma after it: value, lower and upper limit. */
void ratios_print_csv(const struct ratio *r, FILE *out);

/* Print R as a JSON object on stdout, or null if it is unknown. */
void ratios_print_json(const struct ratio *r);
