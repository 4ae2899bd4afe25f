/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight - the flight recorder: samples go round in rings that the kernel
 * overwrites, and leave them only when asked for.
 *
 * Mappings and names of threads must not be overwritten: they have rings of
 * their own, and what comes from these is held here until samples go out, so
 * that the stream stays in order of time.
 */
#pragma once
#include "record/events.h"
#include "sample/counters.h"

/* Zero-initialised: nothing held. */
struct flight {
	struct ring held;	/* records of mappings and threads, in memory */
	struct ring *copy;	/* while samples go out: of each CPU, then HELD */
	size_t copies;
	uint64_t dumped_to;	/* ns: older samples have gone out */
	uint64_t released_to;	/* ns: older samples cannot go out any more, in order */
};

/*
 * Hold RECORD back until the next dump.  False, and it is not held, where that
 * would take more than LIMIT bytes: the caller then takes the held ones by
 * flight_release() and goes on.
 */
bool flight_hold(struct flight *flight, const struct perf_event_header *record, uint64_t limit);

/*
 * The held records, to be merged and then ended by flight_end().  Samples older
 * than TIME are lost with that.
 */
struct ring *flight_release(struct flight *flight, uint64_t time, size_t *rings);

/*
 * The held records and copies of what the overwritten rings of COUNTERS have
 * now, to be merged and then ended by flight_end().  The kernel goes on
 * meanwhile.
 */
struct ring *flight_dump(struct flight *flight, const struct counters *counters, size_t *rings);

/* Everything up to HORIZON has been taken of what the last call gave. */
void flight_end(struct flight *flight, uint64_t horizon);

void flight_close(struct flight *flight);
