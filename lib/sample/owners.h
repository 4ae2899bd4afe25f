/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners - threads that may have each event twice.
 *
 * A thread created while its parent's events were being opened has inherited
 * some of them, all or none: nothing tells which.  So its events are opened as
 * well, and of its samples, and those of what it creates, only these count.
 * Zero-initialised: no thread is in doubt.
 */
#pragma once
#include "base/table.h"
#include "sample/counters.h"
#include "stream/event.h"

struct owners {
	struct owner {
		pid_t tid;
		uint32_t task;	/* struct counter's: whose samples count; OWNER_ANY: all */
		uint64_t since;	/* ns: a FORK record after it is of another thread with this id */
	} *owner;
	size_t count;
	struct table table;	/* over OWNER */
};

#define OWNER_ANY UINT32_MAX

/* Of TID, which is there at TIME (ns), only samples of the counters of this TASK count. */
void owners_set(struct owners *owners, pid_t tid, uint32_t task, uint64_t time);

/* Whether RECORD counts.  FORK records tell who is whose heir; they come in order of time. */
bool owners_pass(struct owners *owners, const struct counters *counters,
		 const struct perf_event_header *record, const struct sample_layout *layout);

void owners_release(struct owners *owners);
