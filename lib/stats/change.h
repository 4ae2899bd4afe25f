/* SPDX-License-Identifier: Apache-2.0 */
/* change - the change between two groups of values: its size, its interval, its p. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The change from a base, with its uncertainty. */
struct change {
	double difference;
	double low, high;	/* 95 % confidence interval of the difference */
	double error, df;	/* standard error of the difference, and its degrees of freedom */
	double p;		/* probability of a difference at least as large by chance */
	double steady;		/* the same if sampling were the only cause of chance */
	/* of runs: */
	double base;			/* mean of the base */
	double of_base, of_after;	/* variance of this mean, and of the other mean */
	double base_df, after_df;	/* their degrees of freedom; 0: all values are equal */
};

/*
 * Compare the mean values of two groups of runs, of two values or more each, by Welch's test.
 * QUANTUM is the smallest step of a value; it gives the variance if all values of a group are
 * equal.  If it is 0, such groups have an interval without width, and p is 0 or 1.
 */
struct change change_of_runs(const double *base, size_t bases, const double *after, size_t afters,
			     double quantum);

/* Compare COUNT >= 2 pairs of runs by the t test on their differences.  QUANTUM as above. */
struct change change_of_pairs(const double *base, const double *after, size_t count,
			      double quantum);

/* Return half the width of C's interval that leaves out TAIL on each side. */
double change_half(const struct change *c, double tail);

/* Return the probability of a difference of C's size or more if the true difference is LIMIT. */
double change_above(const struct change *c, double limit);

/*
 * Set *LOW and *HIGH to the 95 % limits of the difference of runs as a share of the base, whose
 * mean is not 0 but uncertain, too: by Fieller, with Welch's degrees of freedom.  A limit is
 * infinite if the base may be 0.  MAY_BE_NEGATIVE: the values may be below 0.
 */
void change_share_limits(const struct change *c, bool may_be_negative, double *low, double *high);

/*
 * Return the probability of a difference of C's size or more if the true difference is LIMIT as a
 * share of the base.
 */
double change_above_share(const struct change *c, double limit);

/*
 * Return the sum of A and B, the variances of two means with DF_A and DF_B degrees of freedom.  Set
 * *DF to the degrees of freedom of the sum, by Welch; 0 if the sum is 0.
 */
double stats_add_variances(double a, double df_a, double b, double df_b, double *df);

/*
 * Return the two-sided p, 0 to 1, of a difference that is RATIO times its error: of Student's t
 * with DF degrees of freedom, or of the normal distribution if DF is 0.
 */
double stats_both_tails(double ratio, double df);

/*
 * Widen C's interval and raise its p to what the standard error ERROR > 0 with DF degrees of
 * freedom (0: normal) gives, if that is more cautious.  Return the p of ERROR alone.
 */
double change_widen(struct change *c, double error, double df);
