/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratios - the ratio of two events in each row of a top, such as misses per instruction, and how
 * sure it is.
 */
#pragma once
#include "show/top.h"
#include "stats/ratio.h"

#include <stdio.h>

/* The size of a ratio's column. */
enum { RATIO_COLUMNS = 24 };

struct ratio_column {
	const char *name;	/* of the column */
	double factor;		/* of the ratio */
	bool is_group;		/* both were read together, at the samples of one event */
	struct top top[2];	/* of both events */
	struct bars bars[2];
	struct ratio total;
};

/* What --ratio asks for: "A/B", "A/B*1000", "A/B*1000=NAME". */
struct ratio_request {
	char a[200], b[200];	/* sample types */
	double factor;
	const char *name;	/* NULL: the text */
};

/* Parse TEXT into R.  Return false if it is no ratio. */
bool ratios_parse(const char *text, struct ratio_request *r);

/* Sum up the types A and B of D, by rows as in HOW.  Return false if one has no bars. */
bool ratios_add(struct ratio_column *c, const struct decoded *d, size_t a, size_t b,
		const struct top_how *how);

/* Return the ratio in the row called NAME (intern's text), of KIND. */
struct ratio ratios_of(struct ratio_column *c, const char *name, enum bars_of kind);

/* Print R in RATIO_COLUMNS columns. */
void ratios_print(const struct ratio *r, FILE *out);

/* Print the line after a table: the ratio of the whole program, and what to know about it. */
void ratios_print_foot(const struct ratio_column *c, FILE *out);

/* Print R as JSON on stdout. */
void ratios_print_json(const struct ratio *r);

void ratios_release(struct ratio_column *c);
