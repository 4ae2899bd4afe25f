/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "counting/counting.h"
#include "sample/ending.h"
#include "target/child.h"
#include "target/threads.h"

#include <poll.h>

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
		uint32_t unit;
	} *count;
	size_t opened;
	size_t enabled;		/* those before this one were enabled */
	struct counting_value *kept;	/* by unit and event: of units that were closed */
	size_t kept_units;
};

/* Return the index after the last event of the group whose first event is FIRST. */
uint32_t counts_group_end(const struct event_list *events, uint32_t first);

/*
 * Open all events on thread TID; with PERF_FLAG_PID_CGROUP in FLAGS, on the cgroup with the
 * descriptor TID; -1: everything.  CPU -1: on any CPU.  They belong to UNIT.  False: reported.  If
 * the thread has ended, returns true and sets *ENDED.
 */
bool counts_open(struct counts *c, pid_t tid, int cpu, unsigned long flags, uint32_t unit,
		 bool *ended);

/* Let all events count that an exec does not start and that do not count yet.  False: reported. */
bool counts_enable(struct counts *c);

/* Add to VALUE, by unit and event, what was counted.  False (reported): a read failed. */
bool counts_read(const struct counts *c, struct counting_value *value);

/* Read the counts of UNIT for the last time, and close them: its thread has ended. */
void counts_close_unit(struct counts *c, uint32_t unit);

void counts_close(struct counts *c);

/* run - one run, while it goes on. */

struct counted_run {
	struct counting *c;
	struct report *report;
	struct counts counts;
	struct threads threads;	/* of the target, if it is processes; with BY_THREAD, their
				   indices are those of the units */
	uint64_t cleared;	/* when the counts of ended threads were last closed */
	struct child child;	/* the command, if there is one */
	struct ending ending;
	struct pollfd *watched;	/* pidfds of the command and of the target's processes */
	size_t watches;
	bool polls;		/* there are no pidfds, before Linux 5.3: look often */
	char **unit;		/* names */
	size_t units;
	struct counting_value *before;	/* at the last interval, by unit and event */
	size_t before_units;
	uint64_t start, stop_due;	/* monotonic, in ns; 0: no limit */
	uint64_t last, next;	/* the same: last interval, and next one; 0: none */
};

/* Append a unit, and return its index.  NAME is now R's. */
uint32_t run_add_unit(struct counted_run *r, char *name);

/* attach - opens events on a target that is not a command. */

/* Open the events on R's target.  False: reported. */
bool run_attach(struct counted_run *r);

/* With BY_THREAD: open the events on threads that are new at NOW.  False: reported. */
bool run_attach_new(struct counted_run *r, uint64_t now);
