/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/discoveries.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static int by_p(const void *a, const void *b, void *values)
{
	const double *p = values;
	double x = p[*(const size_t *)a], y = p[*(const size_t *)b];

	return x < y ? -1 : x > y;
}

void discoveries_find(const double *p, size_t count, double *q)
{
	size_t *order = mem_zeroed(count, sizeof(*order));
	double least = 1;

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_p, (void *)p);
	for (size_t i = count; i-- > 0; ) {
		least = fmin(least, p[order[i]] * (double)count / (double)(i + 1));
		q[order[i]] = least;
	}
	free(order);
}

double discoveries_limit(const double *p, const double *q, size_t count, double fdr)
{
	double limit = -1;

	for (size_t i = 0; i < count; i++)
		if (q[i] <= fdr)
			limit = fmax(limit, p[i]);
	return limit;
}
