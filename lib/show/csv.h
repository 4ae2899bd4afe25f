/* SPDX-License-Identifier: Apache-2.0 */
/* csv - a field of a table as CSV. */
#pragma once
#include <stdio.h>

/*
 * Print TEXT as a field of CSV, RFC 4180: a field with a quote, comma or line end is quoted, and
 * its quotes are doubled.  A spreadsheet calculates what starts with one of =+-@, and names come
 * from the sampled program: an apostrophe makes them text.
 */
void csv_text(const char *text, FILE *out);
