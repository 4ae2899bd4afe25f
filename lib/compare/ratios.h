/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratios - the ratio of two events in each row of a top, such as misses per instruction, with its
 * interval.
 */
#pragma once
#include "compare/ratio.h"
#include "compare/top.h"

struct ratio_column {
	const char *name;	/* head of the column */
	double factor;		/* the ratio is multiplied by it */
	bool is_group;		/* both counters were read together, at samples of one event */
	struct top top[2];	/* by event */
	struct bars bars[2];	/* by event */
	struct ratio total;	/* of the whole profile */
};

/* The argument of --ratio: "A/B", "A/B*1000", "A/B*1000=NAME". */
struct ratio_request {
	char a[200], b[200];	/* sample types */
	double factor;
	const char *name;	/* in the text that was parsed; all of it if it has no "=" */
};

/* What ratios_parse() takes, for messages. */
extern const char ratios_form[];

/* Parse TEXT into R.  Return false if TEXT is not a ratio. */
bool ratios_parse(const char *text, struct ratio_request *r);

/*
 * Find the sample types of R in D, by name or number, and set A and B.  Return false (reported) if
 * D does not have them.
 */
bool ratios_find(const struct ratio_request *r, const struct decoded *d, uint32_t *a, uint32_t *b,
		 struct report *report);

/* Add the sample types A and B of D, in rows by HOW.  Return false if one has no error bars. */
bool ratios_add(struct ratio_column *c, const struct decoded *d, size_t a, size_t b,
		const struct top_how *how);

/*
 * Callback: make BARS of the sample type TYPE, up to bars_finish().  Both types of a ratio have the
 * same rows.
 */
typedef void ratios_counter(void *context, size_t type, struct bars *bars);

/* Do the same as ratios_add(), with rows that the caller counts. */
bool ratios_add_counted(struct ratio_column *c, size_t a, size_t b, ratios_counter *count,
			void *context);

/* Return the ratio in ROW, for a column of ratios_add_counted(). */
struct ratio ratios_of_row(struct ratio_column *c, uint32_t row, enum bars_of kind);

/* Return the ratio in the row called NAME, of flat or cumulative values by KIND. */
struct ratio ratios_of(struct ratio_column *c, const char *name, enum bars_of kind);

void ratios_release(struct ratio_column *c);
