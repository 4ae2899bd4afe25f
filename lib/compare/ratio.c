/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/ratio.h"
#include "stats/distribution.h"

#include <math.h>

/* Return the sum of WEIGHT in the group that starts at block *I.  Move *I after the group. */
static double sum_group(const struct share_whole *w, const double *weight, const uint32_t *group,
			uint32_t *i)
{
	uint32_t first = *i;
	double sum = 0;

	do
		sum += weight[(*i)++];
	while (group && *i < w->blocks && group[*i] == group[first]);
	return sum;
}

static double sum_all(const struct share_whole *w, const double *weight)
{
	double sum = 0;

	for (uint32_t i = 0; i < w->blocks; i++)
		sum += weight[i];
	return sum;
}

/*
 * Return the jackknife variance of log(A / B) over the groups, times the square of t for their
 * number.  Return -1 if all of A or B is in one group, or if there are fewer than 5 groups.
 */
static double variance_of_log(const struct share_whole *w, const struct ratio_event *a,
			      const struct ratio_event *b, const uint32_t *group)
{
	double of_a = sum_all(w, a->weight), of_b = sum_all(w, b->weight), mean = 0, squares = 0;
	uint32_t groups = 0;

	for (uint32_t i = 0, k = 0; i < w->blocks; ) {
		double x = sum_group(w, a->weight, group, &i);
		double y = sum_group(w, b->weight, group, &k);
		if (x <= 0 && y <= 0)
			continue;
		if (x >= of_a || y >= of_b)
			return -1;
		double without = log((of_a - x) / (of_b - y)), from_mean = without - mean;
		groups++;
		mean += from_mean / groups;
		squares += from_mean * (without - mean);
	}
	if (groups < 5)
		return -1;
	double t = stats_t_quantile(0.025, groups - 1);
	return t * t * (groups - 1.0) / groups * squares;
}

static double largest_variance(const struct share_whole *w, const struct ratio_event *a,
			       const struct ratio_event *b)
{
	return fmax(variance_of_log(w, a, b, NULL), variance_of_log(w, a, b, w->pair));
}

struct ratio ratio_of_events(const struct share_whole *w, const struct ratio_event *a,
			     const struct ratio_event *b)
{
	struct ratio r = { .value = 0 };
	double n = a->samples + b->samples, low, high;

	if (a->samples < 0 || b->samples <= 0 || b->total <= 0)
		return r;
	double v = 1 / a->samples + 1 / b->samples, deff = 1;
	if (a->samples > 0)
		deff = fmax(1, largest_variance(w, a, b) / (STATS_Z * STATS_Z) / v);
	share_wilson(a->samples / n, n / deff, &low, &high);
	double period = a->samples > 0 ? a->total / a->samples : a->period;
	double scale = period / (b->total / b->samples);
	r.value = a->total / b->total;
	r.low = scale * low / (1 - low);
	r.high = scale * high / (1 - high);
	r.is_known = b->samples / deff >= 10;
	return r;
}

struct ratio ratio_of_group(const struct share_whole *w, const struct ratio_event *a,
			    const struct ratio_event *b, bool is_total)
{
	const double rounding = 1e-20;	/* of a variance of logarithms */
	struct ratio r = { .value = 0 };

	if (a->total < 0 || b->total <= 0 || (a->total <= 0 && !is_total))
		return r;
	double v = a->total > 0 ? largest_variance(w, a, b) : -1;
	double half = v > rounding ? sqrt(v) : 0;
	r.value = a->total / b->total;
	r.low = r.value * exp(-half);
	r.high = r.value * exp(half);
	r.is_exact = half <= 0;
	r.is_known = v >= 0 || is_total;
	return r;
}
