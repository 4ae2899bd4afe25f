/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside - threads of other processes that wake those of the target.
 *
 * All CPUs are recorded, and the records of other processes are dropped, except for samples of
 * wakes of the target's threads, and for the names and mappings that their stacks need.  Processes
 * may queue for one lock in shared memory: then the unlock that wakes another process is the end of
 * a critical section for which the target waited, too.  So wakes by futex() are kept.
 *
 * A wake only names a thread.  A thread that waits has had a record before, or was there at the
 * start, so all threads of the target are known.
 */
#pragma once
#include "event/event.h"
#include "record/tracing-data.h"
#include "target/process-set.h"
#include "target/threads.h"

/* Zero-initialised: off. */
struct outside {
	bool on;
	uint32_t event;			/* whose samples are wakes */
	char arch[65];			/* as uname(2) has it */
	struct tracepoints formats;
	struct process_set threads;	/* of the target, by thread id; some may have ended */
};

/* Turn it on.  EVENTS has EVENT_WAKING; THREADS: of the target. */
void outside_begin(struct outside *o, const struct event_list *events,
		   const struct threads *threads);

/*
 * Return whether to take RECORD; IS_OWN: it is one of the target.  EVENT: of a SAMPLE.  LAYOUT: of
 * all records.
 */
bool outside_takes(struct outside *o, const struct stream_events *events, uint32_t event,
		   const struct perf_event_header *record, const struct sample_layout *layout,
		   bool is_own);

void outside_release(struct outside *o);
