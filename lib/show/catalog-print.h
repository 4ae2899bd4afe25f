/* SPDX-License-Identifier: Apache-2.0 */
/* catalog-print - the list of events as a table that fits a screen, and as JSON. */
#pragma once
#include "event/catalog.h"

/* How to print a list. */
struct catalog_style {
	char *const *glob;	/* names to print, of which there are GLOBS; none: all */
	size_t globs;
	bool details;		/* whole texts, umasks and modifiers */
	bool check;		/* try to open what the kernel or a PMU names */
	unsigned int columns;	/* of the screen */
};

/* Print the list to stdout: a table, or a JSON array.  False: no name matches. */
bool catalog_print(const struct catalog *catalog, const struct catalog_style *style,
		   const struct event_options *options);
bool catalog_print_json(const struct catalog *catalog, const struct catalog_style *style,
			const struct event_options *options);
