/* SPDX-License-Identifier: Apache-2.0 */
/* compare - whether two profiles, or two groups of runs, differ; and what it takes to see it. */
#pragma once
#include "stats/share.h"

#include <stddef.h>

/* The change from a base, and how sure it is. */
struct change {
	double difference;
	double low, high;	/* of the difference, 95 % */
	double error, df;	/* its standard error, and degrees of freedom */
	double p;		/* probability of such a difference, or a larger, by chance */
};

/*
 * Compare the shares of two parts of two profiles, by z and by t over the blocks of time, the
 * most cautious of them.  Where no such test can be made, events that were recorded completely
 * are taken for samples.  BY_LEVEL, if not NULL, gets the p of each: z, blocks, pairs, runs; 0
 * for a test that was not made.
 */
struct change compare_shares(const struct share_whole *base, const struct share_part *base_part,
			     const struct share_whole *after, const struct share_part *after_part,
			     double by_level[1 + SHARE_LEVELS]);

/*
 * Compare the means of values of runs by Welch's test.  QUANTUM is the size of one step of the
 * values, which counts where all are equal.
 */
struct change compare_runs(const double *base, size_t bases, const double *after, size_t afters,
			   double quantum);

/* The same for COUNT pairs of runs. */
struct change compare_pairs(const double *base, const double *after, size_t count,
			    double quantum);

/* Return the probability of this difference, or more, if the true one were just LIMIT. */
double compare_above(const struct change *c, double limit);

/*
 * Set Q[i] to the false discovery rate at which test i is called, by Benjamini and Hochberg;
 * P[i] is its probability by chance.
 */
void compare_discoveries(const double *p, size_t count, double *q);

/*
 * Return the number of samples a side at which a function with SHARE, slower by CHANGE (0.03),
 * is found in 80 of 100 comparisons of COUNT functions, by z.  FACTOR is the price of
 * the more cautious test: 1.5.
 */
double compare_samples_needed(double share, double change, double count, double factor);

/* Return the smallest CHANGE that SAMPLES a side find so, or INFINITY if none below 1000 %. */
double compare_change_seen(double share, double samples, double count, double factor);

/* Return the power to find a change of EFFECT standard deviations with RUNS a side at LEVEL. */
double compare_power(size_t runs, double effect, double level);

/* Return how many runs a side it takes for a power of 80 %; 0: more than 10,000. */
size_t compare_runs_needed(double effect, double level);

/*
 * Return the factor for the standard deviation of a pilot with DF degrees of freedom: the upper
 * 80 % limit of the true one.
 */
double compare_pilot_factor(double df);
