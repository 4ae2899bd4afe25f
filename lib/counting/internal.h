/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "counting/counting.h"

/* counts - the descriptors of events that count. */

/* The caller sets EVENTS and REPORT; the rest is zero: none is open. */
struct counts {
	const struct event_list *events;
	struct report *report;
	struct count {
		int fd;
		uint64_t id;		/* in a read of its group */
		uint32_t event;		/* index into EVENTS */
		uint32_t leader;	/* index into COUNT of the leader of its group */
	} *count;
	size_t opened;
};

/* Return the index after the last event of the group whose first event is FIRST. */
uint32_t counts_group_end(const struct event_list *events, uint32_t first);

/*
 * Open all events on thread TID; with PERF_FLAG_PID_CGROUP in FLAGS, on the cgroup with the
 * descriptor TID; -1: everything.  CPU -1: on any CPU.  False: reported.  If the thread has ended,
 * returns true and sets *ENDED.
 */
bool counts_open(struct counts *c, pid_t tid, int cpu, unsigned long flags, bool *ended);

/* Let all events count (ON) that an exec does not start, or stop all.  False: reported. */
bool counts_enable(const struct counts *c, bool on);

/* Add what the events have counted to VALUE, by event.  False (reported): a read failed. */
bool counts_read(const struct counts *c, struct counting_value *value);

void counts_close(struct counts *c);
