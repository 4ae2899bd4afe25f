/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group - splits samples that contain the counter values of a whole group of events.
 *
 * Such a sample counts as a sample of each event in the group.  The period is the
 * increase of the event's counter since the last such sample.
 */
#pragma once
#include "base/table.h"
#include "record/sample.h"

enum {
	GROUP_EVENTS_MAX = 64,		/* events of a group; the rest are ignored */
	GROUP_COUNTERS_MAX = 1 << 20,	/* counters of all threads that are kept at a time */
};

/* What a sample counts for one event of its group. */
struct group_increase {
	uint32_t event;		/* index into the stream's events */
	uint64_t period;	/* increase of its counter since the last sample */
};

/* The value of each counter at its last sample.  Zero-initialised: empty. */
struct groups {
	struct group_counter {
		uint64_t id;
		pid_t tid;	/* thread, if threads inherit the event; else 0 */
		uint32_t next;	/* next counter of the thread, or next unused one, or TABLE_NONE */
		uint64_t value;
	} *counter;
	uint32_t counters;	/* elements of COUNTER, also unused ones */
	uint32_t unused;	/* 1 + first unused counter; 0: none */
	uint64_t refused;	/* samples not split, because of GROUP_COUNTERS_MAX */
	struct table table;	/* over COUNTER, by id and thread */
	struct table threads;	/* over the first counter of each thread */
};

/*
 * Fill INCREASE (room for GROUP_EVENTS_MAX) with the events whose counters increased.  Return their
 * number, at least 1: if SAMPLE reads no group or no counter increased, or if there are too many
 * counters to remember, INCREASE[0] has its own event and period.
 */
uint32_t groups_split(struct groups *g, const struct stream_events *events,
		      const struct sample *sample, struct group_increase *increase);

/* Forget the counters of thread TID, which has ended. */
void groups_forget(struct groups *g, pid_t tid);

void groups_release(struct groups *g);
