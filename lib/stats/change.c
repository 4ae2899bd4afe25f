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
	struct change c = { .difference = to - from, .low = to - from, .high = to - from,
			    .base = from, .base_df = n - 1, .after_df = m - 1 };
	double v = stats_add_variances(of_base, n - 1, of_after, m - 1, &df);

	if (v <= ROUNDING * (from * from + to * to)) {
		of_base = quantum * quantum / 12 / n;
		of_after = quantum * quantum / 12 / m;
		v = of_base + of_after;
		df = n + m - 2;
		c.base_df = c.after_df = 0;
	}
	if (v > 0)
		change_widen(&c, sqrt(v), df);
	else
		c.p = c.difference == 0;
	c.of_base = of_base;
	c.of_after = of_after;
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

/* --- the change as a share of the base: a ratio of both means --- */

/* Return the standard error of the mean less RATIO times the base, and its degrees of freedom. */
static double error_at(const struct change *c, double ratio, double *df)
{
	double of_base = ratio * ratio * c->of_base, welch;
	double v = stats_add_variances(of_base, c->base_df, c->of_after, c->after_df, &welch);

	*df = c->base_df > 0 ? welch : c->df;
	return sqrt(v);
}

/* Return whether C's mean may be RATIO times its base: whether their interval has no difference. */
static bool may_be(const struct change *c, double ratio)
{
	double df, error = error_at(c, ratio, &df);
	double difference = fabs(c->base + c->difference - ratio * c->base);

	return error > 0 ? stats_t_tail(difference / error, df) >= 0.025 : difference == 0;
}

/* Return the ratio between INSIDE, which may be, and OUTSIDE, which may not, where this changes. */
static double find_limit(const struct change *c, double inside, double outside)
{
	enum { STEPS = 60 };

	for (int i = 0; i < STEPS; i++) {
		double middle = inside + (outside - inside) / 2;
		if (may_be(c, middle))
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

/* Return the limit of the ratios that may be, from the one found, RATIO, into DIRECTION 1 or -1. */
static double limit_of_ratio(const struct change *c, double ratio, double direction)
{
	double step = fmax(fabs(ratio), 1) / 16, df = c->base_df > 0 ? c->base_df : c->df;

	/* what decides for very large ratios is whether the base may be 0 */
	if (c->of_base > 0 && stats_t_tail(fabs(c->base) / sqrt(c->of_base), df) >= 0.025)
		return direction * INFINITY;
	while (may_be(c, ratio + direction * step) && step < 1e100)
		step *= 2;
	return find_limit(c, ratio, ratio + direction * step);
}

void change_share_limits(const struct change *c, bool may_be_negative, double *low, double *high)
{
	double ratio = 1 + c->difference / c->base, least, most = limit_of_ratio(c, ratio, 1);

	if (may_be_negative)
		least = limit_of_ratio(c, ratio, -1);
	else
		least = may_be(c, 0) ? 0 : find_limit(c, ratio, 0);
	*low = c->base > 0 ? least - 1 : 1 - most;
	*high = c->base > 0 ? most - 1 : 1 - least;
}

double change_above_share(const struct change *c, double limit)
{
	double df, above = c->difference - limit * fabs(c->base);
	double error = error_at(c, c->base < 0 ? 1 - limit : 1 + limit, &df);

	if (error <= 0)
		return above > 0 ? 0 : 1;
	return stats_t_tail(above / error, df);
}
