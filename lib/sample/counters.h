/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters - events opened on threads: one file descriptor for each event,
 * thread and CPU, and one ring for each CPU that all of them write to.
 *
 * An inherited event cannot be mapped unless it is bound to a CPU
 * (kernel/events/core.c, perf_mmap), so following new threads takes a
 * descriptor per CPU.
 */
#pragma once
#include "event/event.h"
#include "sample/ring.h"

#include <sys/types.h>

/* Zero-initialised: none open. */
struct counters {
	const struct event_list *events;
	struct report *report;
	size_t ring_size;		/* bytes of data of each ring */
	int *cpu;			/* online */
	struct ring *ring;		/* of each CPU */
	size_t cpus;
	int *fd;
	size_t fds;
	struct ids {			/* of each event: what its samples may carry */
		uint64_t *id;
		size_t count;
	} *ids;
};

/*
 * Get ready to open EVENTS with rings of RING_SIZE bytes: finds the CPUs and
 * raises the limit of open files.  False (reported) on failure.
 */
bool counters_init(struct counters *c, const struct event_list *events, size_t ring_size,
		   struct report *report);

/*
 * Open all events on thread TID.  False (reported) where that fails; a thread
 * that has ended meanwhile is no failure, but *ENDED.
 */
bool counters_open(struct counters *c, pid_t tid, bool *ended);

/* Whether a FORK record in the rings tells of TID: it began under our events. */
bool counters_saw_fork(struct counters *c, pid_t tid);

/* Stop counting, everywhere. */
void counters_stop(void);

void counters_close(struct counters *c);
