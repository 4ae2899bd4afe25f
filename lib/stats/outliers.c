/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/outliers.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Return the value below which SHARE of the COUNT sorted values are; between two, in proportion. */
static double quantile(const double *sorted, size_t count, double share)
{
	double at = share * (double)(count - 1);
	size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;

	return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

struct outlier_limits outliers_limits(const double *value, size_t count, double least)
{
	enum { FEWEST = 5, FENCE = 3 };
	struct outlier_limits limits = { -INFINITY, INFINITY, NAN };

	if (count == 0)
		return limits;
	double *sorted = mem_zeroed(count, sizeof(*sorted));
	memcpy(sorted, value, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	limits.median = quantile(sorted, count, 0.5);
	if (count >= FEWEST) {
		double first = quantile(sorted, count, 0.25), third = quantile(sorted, count, 0.75);
		double distance = fmax(third - first, least);
		limits.low = first - FENCE * distance;
		limits.high = third + FENCE * distance;
	}
	free(sorted);
	return limits;
}
