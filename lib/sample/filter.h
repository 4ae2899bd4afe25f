/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter - which records are the target's, where the kernel records more.
 *
 * That is so where whole CPUs are sampled for some processes, and where an
 * event that follows new threads follows new processes, too (before Linux
 * 5.13).  Zero-initialised: everything passes.
 */
#pragma once
#include "base/table.h"
#include "record/events.h"

#include <stdbool.h>
#include <sys/types.h>

struct filter {
	bool on;
	bool children;		/* processes that ours create are ours */
	pid_t *pid;		/* of our processes; 0: one of them that is no more */
	size_t pids;
	struct table table;	/* over PID */
	uint64_t dropped;	/* records that were not ours */
};

/* From now on only what has to do with PID, and others so added, passes. */
void filter_add(struct filter *filter, pid_t pid);

/* Whether RECORD is the target's.  FORK records tell whose pid is whose. */
bool filter_passes(struct filter *filter, const struct perf_event_header *record,
		   const struct sample_layout *layout);

void filter_release(struct filter *filter);
