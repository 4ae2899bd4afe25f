/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubt - what the totals of an event count twice: see owners.h.
 *
 * The kernel adds what an inherited copy of an event counted and lost to the event of the parent,
 * so a copy is known only by its samples.  The samples that came are dropped.  How many a copy took
 * in all follows from what the thread's own event counted in about the same time.
 */
#pragma once
#include "counters/counters.h"

/* The samples of an event. */
struct doubt_samples {
	uint64_t sum;		/* sum of the periods of the samples that count */
	uint64_t period;	/* their mean; 0: unknown */
	uint64_t dropped;	/* number of samples that an inherited copy took */
	bool in_part;		/* some of what was counted takes no samples: event_samples_all() */
};

/* Return the lost samples in T, without those of inherited copies that are known. */
uint64_t doubt_lost(const struct counters_total *t, const struct doubt_samples *samples);

/*
 * Return how many more lost samples there are than WRITTEN, of which a record was written before.
 * There may be fewer, because a counter was closed or a copy became known: then return 0.
 */
uint64_t doubt_newly_lost(const struct counters_total *t, const struct doubt_samples *samples,
			  uint64_t written);

/*
 * Leave out of T what inherited copies counted and lost.  IN_DOUBT becomes what may remain: at most
 * what the lost samples stand for, because a copy is known as soon as one of its samples comes; but
 * a copy whose samples are IN_PART may have counted and taken none.
 */
void doubt_leave_out(struct counters_total *t, const struct doubt_samples *samples);

/* Return by how many percent the count of T may be too high; 0: by 1 % at most. */
double doubt_percent(const struct counters_total *t);
