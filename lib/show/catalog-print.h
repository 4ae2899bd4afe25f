/* SPDX-License-Identifier: Apache-2.0 */
/* catalog-print - prints the list of events as a table that fits the screen, or as JSON. */
#pragma once
#include "event/catalog.h"

/* How to print a list. */
struct catalog_style {
	char *const *glob;	/* print only events that match one of these patterns */
	size_t globs;		/* number of patterns; 0: print all events */
	bool details;		/* also print whole descriptions, synonyms, umasks and modifiers */
	bool check;		/* try to open generic events and events in sysfs */
	unsigned int columns;	/* width of the screen */
};

/* Print the list to stdout as a table.  False: nothing matches. */
bool catalog_print(const struct catalog *catalog, const struct catalog_style *style,
		   const struct event_options *options);

/* Print the list to stdout as a JSON array.  False: nothing matches. */
bool catalog_print_json(const struct catalog *catalog, const struct catalog_style *style,
			const struct event_options *options);
