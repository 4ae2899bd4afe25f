/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share - the share of a function in a profile, with its interval.
 *
 * The error has two parts.  The floor is the sampling error of this recording: Hajek's
 * linearised variance of a ratio, from the squares of the samples' weights.  The second part, the
 * program's own variation, is estimated from blocks of time: the jackknife leaves out each block
 * in turn, then each pair of neighbouring blocks, and with three runs or more each run.  The
 * largest of these variances gives an effective number of samples, which gives Wilson's interval.
 *
 * A function is marked if its share changes slowly over the recording.  One recording cannot show
 * whether the next one will change in the same way, so the bar holds for this recording only.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The levels of groups: blocks of time, pairs of neighbouring blocks, runs. */
enum { SHARE_LEVELS = 3 };

/* All samples of a profile, by blocks of time. */
struct share_whole {
	uint32_t blocks;
	const double *weight;	/* by block: sum of the weights of its samples; 0: empty */
	const uint32_t *pair;	/* by block: number of its pair of neighbours, ascending */
	const uint32_t *run;	/* by block: number of its run, ascending from 0 */
	uint32_t runs;
	double total;		/* sum of all weights, also of samples that are in no block */
	double squares;		/* sum of V * V / c over all cells with value V and count c */
	double most;		/* effective number of samples, at most: where few samples hold the
				   weight, the squares of these few say little; 0: no limit */
	double measured;	/* sum of values that were measured, not sampled; they are in no
				   other field */
	bool is_complete;	/* all events are recorded: shares are exact for this recording,
				   and have no bars */
	double price[SHARE_LEVELS];	/* factor of each level's variance: share_prepare() */
};

/* Part of the samples of a profile, such as those of one function. */
struct share_part {
	const double *weight;	/* by block */
	double total, squares;	/* as in struct share_whole */
	double samples;		/* number of samples, not weighted */
	double measured;	/* as in struct share_whole */
};

struct share_bar {
	double share;
	double low, high;		/* interval of the share in the program */
	double low_run, high_run;	/* interval of the share in this recording */
	double floor, variance;		/* variance of sampling alone; largest of all levels */
	double effective;		/* number of samples that would have VARIANCE */
	double sampled;			/* the share in what was sampled */
	/* if IS_SELECTED: interval that allows for the choice of this row as one of the largest */
	double low_selected, high_selected;
	bool is_selected;
	double by_level[SHARE_LEVELS];	/* variances of the groups; 0: unknown */
	bool is_marked;			/* the share is not constant over the recording */
	bool is_exact;			/* nothing is estimated: no bar */
	bool is_measured;		/* a part of the share was measured */
};

/* Set *LOW and *HIGH to Wilson's interval of the share P in N samples. */
void share_wilson(double p, double n, double *low, double *high);

/*
 * Set W->price from the blocks: for each level the square of t / z, because an estimated variance
 * is less certain than a known one.  A level with too few groups gets 0 and is not used: fewer
 * than 5 blocks, 5 pairs or 3 runs.
 */
void share_prepare(struct share_whole *w);

/*
 * Return the error bar of the share of PART in WHOLE.  What was measured has no error: the bar is
 * of the sampled part only.
 */
struct share_bar share_bar(const struct share_whole *whole, const struct share_part *part);

/*
 * Set B's interval that allows for selection: with the probability LEVEL of a miss instead of 0.05.
 * RUN: it is of this recording only.  It is exact (Clopper and Pearson) for the effective number of
 * samples, because Wilson's interval misses more in its tails.
 */
void share_select(const struct share_whole *w, const struct share_part *part, bool run,
		  double level, struct share_bar *b);

/* Return the effective number of samples in W, by the squares of their weights (Kish). */
double share_kish(const struct share_whole *w);

/* Return whether the share of B may be 0: it is from fewer than about 4 effective samples. */
bool share_may_be_zero(const struct share_bar *b);
