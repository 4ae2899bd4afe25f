/* SPDX-License-Identifier: Apache-2.0 */
/* name-print - prints names in columns, shortened if need be (names/short-name.h). */
#pragma once
#include <stddef.h>
#include <stdio.h>

/*
 * Print a name, in a form that takes at most COLUMNS; 0: whole.  Return how many columns were
 * printed.
 */
size_t name_print(const char *name, size_t columns, FILE *out);

/* Print a name at the end of a line of at most COLUMNS, 0: any number, of which USED are before. */
void name_end_line(const char *name, size_t columns, size_t used, FILE *out);
