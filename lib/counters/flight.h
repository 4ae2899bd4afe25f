/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight - the flight recorder: the kernel overwrites old samples in its rings, and we write
 * the rings' contents only on request (a dump).
 *
 * Records of mappings and threads must not be overwritten, so they have separate rings.  We
 * hold these records in memory until the next dump, to keep the stream in order of time.
 */
#pragma once
#include "counters/counters.h"
#include "record/events.h"

/* Zero-initialised: nothing held. */
struct flight {
	struct ring held;	/* held records of mappings and threads, in memory */
	struct ring *copy;	/* during a dump: a copy of each CPU's ring, then HELD */
	size_t copies;		/* number of copies, without HELD */
	uint64_t dumped_to;	/* ns: older samples have been written */
	uint64_t released_to;	/* ns: older samples would be out of order, and are dropped */
};

/*
 * Hold RECORD until the next dump.  False: the held records would exceed LIMIT bytes; the caller
 * must write them by flight_release() and try again.
 */
bool flight_hold(struct flight *flight, const struct perf_event_header *record, uint64_t limit);

/*
 * Return the held records as *RINGS rings, for ring_merge_init(); flight_end() must follow.
 * Samples older than TIME can no longer be written in order, and are lost.
 */
struct ring *flight_release(struct flight *flight, uint64_t time, size_t *rings);

/*
 * Return copies of the overwritten rings of COUNTERS, and the held records, as *RINGS rings, for
 * ring_merge_init(); flight_end() must follow.  The kernel continues to write during the copy.
 */
struct ring *flight_dump(struct flight *flight, const struct counters *counters, size_t *rings);

/* Free the rings of the last call.  All their records up to HORIZON (ns) must have been merged. */
void flight_end(struct flight *flight, uint64_t horizon);

void flight_close(struct flight *flight);
