/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/compare.h"
#include "compare/share-internal.h"
#include "stats/distribution.h"

#include <math.h>

/* A smaller variance of shares is a rounding error. */
#define ROUNDING_OF_SHARES 1e-28

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
	return variance > ROUNDING_OF_SHARES ? stats_both_tails(difference / sqrt(variance), 0) : 1;
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
		p[0] = change_widen(&c, sqrt(of_samples), 0);
	for (int level = 0; level < SHARE_LEVELS; level++) {
		if (a->price[level] == 0 || b->price[level] == 0)
			continue;
		struct share_jackknife ja = share_jackknife(a, pa->weight, share_level(a, level));
		struct share_jackknife jb = share_jackknife(b, pb->weight, share_level(b, level));
		double v = stats_add_variances(ja.variance, ja.groups - 1, jb.variance,
					       jb.groups - 1, &df);
		if (v > ROUNDING_OF_SHARES)
			p[1 + level] = change_widen(&c, sqrt(v), df);
	}
	/* no test was possible: treat complete recordings as samples */
	if (c.error <= 0 && of_samples > ROUNDING_OF_SHARES)
		p[0] = change_widen(&c, sqrt(of_samples), 0);
	else if (c.error <= 0)
		c.p = 1;	/* both shares are 0 or both are 1 */
	for (int i = 0; by_level && i <= SHARE_LEVELS; i++)
		by_level[i] = p[i];
	return c;
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
