/* SPDX-License-Identifier: Apache-2.0 */
/* top - how much each function of a profile costs, itself and with what it calls. */
#pragma once
#include "profile/decode.h"

struct top_row {
	const char *name;	/* of the function, or "[object+address]" where it has none */
	int64_t flat;		/* where it is the leaf */
	int64_t cumulative;	/* wherever it is in the stack, once a sample */
};

struct top {
	struct top_row *row;	/* the largest first */
	size_t rows;
	int64_t total;		/* of all samples */
	struct arena *names;	/* of rows without a function */
};

/*
 * Sum up values of the sample type of index TYPE, sorted by flat value, or by
 * cumulative if BY_CUMULATIVE.  The rows refer to P.
 */
struct top top_of(const Perftools__Profiles__Profile *p, size_t type, bool by_cumulative);

void top_release(struct top *top);
