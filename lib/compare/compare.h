/* SPDX-License-Identifier: Apache-2.0 */
/* compare - tests whether two profiles or groups of runs differ, and how much data that takes. */
#pragma once
#include "compare/share.h"

#include <stddef.h>

/* The change from a base, with its uncertainty. */
struct change {
	double difference;
	double low, high;	/* 95 % confidence interval of the difference */
	double error, df;	/* standard error of the difference, and its degrees of freedom */
	double p;		/* probability of a difference at least as large by chance */
	double steady;		/* the same if sampling were the only cause of chance */
};

/*
 * What a comparison says of a function.  Unsteady: its change is at least half a percentage point
 * of the total, and sampling cannot be the cause, but the function varies that much within a run,
 * or between equal runs.
 */
enum verdict {
	VERDICT_FEW,		/* too few samples to compare */
	VERDICT_CHANCE,		/* the change may be chance */
	VERDICT_UNSTEADY,
	VERDICT_SURE,
};

/* The largest P and STEADY of the functions that are called; negative: none is. */
struct verdict_limits {
	double p, steady;
};

/*
 * Return the verdict on C, a change from the share BASE of the total to the share AFTER.  This is
 * the only function that judges: so tables and pages agree.
 */
enum verdict compare_verdict(const struct verdict_limits *limits, const struct change *c,
			     double base, double after);

/*
 * Compare the share of a part in two profiles, by a z test and by t tests over the blocks of
 * time.  The most cautious test counts.  If no test is possible, events that were recorded
 * completely are treated as samples.  BY_LEVEL, if not NULL, gets the p of each test: z, blocks,
 * pairs, runs; 0 for a test that was not possible.
 */
struct change compare_shares(const struct share_whole *base, const struct share_part *base_part,
			     const struct share_whole *after, const struct share_part *after_part,
			     double by_level[1 + SHARE_LEVELS]);

/*
 * Compare the mean values of two groups of runs by Welch's test.  QUANTUM is the smallest step
 * of a value; it gives the variance if all values of a group are equal.
 */
struct change compare_runs(const double *base, size_t bases, const double *after, size_t afters,
			   double quantum);

/* Compare COUNT pairs of runs by the t test on their differences.  QUANTUM as above. */
struct change compare_pairs(const double *base, const double *after, size_t count,
			    double quantum);

/* Return the p of DIFFERENCE if VARIANCE, that of sampling, is the only cause of chance. */
double compare_steady(double difference, double variance);

/* Return half the width of C's interval that leaves out TAIL on each side. */
double compare_half(const struct change *c, double tail);

/* Return the probability of a difference of C's size or more if the true difference is LIMIT. */
double compare_above(const struct change *c, double limit);

/*
 * Set Q[i] to the lowest false discovery rate at which test i is called, by the method of
 * Benjamini and Hochberg.  P[i] is the p of test i.
 */
void compare_discoveries(const double *p, size_t count, double *q);

/* Return the largest P[i] with a Q[i] up to FDR, or -1 if none has. */
double compare_limit(const double *p, const double *q, size_t count, double fdr);

/*
 * Return how many samples each side needs for a z test to find a function with SHARE that got
 * slower by CHANGE (such as 0.03) in 80 of 100 comparisons of COUNT functions.  FACTOR is how
 * many times more samples the more cautious test needs, such as 1.5.
 */
double compare_samples_needed(double share, double change, double count, double factor);

/*
 * Return the smallest change that compare_samples_needed() finds with SAMPLES on each side, or
 * INFINITY if it is above 1000 %.
 */
double compare_change_seen(double share, double samples, double count, double factor);

/*
 * Return the power (0 to 1) to find a change of EFFECT standard deviations with RUNS on each side
 * at the significance LEVEL.
 */
double compare_power(size_t runs, double effect, double level);

/* Return how many runs each side needs for a power of 80 %; 0: more than 10,000. */
size_t compare_runs_needed(double effect, double level);

/*
 * Return the factor for a standard deviation estimated with DF degrees of freedom, such that
 * changes computed from it are found in about 80 of 100 comparisons, over all such estimates.
 */
double compare_seen_factor(double df);

/*
 * Return the factor that turns a standard deviation estimated with DF degrees of freedom into the
 * upper 80 % limit of the true standard deviation.
 */
double compare_pilot_factor(double df);
