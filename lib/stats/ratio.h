/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio - how sure the ratio of two events in a function is, such as misses per access.
 *
 * If each event was sampled by itself, then of all samples of both, those of the first are
 * binomial: a ratio of two counts is a share in disguise.  If both were read together, at the
 * samples of one event, only the blocks of time show the error.
 */
#pragma once
#include "stats/share.h"

struct ratio_event {
	const double *weight;	/* by block */
	double total;		/* of all weights */
	double samples;		/* counted */
	double period;		/* mean weight of a sample, of all functions */
};

struct ratio {
	double value, low, high;
	bool is_known;		/* else there are too few samples to say anything */
};

/* Two events, each sampled by itself.  WHOLE has the blocks; its weights are not used. */
struct ratio ratio_of_events(const struct share_whole *whole, const struct ratio_event *a,
			     const struct ratio_event *b);

/* Two events whose counters were read together. */
struct ratio ratio_of_group(const struct share_whole *whole, const struct ratio_event *a,
			    const struct ratio_event *b);
