/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/share-internal.h"
#include "stats/distribution.h"

#include <math.h>
#include <stddef.h>

void share_wilson(double p, double n, double *low, double *high)
{
	const double z = STATS_Z, scale = 1 + z * z / n;
	double centre = (p + z * z / (2 * n)) / scale;
	double half = z / scale * sqrt(fmax(0, p * (1 - p) / n) + z * z / (4 * n * n));

	/* for a p of 0 or 1 the limit is exactly that, without a rounding error */
	*low = p <= 0 ? 0 : fmin(p, fmax(0, centre - half));
	*high = p >= 1 ? 1 : fmax(p, fmin(1, centre + half));
}

/*
 * Return W's weight in the group that starts at block *I, and set *PART to the sum of WEIGHT in
 * it.  Move *I after the group.
 */
static double next_group(const struct share_whole *w, const double *weight,
			 const uint32_t *group, uint32_t *i, double *part)
{
	uint32_t first = *i;
	double sum = 0;

	*part = 0;
	do {
		sum += w->weight[*i];
		*part += weight[*i];
		++*i;
	} while (group && *i < w->blocks && group[*i] == group[first]);
	return sum;
}

struct share_jackknife share_jackknife(const struct share_whole *w, const double *weight,
				       const uint32_t *group)
{
	double all = 0, of_part = 0, mean = 0, squares = 0, part;
	uint32_t groups = 0;

	for (uint32_t i = 0; i < w->blocks; i++) {
		all += w->weight[i];
		of_part += weight[i];
	}
	for (uint32_t i = 0; i < w->blocks; ) {
		double sum = next_group(w, weight, group, &i, &part);
		if (sum <= 0 || sum >= all)
			continue;
		double without = (of_part - part) / (all - sum), from_mean = without - mean;
		groups++;
		mean += from_mean / groups;
		squares += from_mean * (without - mean);
	}
	return (struct share_jackknife){
		.variance = groups ? (groups - 1.0) / groups * squares : 0, .groups = groups };
}

const uint32_t *share_level(const struct share_whole *w, int level)
{
	return level == 0 ? NULL : level == 1 ? w->pair : w->run;
}

void share_prepare(struct share_whole *w)
{
	static const uint32_t least[SHARE_LEVELS] = { 5, 5, 3 };

	for (int level = 0; level < SHARE_LEVELS; level++) {
		uint32_t groups = share_jackknife(w, w->weight, share_level(w, level)).groups;
		double ratio = groups < least[level] ? 0
			       : stats_t_quantile(0.025, groups - 1) / STATS_Z;
		w->price[level] = ratio * ratio;
	}
}

double share_floor(const struct share_whole *w, const struct share_part *part)
{
	double p = part->total / w->total;

	if (w->is_complete)
		return 0;
	double least = w->most > 0 ? p * (1 - p) / w->most : 0;
	double others = fmax(0, w->squares - part->squares);
	double floor = ((1 - p) * (1 - p) * part->squares + p * p * others) / (w->total * w->total);
	return fmax(least, floor);
}

double share_kish(const struct share_whole *w)
{
	return w->squares > 0 ? w->total * w->total / w->squares : 0;
}

double share_neumann(const struct share_whole *w, const double *weight, uint32_t *blocks)
{
	double all = 0, part = 0, steps = 0, squares = 0, last = 0;

	*blocks = 0;
	for (uint32_t i = 0; i < w->blocks; i++) {
		all += w->weight[i];
		part += weight[i];
	}
	for (uint32_t i = 0; i < w->blocks; i++) {
		if (w->weight[i] <= 0)
			continue;
		double x = weight[i] / w->weight[i], from_mean = x - part / all;
		squares += from_mean * from_mean;
		if (*blocks > 0)
			steps += (x - last) * (x - last);
		last = x;
		++*blocks;
	}
	return squares > 0 ? steps / squares : 2;
}

double share_neumann_limit(uint32_t blocks)
{
	double b = blocks;

	return 2 - 2 * 2.326347874040841 * sqrt((b - 2) / (b * b - 1));
}

/* Return whether all WEIGHT is in consecutive blocks, at most half of BLOCKS. */
static bool is_one_stretch(const struct share_whole *w, const double *weight, uint32_t blocks)
{
	uint32_t stretches = 0, length = 0;
	bool inside = false;

	for (uint32_t i = 0; i < w->blocks; i++) {
		if (w->weight[i] <= 0)
			continue;
		stretches += weight[i] > 0 && !inside;
		inside = weight[i] > 0;
		length += inside;
	}
	return stretches == 1 && length <= blocks / 2;
}

static bool changes_slowly(const struct share_whole *w, const struct share_part *part)
{
	uint32_t blocks;
	double neumann = share_neumann(w, part->weight, &blocks);

	return neumann < share_neumann_limit(blocks) ||
	       (part->samples >= 5 && is_one_stretch(w, part->weight, blocks));
}

/*
 * Set *LOW and *HIGH to Wilson's interval of the share P with VARIANCE.  Return the number of
 * samples that would have this variance; without a variance it is SAMPLES.
 */
static double interval(double p, double variance, double samples, double *low, double *high)
{
	double n = p > 0 && p < 1 && variance > 0 ? p * (1 - p) / variance : samples;

	share_wilson(p, n, low, high);
	return n;
}

/* Add to B, a bar of what was sampled, what was measured. */
static void add_measured(struct share_bar *b, const struct share_whole *w,
			 const struct share_part *part)
{
	double all = w->total + w->measured, scale = w->total / all, more = part->measured / all;

	b->share = fmin(1, more + scale * b->share);
	b->low = more + scale * b->low;
	b->high = fmin(1, more + scale * b->high);
	b->low_run = more + scale * b->low_run;
	b->high_run = fmin(1, more + scale * b->high_run);
	b->floor *= scale * scale;
	b->variance *= scale * scale;
	b->is_measured = part->measured > 0;
	if (part->total > 0)
		return;
	b->low = b->high = b->low_run = b->high_run = b->share;
	b->is_exact = true;
}

/* Return the bar of the share of PART in what was sampled of WHOLE; its total is above 0. */
static struct share_bar sampled_bar(const struct share_whole *w, const struct share_part *part)
{
	struct share_bar b = { .share = fmin(1, part->total / w->total),
			       .floor = share_floor(w, part) };

	if (w->is_complete) {
		b.is_exact = true;
		b.sampled = b.low = b.high = b.low_run = b.high_run = b.share;
		return b;
	}
	b.variance = b.floor;
	for (int level = 0; level < SHARE_LEVELS; level++) {
		if (w->price[level] == 0)
			continue;
		struct share_jackknife j = share_jackknife(w, part->weight, share_level(w, level));
		double variance = j.variance * w->price[level];
		b.by_level[level] = j.variance;
		b.is_marked |= level == 0 && w->runs == 1 && variance > b.floor &&
			       changes_slowly(w, part);
		b.variance = fmax(b.variance, variance);
	}
	b.sampled = b.share;
	b.effective = interval(b.share, b.variance, share_kish(w), &b.low, &b.high);
	interval(b.share, b.floor, share_kish(w), &b.low_run, &b.high_run);
	return b;
}

struct share_bar share_bar(const struct share_whole *w, const struct share_part *part)
{
	struct share_bar b = { .is_exact = true };

	if (w->total > 0)
		b = sampled_bar(w, part);
	if (w->measured > 0)
		add_measured(&b, w, part);
	return b;
}

/* Return the variance of a share at LEVEL: a smaller level has larger factors for groups. */
static double variance_at(const struct share_whole *w, const struct share_part *part, double level)
{
	double most = share_floor(w, part), z = stats_normal_quantile(level / 2);

	for (int i = 0; i < SHARE_LEVELS; i++) {
		if (w->price[i] == 0)
			continue;
		struct share_jackknife j = share_jackknife(w, part->weight, share_level(w, i));
		double ratio = stats_t_quantile(level / 2, j.groups - 1) / z;
		most = fmax(most, j.variance * ratio * ratio);
	}
	return most;
}

void share_select(const struct share_whole *w, const struct share_part *part, bool run,
		  double level, struct share_bar *b)
{
	double low = run ? b->low_run : b->low, high = run ? b->high_run : b->high;
	double all = w->total + w->measured, p = b->sampled;

	if (b->is_exact || w->total <= 0)
		return;
	double v = run ? share_floor(w, part) : variance_at(w, part, level);
	double n = p > 0 && p < 1 && v > 0 ? p * (1 - p) / v : share_kish(w);
	double from = p > 0 ? stats_beta_quantile(level / 2, p * n, (1 - p) * n + 1) : 0;
	double to = p < 1 ? stats_beta_quantile(1 - level / 2, p * n + 1, (1 - p) * n) : 1;
	b->low_selected = fmin(low, (part->measured + w->total * from) / all);
	b->high_selected = fmax(high, (part->measured + w->total * to) / all);
	b->is_selected = true;
}

bool share_may_be_zero(const struct share_bar *b)
{
	return !b->is_exact && !b->is_measured &&
	       b->sampled * b->effective < STATS_Z * STATS_Z * (1 - b->sampled);
}
