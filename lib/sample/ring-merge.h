/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge - the records of several rings by time, lent where they lie.
 *
 *	struct merge m;
 *	const struct perf_event_header *record;
 *
 *	merge_begin(&m, ring, rings, layout, horizon);
 *	while ((record = merge_next(&m)))
 *		...
 *	merge_end(&m);
 *
 * A ring's own records come in order; the merge takes the oldest of all rings
 * again and again, and stops at a horizon: younger records stay in their
 * rings, since another CPU may still be about to write an older one.
 */
#pragma once
#include "record/events.h"
#include "sample/ring.h"

struct merge {
	const struct sample_layout *layout;
	uint64_t horizon;
	struct offer {			/* a heap, the oldest on top */
		uint64_t time;
		const struct perf_event_header *record;
		struct ring *ring;
	} *offer;
	size_t offers;
	struct ring *lent;		/* whose record was handed out last, or NULL */
	uint64_t time;			/* of that record, ns */
};

/*
 * Begin with what the rings held at their last refresh; those without a
 * descriptor are passed over.  Records older than HORIZON (ns) will come.
 */
void merge_begin(struct merge *m, struct ring *ring, size_t rings,
		 const struct sample_layout *layout, uint64_t horizon);

/* The next record, or NULL; it lives until the next call, which takes it from its ring. */
const struct perf_event_header *merge_next(struct merge *m);

void merge_end(struct merge *m);
