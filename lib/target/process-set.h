/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process-set - the processes of the target, whose records are selected.
 *
 * Needed if the kernel records more than the target: if whole CPUs are sampled instead of some
 * processes, or if events that follow new threads also follow new processes (before Linux
 * 5.13).  Zero-initialised: all records are selected.
 */
#pragma once
#include "base/table.h"
#include "record/events.h"

#include <stdbool.h>
#include <sys/types.h>

struct process_set {
	bool on;		/* set by process_set_add() */
	bool children;		/* also select the processes that selected processes create */
	pid_t *pid;		/* selected processes; 0: the pid now belongs to another process */
	size_t pids;
	struct table table;	/* index of PID */
	uint64_t dropped;	/* records that were not selected */
};

/* Turn the selection on, and select the records of process PID. */
void process_set_add(struct process_set *processes, pid_t pid);

/* Return whether PID is selected. */
bool process_set_has(const struct process_set *processes, pid_t pid);

/*
 * Return whether RECORD belongs to a selected process, or to no process.  Also learns from
 * FORK records which new pids belong to the target.
 */
bool process_set_selects(struct process_set *processes, const struct perf_event_header *record,
			 const struct sample_layout *layout);

void process_set_release(struct process_set *processes);
