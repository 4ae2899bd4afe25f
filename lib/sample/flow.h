/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow - from the rings to the output: in order of time, without what is not
 * the target's, counted as it goes by.
 */
#pragma once
#include "base/output.h"
#include "sample/counters.h"
#include "sample/filter.h"
#include "sample/flight.h"
#include "sample/go-program.h"
#include "sample/owners.h"

/* What went by. */
struct flow_counts {
	uint64_t samples;
	uint64_t lost;		/* records that the kernel, or we, had no room for */
	uint64_t throttled;	/* times that an event was stopped for coming too fast */
	uint64_t tasks;		/* threads and processes that began */
};

/* The same, of one event. */
struct flow_event {
	uint64_t samples;
	uint64_t sum;		/* of their periods */
	uint64_t lost;		/* as the kernel counts it; so much of it is in the stream */
	uint64_t twice;		/* sum of the periods of samples that came twice: dropped */
};

struct flow {
	struct counters *counters;
	const struct sample_layout *layout;	/* where the time is, the same of all events */
	struct output *out;
	size_t buffer_size;	/* bytes kept for a slow reader, and held by the flight recorder */
	bool flies;		/* samples go out by flow_dump() only */
	struct filter filter;
	struct owners owners;	/* threads that may have inherited what was opened on them */
	struct filter family;	/* if on: all processes that have been ours, for the next file */
	struct flight flight;
	struct go_programs go_programs;
	struct flow_counts counts;
	struct flow_event *event;	/* of each event; the caller's */
	uint64_t time;		/* of the last record, ns */
	uint64_t told_lost;	/* when that was last done, the same clock */
	bool lost_some;		/* since then */
};

/*
 * Move what the rings hold, up to HORIZON (ns; UINT64_MAX: all), to the output.
 * A LOST record says how many records of a ring were lost, but not of which event,
 * nor does one follow what is lost last.  Where the kernel counts each event's,
 * LOST_SAMPLES records by these counts stand instead.  While the output waits for a
 * slow reader with a full buffer the rings keep the records, and what they cannot
 * keep the kernel counts as lost.  False: there was nothing.
 */
bool flow_round(struct flow *flow, uint64_t horizon);

/* The same, with the samples that the flight recorder has. */
void flow_dump(struct flow *flow, uint64_t horizon);

void flow_close(struct flow *flow);
