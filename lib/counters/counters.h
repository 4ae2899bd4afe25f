/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters - events opened on tasks or CPUs: one file descriptor per event, task and CPU.  All
 * events on a CPU write to one ring.  The last event of the list is a dummy event
 * (counters/settings.h): all records but samples are its records.
 *
 * Following new threads takes a descriptor per CPU: the kernel maps an inherited event only if
 * it is bound to a CPU (kernel/events/core.c, perf_mmap).
 */
#pragma once
#include "base/table.h"
#include "counters/ring.h"
#include "event/event.h"
#include "labels/label-recorder.h"
#include "target/target.h"

#include <sys/types.h>

/* The total of an event over all its counters; it does not depend on sampling. */
struct counters_total {
	uint64_t count;
	uint64_t enabled;		/* ns that the event should have counted */
	uint64_t running;		/* ns that the event counted: less if it was multiplexed */
	uint64_t lost;			/* lost samples; 0 before Linux 6.0 */
	uint64_t twice;			/* of COUNT: counted for a second time, see owners.h */
	uint64_t in_doubt;		/* of COUNT: counted, perhaps, for a second time */
};

/* Zero-initialised: none open. */
struct counters {
	const struct event_list *events;
	struct report *report;
	size_t ring_size;		/* data bytes per ring */
	int *cpu;			/* ascending */
	struct ring *ring;		/* one per CPU */
	struct ring *overwritten;	/* one per CPU, for events with attr.write_backward */
	size_t cpus;
	bool all_cpus;			/* the user did not select CPUs */
	struct counter {
		int fd;
		uint64_t id;		/* the ID in its samples, also in threads that inherit it */
		uint32_t event;		/* index into EVENTS */
		uint32_t cpu;		/* index into CPU */
		uint32_t task;		/* number of the counters_open() call */
		bool by_cpu;		/* it counts everything on its CPU, not a task */
	} *counter;
	size_t count;
	struct table by_id;		/* index of COUNTER */
	uint32_t tasks;			/* number of counters_open() calls */
	uint32_t doubtful;		/* from this task on, events may be there twice; 0: none */
	struct label_recorder *labels;	/* attached to the events; NULL: record no labels */
	struct ids {			/* per event: the IDs of its counters */
		uint64_t *id;
		size_t count;
	} *ids;
};

/*
 * Prepare to open EVENTS on the CPUs of TARGET: find the CPUs, and raise the limit of open
 * files.  Rings will have RING_SIZE bytes, or less if the kernel does not lock so much memory.
 * False: reported.
 */
bool counters_init(struct counters *c, const struct event_list *events,
		   const struct target *target, size_t ring_size, struct report *report);

/*
 * Set *NEEDED to the number of descriptors for TASKS more tasks, *ALLOWED to how many may be
 * opened.
 */
void counters_budget(const struct counters *c, size_t tasks, uint64_t *needed, uint64_t *allowed);

/*
 * Open all events on thread TID; if FLAGS is PERF_FLAG_PID_CGROUP, on the cgroup with the
 * descriptor TID; if TID is -1, on whole CPUs.  False: reported.  If the thread has ended,
 * returns true and sets *ENDED.
 */
bool counters_open(struct counters *c, pid_t tid, unsigned long flags, bool *ended);

/* A FORK record of a thread or process whose parent has some of our events. */
struct fork_record {
	pid_t tid, parent;
	uint64_t time;		/* ns of the records' clock, a little after the fork */
};

/* Return the FORK records that are in the rings now, their number in *COUNT.  Caller frees. */
struct fork_record *counters_forks(const struct counters *c, size_t *count);

/* Return the current time of the records' clock, in ns. */
uint64_t counters_now(const struct counters *c);

/* Return the counter whose samples have ID, or NULL. */
const struct counter *counters_find(const struct counters *c, uint64_t id);

/* Return whether the kernel counts lost records per event (Linux 6.0). */
bool counters_have_lost(const struct counters *c);

/* Enable (ON) or disable all sampled events. */
void counters_enable(const struct counters *c, bool on);

/*
 * Change the period of each event that has a constant period to a random one, within PERCENT
 * of its preset; SEED is the generator's state.  Threads that have inherited the event keep
 * their period.
 */
void counters_jitter(const struct counters *c, unsigned percent, uint64_t *seed);

/* Disable all events that this process has opened. */
void counters_stop(void);

/* If all CPUs are sampled: return a CPU that came online after counters_init(); otherwise -1. */
int counters_new_cpu(const struct counters *c);

/*
 * Read the totals of all events into TOTAL, by event index.  Unreadable counters add 0.  TWICE: for
 * each of the first TASKS tasks and each event, whether the task's threads are known to have it
 * twice.
 */
void counters_totals(const struct counters *c, const bool *twice, uint32_t tasks,
		     struct counters_total *total);

void counters_close(struct counters *c);
