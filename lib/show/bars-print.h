/* SPDX-License-Identifier: Apache-2.0 */
/* bars-print - prints error bars in tables, CSV and JSON. */
#pragma once
#include "compare/bars-shown.h"

#include <stdio.h>

/* Return what B's samples are: "sample" or "contention". */
const char *bars_noun(const struct bars *b);

/* A sentence on what the bars cover and what they leave out, for -v and JSON. */
const char *bars_note(const struct bars *b);

/* Print a line of a table's head: the number of samples and runs, and what +/- says. */
void bars_print_head(const struct bars *b, FILE *out);

/* Print the mark and half the width of the bar, in percentage points, in 7 columns. */
void bars_print_half(const struct bars *b, const struct share_bar *bar, enum bars_how how,
		     FILE *out);

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
