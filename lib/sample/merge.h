/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge - the records of all rings, by time, straight into an output.
 *
 * A ring's own records come in order; the merge takes the oldest of all rings
 * again and again, and stops at a horizon: younger records stay in their
 * rings, since another CPU may still be about to write an older one.
 */
#pragma once
#include "base/output.h"
#include "sample/ring.h"
#include "stream/event.h"

/* What went by.  Zero-initialised: nothing. */
struct merge_counts {
	uint64_t samples;
	uint64_t lost;		/* records that the kernel had no room for */
	uint64_t throttled;	/* times that an event was stopped for coming too fast */
	uint64_t first, last;	/* times of the first and last sample */
};

/*
 * Write all records older than HORIZON (ns) of RINGS rings, whose records
 * without one have no time.  Returns how many.
 */
uint64_t merge_rings(struct ring *ring, size_t rings, const struct sample_layout *layout,
		     uint64_t horizon, struct output *out, struct merge_counts *counts);
