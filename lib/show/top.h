/* SPDX-License-Identifier: Apache-2.0 */
/* top - how much each function of a profile costs, itself and with what it calls. */
#pragma once
#include "profile/decode.h"

struct top_row {
	const char *name;	/* of the function, or "[libfoo.so: 6,570 addresses]" */
	int64_t flat;		/* where it is the leaf */
	int64_t cumulative;	/* wherever it is in the stack, once a sample */
	uint64_t addresses;	/* how many of an object have no function; 0: a function */
};

struct top {
	struct top_row *row;	/* the largest first, whatever its sign */
	size_t rows;
	int64_t total;		/* of all samples: of a difference what it grew by */
	uint64_t whole;		/* what shares are of: all values, or those of the base */
	bool is_difference;	/* some samples are a base's (PROFILE_BASE) */
	bool has_functions;
	struct arena *names;	/* of rows without a function */
};

/*
 * Sum up values of the sample type of index TYPE, sorted by flat value, or by
 * cumulative if BY_CUMULATIVE.  All addresses of an object that have no function
 * are one row.  The rows stay when D goes.
 */
struct top top_of(const struct decoded *d, size_t type, bool by_cumulative);

void top_release(struct top *top);
