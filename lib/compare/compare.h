/* SPDX-License-Identifier: Apache-2.0 */
/* compare - tests whether the shares of two profiles differ, and how many samples that takes. */
#pragma once
#include "compare/share.h"
#include "stats/change.h"

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

/* Return the p of DIFFERENCE if VARIANCE, that of sampling, is the only cause of chance. */
double compare_steady(double difference, double variance);

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
