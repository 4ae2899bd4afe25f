/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "compare/ratios.h"

#include <stdio.h>

/* ratios-print - prints ratios in tables and JSON. */

/* The width of a ratio's column. */
enum { RATIO_COLUMNS = 24 };

/* Print R in RATIO_COLUMNS columns. */
void ratios_print(const struct ratio *r, FILE *out);

/* Print the lines after a table: the ratio of the whole profile, and a caveat if there is one. */
void ratios_print_foot(const struct ratio_column *c, FILE *out);

/* Print R as a JSON object on stdout, or null if it is unknown. */
void ratios_print_json(const struct ratio *r);
