/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group - samples that read the counters of a whole group of events.
 *
 * Such a sample is one of each event in the group: of as much as its counter
 * went on since the sample before.
 */
#pragma once
#include "base/table.h"
#include "record/sample.h"

enum { GROUP_PARTS_MAX = 64 };	/* events of a group that are looked at */

struct group_part {
	uint32_t event;		/* index into the stream's events */
	uint64_t period;	/* by how much its counter went on */
};

/* What each counter had at its last sample.  Zero-initialised: nothing. */
struct groups {
	struct group_counter {
		uint64_t id;
		pid_t tid;	/* where threads inherit the event; else 0 */
		uint64_t value;
	} *counter;
	uint32_t counters;
	struct table table;
};

/*
 * The parts of SAMPLE whose counters went on; PART has room for GROUP_PARTS_MAX.
 * A sample that reads no group, or of which nothing went on, is one of its event.
 */
uint32_t groups_split(struct groups *g, const struct stream_events *events,
		      const struct sample *sample, struct group_part *part);

void groups_release(struct groups *g);
