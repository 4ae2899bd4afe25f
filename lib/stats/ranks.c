/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/ranks.h"
#include "base/arena.h"
#include "stats/distribution.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { EXACT_MOST = 30 };	/* values on each side */

struct rank {
	double value;
	bool is_base;
	size_t twice;	/* the rank from 1 on, times two: the ranks of equal values have halves */
};

static int compare_ranked(const void *a, const void *b)
{
	double x = ((const struct rank *)a)->value, y = ((const struct rank *)b)->value;

	return x < y ? -1 : x > y;
}

/*
 * Sort the COUNT values of R, and set their ranks.  Return the sum of t * t * t - t over all groups
 * of t equal values.
 */
static double set_ranks(struct rank *r, size_t count)
{
	double ties = 0;

	qsort(r, count, sizeof(*r), compare_ranked);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && r[end].value == r[i].value; end++)
			;
		double equal = (double)(end - i);
		ties += equal * equal * equal - equal;
		for (size_t k = i; k < end; k++)
			r[k].twice = i + 1 + end;
	}
	return ties;
}

/*
 * Return the exact p of SUM, twice the sum of the ranks of BASES values of R.  WAYS[k][s] is the
 * number of ways to choose k of the values seen so far such that their doubled ranks sum to s.
 */
static double exact(const struct rank *r, size_t count, size_t bases, size_t sum)
{
	size_t width = count * (count + 1) + 1;
	double *ways = mem_zeroed((bases + 1) * width, sizeof(*ways));
	double below = 0, above = 0, all = 0;

	ways[0] = 1;
	for (size_t i = 0; i < count; i++)
		for (size_t k = i < bases ? i + 1 : bases; k > 0; k--)
			for (size_t s = r[i].twice; s < width; s++)
				ways[k * width + s] += ways[(k - 1) * width + s - r[i].twice];
	for (size_t s = 0; s < width; s++) {
		double n = ways[bases * width + s];
		all += n;
		below += s <= sum ? n : 0;
		above += s >= sum ? n : 0;
	}
	free(ways);
	return fmin(1, 2 * fmin(below, above) / all);
}

static double approximate(double sum, double bases, double afters, double ties)
{
	double all = bases + afters, mean = bases * (all + 1) / 2;
	double variance = bases * afters / 12 * (all + 1 - ties / (all * (all - 1)));
	double distance = fmax(0, fabs(sum - mean) - 0.5);

	return variance > 0 ? fmin(1, 2 * stats_normal_tail(distance / sqrt(variance))) : 1;
}

double ranks_test(const double *base, size_t bases, const double *after, size_t afters)
{
	size_t count = bases + afters, sum = 0;
	struct rank *r = mem_zeroed(count, sizeof(*r));

	for (size_t i = 0; i < count; i++)
		r[i] = (struct rank){ .value = i < bases ? base[i] : after[i - bases],
					.is_base = i < bases };
	double ties = set_ranks(r, count);
	for (size_t i = 0; i < count; i++)
		sum += r[i].is_base ? r[i].twice : 0;
	double p = bases <= EXACT_MOST && afters <= EXACT_MOST
		   ? exact(r, count, bases, sum)
		   : approximate((double)sum / 2, (double)bases, (double)afters, ties);
	free(r);
	return p;
}
