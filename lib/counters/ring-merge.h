/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring-merge - reads the records of several rings in order of time, without copying.
 *
 *	struct ring_merge m;
 *	const struct perf_event_header *record;
 *
 *	ring_merge_init(&m, ring, rings, layout, horizon, latest);
 *	while ((record = ring_merge_next(&m)))
 *		...
 *	ring_merge_release(&m);
 *
 * Records within a ring are in order.  The merge returns the oldest record of all rings, until
 * only records at or after a horizon are left: these stay in their rings, because another CPU
 * may still write an older record.
 *
 * A record has the size of its fields and its sample_id, even where the kernel makes it longer
 * (record_size_of_fields()).  A record that is too short for its fields is counted in its ring and
 * left out.
 */
#pragma once
#include "base/heap.h"
#include "counters/ring.h"
#include "record/events.h"

struct ring_merge {
	const struct sample_layout *layout;
	uint64_t horizon, latest;	/* see ring_merge_init() */
	bool doubts_samples;
	struct ring *ring;
	struct heap heads;		/* indexes of rings by the times of their first records */
	struct ring *lent;		/* ring of the record returned last, or NULL */
	const struct perf_event_header *record;	/* that record */
	uint64_t time;			/* time that it counts with, ns, at most LATEST */
};

/*
 * Start to merge the records older than HORIZON (ns) that the rings held at their last
 * refresh.  Rings without a descriptor are skipped.  No record can have a time after LATEST: one
 * that does holds nothing back, but counts as as old as the record before it in its ring.
 *
 * DOUBTS_SAMPLES: samples may have the time of another session's event, by another clock.  Such a
 * sample counts as between its neighbours in the ring.
 */
void ring_merge_init(struct ring_merge *m, struct ring *ring, size_t rings,
		     const struct sample_layout *layout, uint64_t horizon, uint64_t latest,
		     bool doubts_samples);

/* Return the next record, or NULL.  It is valid until the next call, which consumes it. */
const struct perf_event_header *ring_merge_next(struct ring_merge *m);

void ring_merge_release(struct ring_merge *m);
