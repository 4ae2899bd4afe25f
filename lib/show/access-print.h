/* SPDX-License-Identifier: Apache-2.0 */
/* access-print - prints which memory samples accessed: as a table, as JSON, as CSV. */
#pragma once
#include "access/access-shares.h"
#include "show/bars-print.h"

#include <stdio.h>

enum access_format { ACCESS_TEXT, ACCESS_JSON, ACCESS_CSV, ACCESS_PPROF, ACCESS_FORMATS };

/* The names of the formats, for options; then NULL. */
extern const char *const access_format_name[ACCESS_FORMATS + 1];

/* The names of what rows are about, for options; then NULL. */
extern const char *const access_by_name[ACCESS_WAYS + 1];

struct access_view {
	const struct access_facts *facts;
	uint64_t rows;		/* at most so many */
	size_t columns;		/* width of the terminal; 0: names are not shortened */
};

/* Print A, to which nothing is added any more, to OUT.  FORMAT is not ACCESS_PPROF. */
void access_print(struct accesses *a, const struct access_view *view, enum access_format format,
		  FILE *out);
