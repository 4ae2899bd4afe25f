/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/compare.h"
#include "base/arena.h"
#include "compare/internal.h"
#include "compare/share-internal.h"

#include <math.h>
#include <stdlib.h>

/* Return the sum of the variances A and B.  Set *DF to its degrees of freedom (Welch). */
static double add_variances(double a, double df_a, double b, double df_b, double *df)
{
	double v = a + b, terms = a * a / df_a + b * b / df_b;

	*df = terms > 0 ? v * v / terms : 0;
	return v;
}

/* Return the two-sided p of a difference that is RATIO times its error.  DF: of t, or 0: z. */
static double both_tails(double ratio, double df)
{
	return fmin(1, 2 * (df > 0 ? stats_t_tail(fabs(ratio), df)
				   : stats_normal_tail(fabs(ratio))));
}

/*
 * Widen C's interval and raise its p to what the standard error ERROR with DF degrees of freedom
 * (0: z) gives, if that is more cautious.  Return the p of ERROR alone.
 */
static double be_cautious(struct change *c, double error, double df)
{
	double half = error * (df > 0 ? stats_t_quantile(0.025, df) : STATS_Z);
	double p = both_tails(c->difference / error, df);

	if (half > c->high - c->difference) {
		c->low = c->difference - half;
		c->high = c->difference + half;
		c->error = error;
		c->df = df > 0 ? df : INFINITY;
	}
	c->p = fmax(c->p, p);
	return p;
}

/* A smaller variance is a rounding error: of shares; of values, as a part of their squares. */
#define ROUNDING_OF_SHARES 1e-28
#define ROUNDING 1e-20

/*
 * Return the variance of the difference for the z test: from the pooled share if all samples have
 * the same weight, else from the share of each side.
 */
static double variance_of_samples(const struct share_whole *a, const struct share_part *pa,
				  const struct share_whole *b, const struct share_part *pb)
{
	double va = share_floor(a, pa), vb = share_floor(b, pb);
	double na = a->total * a->total / a->squares, nb = b->total * b->total / b->squares;
	double p = pa->total / a->total, q = pb->total / b->total;
	double pooled = (p * na + q * nb) / (na + nb);
	double binomial = pooled * (1 - pooled) * (1 / na + 1 / nb);
	/* equal weights: the floor is binomial */
	bool equal = fabs(va - p * (1 - p) / na) <= 1e-9 * va &&
		     fabs(vb - q * (1 - q) / nb) <= 1e-9 * vb;

	return !equal && va > 0 && vb > 0 ? va + vb : binomial;
}

double compare_steady(double difference, double variance)
{
	return variance > ROUNDING_OF_SHARES ? both_tails(difference / sqrt(variance), 0) : 1;
}

struct change compare_shares(const struct share_whole *a, const struct share_part *pa,
			     const struct share_whole *b, const struct share_part *pb,
			     double by_level[1 + SHARE_LEVELS])
{
	struct change c = { .difference = pb->total / b->total - pa->total / a->total };
	double p[1 + SHARE_LEVELS] = { 0 }, of_samples = variance_of_samples(a, pa, b, pb), df;
	/* complete recordings have no sampling error */
	bool sampled = !a->is_complete || !b->is_complete;

	c.low = c.high = c.difference;
	c.steady = compare_steady(c.difference, of_samples);
	if (sampled && of_samples > ROUNDING_OF_SHARES)
		p[0] = be_cautious(&c, sqrt(of_samples), 0);
	for (int level = 0; level < SHARE_LEVELS; level++) {
		if (a->price[level] == 0 || b->price[level] == 0)
			continue;
		struct share_jackknife ja = share_jackknife(a, pa->weight, share_level(a, level));
		struct share_jackknife jb = share_jackknife(b, pb->weight, share_level(b, level));
		double v = add_variances(ja.variance, ja.groups - 1, jb.variance, jb.groups - 1,
					 &df);
		if (v > ROUNDING_OF_SHARES)
			p[1 + level] = be_cautious(&c, sqrt(v), df);
	}
	/* no test was possible: treat complete recordings as samples */
	if (c.error <= 0 && of_samples > ROUNDING_OF_SHARES)
		p[0] = be_cautious(&c, sqrt(of_samples), 0);
	else if (c.error <= 0)
		c.p = 1;	/* both shares are 0 or both are 1 */
	for (int i = 0; by_level && i <= SHARE_LEVELS; i++)
		by_level[i] = p[i];
	return c;
}

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

struct change compare_runs(const double *base, size_t bases, const double *after, size_t afters,
			   double quantum)
{
	double of_base, of_after, df, n = (double)bases, m = (double)afters;
	double from = mean_of(base, bases, &of_base), to = mean_of(after, afters, &of_after);
	struct change c = { .difference = to - from, .low = to - from, .high = to - from };
	double v = add_variances(of_base, n - 1, of_after, m - 1, &df);

	if (v <= ROUNDING * (from * from + to * to)) {
		v = quantum * quantum / 12 * (1 / n + 1 / m);
		df = n + m - 2;
	}
	if (v > 0)
		be_cautious(&c, sqrt(v), df);
	else
		c.p = c.difference == 0;
	return c;
}

struct change compare_pairs(const double *base, const double *after, size_t count,
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
		be_cautious(&c, sqrt(v), (double)count - 1);
	else
		c.p = mean == 0;
	free(step);
	return c;
}

double compare_half(const struct change *c, double tail)
{
	return c->error * (isinf(c->df) ? stats_normal_quantile(tail)
					: stats_t_quantile(tail, c->df));
}

double compare_above(const struct change *c, double limit)
{
	if (c->error <= 0)
		return c->difference > limit ? 0 : 1;
	return stats_t_tail((c->difference - limit) / c->error, c->df);
}

static int by_p(const void *a, const void *b, void *values)
{
	const double *p = values;
	double x = p[*(const size_t *)a], y = p[*(const size_t *)b];

	return x < y ? -1 : x > y;
}

void compare_discoveries(const double *p, size_t count, double *q)
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

double compare_limit(const double *p, const double *q, size_t count, double fdr)
{
	double limit = -1;

	for (size_t i = 0; i < count; i++)
		if (q[i] <= fdr)
			limit = fmax(limit, p[i]);
	return limit;
}

enum verdict compare_verdict(const struct verdict_limits *limits, const struct change *c,
			     double base, double after)
{
	const double large = 0.005;	/* share of the total */

	if (c->p <= limits->p)
		return VERDICT_SURE;
	return fabs(after - base) >= large && c->steady <= limits->steady ? VERDICT_UNSTEADY
		: VERDICT_CHANCE;
}

double compare_samples_needed(double share, double change, double count, double factor)
{
	double z = stats_normal_quantile(0.025 / count) + stats_normal_quantile(0.2);
	double after = share * (1 + change) / (1 + share * change), d = after - share;

	if (share <= 0 || share >= 1)
		return INFINITY;
	return factor * z * z * (share * (1 - share) + after * (1 - after)) / (d * d);
}

double compare_change_seen(double share, double samples, double count, double factor)
{
	double low = 0, high = 10;

	if (compare_samples_needed(share, high, count, factor) > samples)
		return INFINITY;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		if (compare_samples_needed(share, middle, count, factor) > samples)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double compare_power(size_t runs, double effect, double level)
{
	/* the noncentral t, by Johnson and Welch */
	double df = 2 * (double)runs - 2, shift = effect * sqrt((double)runs / 2);
	double t = stats_t_quantile(level / 2, df);

	return stats_normal_tail((t * (1 - 1 / (4 * df)) - shift) / sqrt(1 + t * t / (2 * df)));
}

size_t compare_runs_needed(double effect, double level)
{
	for (size_t runs = 2; runs <= 10000; runs++)
		if (compare_power(runs, effect, level) >= 0.8)
			return runs;
	return 0;
}

double compare_seen_factor(double df)
{
	/* simulated: with few degrees of freedom small estimates mislead most */
	double p = df < 3 ? 0.015 : df < 5 ? 0.1 : 0.25;

	return sqrt(df / stats_chi_square_quantile(p, df));
}

double compare_pilot_factor(double df)
{
	return sqrt(df / stats_chi_square_quantile(0.2, df));
}
