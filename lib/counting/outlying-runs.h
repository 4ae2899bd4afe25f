/* SPDX-License-Identifier: Apache-2.0 */
/* outlying-runs - the values of runs that are far away from those of the command's other runs. */
#pragma once
#include "counting/counting-rows.h"

struct outlying_value {
	size_t run;			/* from 0 on */
	const struct counting_row *row;
	double value, median;		/* the value of this run, and of all */
};

/* Set *FOUND, to be freed, to the outliers of ROWS, by run.  Return their number. */
size_t outlying_runs_find(const struct counting_rows *rows, struct outlying_value **found);
