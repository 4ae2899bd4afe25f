/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/change.h"
#include "base/arena.h"
#include "stats/distribution.h"

#include <math.h>
#include <stdlib.h>

double stats_add_variances(double a, double df_a, double b, double df_b, double *df)
{
	double v = a + b, terms = a * a / df_a + b * b / df_b;

	*df = terms > 0 ? v * v / terms : 0;
	return v;
}

double stats_both_tails(double ratio, double df)
{
	return fmin(1, 2 * (df > 0 ? stats_t_tail(fabs(ratio), df)
				   : stats_normal_tail(fabs(ratio))));
}

double change_widen(struct change *c, double error, double df)
{
	double half = error * (df > 0 ? stats_t_quantile(0.025, df) : STATS_Z);
	double p = stats_both_tails(c->difference / error, df);

	if (half > c->high - c->difference) {
		c->low = c->difference - half;
		c->high = c->difference + half;
		c->error = error;
		c->df = df > 0 ? df : INFINITY;
	}
	c->p = fmax(c->p, p);
	return p;
}

/* A smaller variance, as a part of the squares of the values, is a rounding error. */
#define ROUNDING 1e-20

/* Return the mean of X.  Set *VARIANCE to the variance of this mean. */
static double mean_of(const double *x, size_t count, double *variance)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		mean += x[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	*variance = squares / ((double)count - 1) / (double)count;
	return mean;
}

struct change change_of_runs(const double *base, size_t bases, const double *after, size_t afters,
			     double quantum)
{
	double of_base, of_after, df, n = (double)bases, m = (double)afters;
	double from = mean_of(base, bases, &of_base), to = mean_of(after, afters, &of_after);
	struct change c = { .difference = to - from, .low = to - from, .high = to - from };
	double v = stats_add_variances(of_base, n - 1, of_after, m - 1, &df);

	if (v <= ROUNDING * (from * from + to * to)) {
		v = quantum * quantum / 12 * (1 / n + 1 / m);
		df = n + m - 2;
	}
	if (v > 0)
		change_widen(&c, sqrt(v), df);
	else
		c.p = c.difference == 0;
	return c;
}

struct change change_of_pairs(const double *base, const double *after, size_t count,
			      double quantum)
{
	double *step = mem_zeroed(count, sizeof(*step)), v, squares = 0;

	for (size_t i = 0; i < count; i++) {
		step[i] = after[i] - base[i];
		squares += base[i] * base[i] + after[i] * after[i];
	}
	double mean = mean_of(step, count, &v);
	struct change c = { .difference = mean, .low = mean, .high = mean };
	if (v <= ROUNDING * squares)
		v = quantum * quantum / 12 * 2 / (double)count;
	if (v > 0)
		change_widen(&c, sqrt(v), (double)count - 1);
	else
		c.p = mean == 0;
	free(step);
	return c;
}

double change_half(const struct change *c, double tail)
{
	return c->error * (isinf(c->df) ? stats_normal_quantile(tail)
					: stats_t_quantile(tail, c->df));
}

double change_above(const struct change *c, double limit)
{
	if (c->error <= 0)
		return c->difference > limit ? 0 : 1;
	return stats_t_tail((c->difference - limit) / c->error, c->df);
}
