/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio - the ratio of two events in a function, such as misses per access, with its interval.
 *
 * If each event has samples of its own, the ratio follows from a share: the samples of the first
 * event among the samples of both are binomial.  If both counters were read together, at the
 * samples of one event, the error is estimated from the blocks of time alone.
 */
#pragma once
#include "compare/share.h"

struct ratio_event {
	const double *weight;	/* by block */
	double total;		/* sum of all weights */
	double samples;		/* number of samples */
	double period;		/* mean weight of a sample, over all functions */
};

struct ratio {
	double value, low, high;
	bool is_known;		/* false: there are too few samples for a ratio */
	bool is_exact;		/* it is the same in all blocks, or was counted: no interval */
};

/*
 * Return the ratio of two events that have samples of their own.  WHOLE has the blocks; its
 * weights are not used.
 */
struct ratio ratio_of_events(const struct share_whole *whole, const struct ratio_event *a,
			     const struct ratio_event *b);

/*
 * Return the ratio of two events whose counters were read together.  IS_TOTAL: of all samples; it
 * was counted, and is exact if there are too few blocks to say how much it varies.
 */
struct ratio ratio_of_group(const struct share_whole *whole, const struct ratio_event *a,
			    const struct ratio_event *b, bool is_total);
