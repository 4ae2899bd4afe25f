/* SPDX-License-Identifier: Apache-2.0 */
/* top - the cost of each function of a profile, itself (flat) and with its callees (cumulative). */
#pragma once
#include "profile/decode.h"

struct top_row {
	const char *name;	/* function, or "[libfoo.so: 6,570 addresses]" */
	int64_t flat;		/* value of samples in which it is the leaf */
	int64_t cumulative;	/* value of samples that have it anywhere, each once */
	uint64_t addresses;	/* of an object, without a function; 0: a function */
};

struct top {
	struct top_row *row;	/* the largest first, whatever its sign */
	size_t rows;
	int64_t total;		/* value of all samples; in a difference, the growth */
	uint64_t whole;		/* 100 %: the sum of all absolute values, or of the base's */
	bool is_difference;	/* some samples have the label PROFILE_BASE */
	bool has_functions;
	struct arena *names;	/* texts of row.name */
};

/*
 * Sum up the values of the sample type with index TYPE, and sort the rows by flat value, or
 * by cumulative value if BY_CUMULATIVE.  All addresses of an object that have no function
 * are one row.  The result does not refer to D.
 */
struct top top_of(const struct decoded *d, size_t type, bool by_cumulative);

void top_release(struct top *top);
