/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratios - the ratio of two events in each row of a top, such as misses per instruction, with its
 * interval.
 */
#pragma once
#include "base/word-list.h"
#include "compare/ratio.h"
#include "compare/ratio-request.h"
#include "compare/topdown-rows.h"

struct ratio_column {
	const char *name;	/* head of the column */
	double factor;		/* the ratio is multiplied by it */
	const char *of[2];	/* names of the types, if NAME is a known ratio; NULL: it is not */
	bool is_group;		/* both counters were read together, at samples of one event */
	struct top top[2];	/* by event */
	struct bars bars[2];	/* by event */
	struct ratio total;	/* of the whole profile */
	struct topdown_rows *topdown;	/* instead of TOP and BARS: a share of the slots */
	enum topdown_share share;	/* which one */
};

/* The request of four columns: what the slots were used for.  Only tops have it. */
#define RATIOS_TOPDOWN "topdown"

/*
 * Return the first of REQUESTS, arguments of --ratio, that is not a ratio; NULL: all are.
 * HAS_TOPDOWN: RATIOS_TOPDOWN may be one.
 */
const char *ratios_wrong(const struct word_list *requests, bool has_topdown);

/* Zero-initialised: none. */
struct ratio_columns {
	struct ratio_column *column;
	size_t count;
};

/* Callback: add the sample types A and B of D to C.  Return false if one has no error bars. */
typedef bool ratios_adder(void *context, const struct decoded *d, struct ratio_column *c,
			  size_t a, size_t b);

/*
 * Make the columns that REQUESTS ask for, of which none is wrong; ADD is called with CONTEXT for
 * each, and RATIOS_TOPDOWN is counted in rows by HOW.  A ratio that has no error bars is reported
 * and left out.  Return false (reported) if D does not have the sample types of one.
 */
bool ratios_make(struct ratio_columns *columns, const struct word_list *requests,
		 const struct decoded *d, ratios_adder *add, void *context,
		 const struct top_how *how, struct report *report);

void ratios_release(struct ratio_columns *columns);

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
