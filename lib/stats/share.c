/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/share-internal.h"
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
	return ((1 - p) * (1 - p) * part->squares + p * p * fmax(0, w->squares - part->squares)) /
	       (w->total * w->total);
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

struct share_bar share_bar(const struct share_whole *w, const struct share_part *part)
{
	struct share_bar b = { .share = fmin(1, part->total / w->total),
			       .floor = share_floor(w, part) };
	double samples = w->total * w->total / w->squares;

	b.variance = b.floor;
	for (int level = 0; level < SHARE_LEVELS; level++) {
		if (w->price[level] == 0)
			continue;
		struct share_jackknife j = share_jackknife(w, part->weight, share_level(w, level));
		double variance = j.variance * w->price[level];
		b.is_marked |= level == 0 && w->runs == 1 && variance > b.floor &&
			       changes_slowly(w, part);
		b.variance = fmax(b.variance, variance);
	}
	b.effective = interval(b.share, b.variance, samples, &b.low, &b.high);
	interval(b.share, b.floor, samples, &b.low_run, &b.high_run);
	if (w->is_complete) {
		b.low_run = b.high_run = b.share;
		b.is_exact = b.variance <= 0;
	}
	if (b.is_exact)
		b.low = b.high = b.share;
	return b;
}

bool share_may_be_zero(const struct share_bar *b)
{
	return !b->is_exact && b->share * b->effective < STATS_Z * STATS_Z * (1 - b->share);
}
