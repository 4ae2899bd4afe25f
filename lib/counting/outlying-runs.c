/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/outlying-runs.h"
#include "base/arena.h"
#include "stats/outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A smaller part of the mean is not worth a word, however equal the other runs are. */
#define LEAST_PART 0.001

/* Return the distance between values of ROW that is none: the kernel divides CPU time by ticks. */
static double least_distance(const struct counting_row *row)
{
	enum { TICK_NS = 10000000 };
	bool of_ticks = row->kind == COUNTING_TIME && strcmp(row->name, COUNTING_WALL_TIME);

	return fmax(of_ticks ? TICK_NS : 1, LEAST_PART * fabs(row->mean));
}

static struct outlier_limits limits_of(const struct counting_row *row, size_t runs)
{
	double *value = mem_zeroed(runs, sizeof(*value));
	size_t count = 0;

	for (size_t i = 0; i < runs; i++)
		if (!isnan(row->value[i]))
			value[count++] = row->value[i];
	struct outlier_limits limits = outliers_limits(value, count, least_distance(row));
	free(value);
	return limits;
}

size_t outlying_runs_find(const struct counting_rows *rows, struct outlying_value **found)
{
	struct outlier_limits *limits = mem_zeroed(rows->count, sizeof(*limits));
	size_t count = 0;

	*found = NULL;
	for (size_t i = 0; i < rows->count; i++)
		limits[i] = limits_of(&rows->row[i], rows->runs);
	for (size_t run = 0; run < rows->runs; run++)
		for (size_t i = 0; i < rows->count; i++) {
			double value = rows->row[i].value[run];
			if (!(value < limits[i].low || value > limits[i].high))
				continue;
			*found = array_grow(*found, count, sizeof(**found));
			(*found)[count++] = (struct outlying_value){ run, &rows->row[i], value,
								     limits[i].median };
		}
	free(limits);
	return count;
}
