/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters - events opened on tasks or CPUs: one file descriptor for each
 * event, task and CPU, and one ring for each CPU that all of them write to.
 *
 * An inherited event cannot be mapped unless it is bound to a CPU
 * (kernel/events/core.c, perf_mmap), so following new threads takes a
 * descriptor per CPU.
 */
#pragma once
#include "base/table.h"
#include "event/event.h"
#include "sample/ring.h"
#include "sample/target.h"

#include <sys/types.h>

/* What was counted of an event in all, however often it was sampled. */
struct counters_total {
	uint64_t count;
	uint64_t enabled, running;	/* ns: it should have counted, it did count */
	uint64_t lost;			/* samples that found no room; Linux 6.0 */
};

/* Zero-initialised: none open. */
struct counters {
	const struct event_list *events;
	struct report *report;
	size_t ring_size;		/* bytes of data of each ring */
	int *cpu;			/* ascending */
	struct ring *ring;		/* of each CPU */
	struct ring *overwritten;	/* of each CPU, of the events with attr.write_backward */
	size_t cpus;
	bool all_cpus;			/* nobody has chosen some */
	struct counter {
		int fd;
		uint64_t id;		/* what its samples, and those of its heirs, may carry */
		uint32_t event;
		uint32_t cpu;		/* index into CPU */
		uint32_t task;		/* counts up: which call of counters_open() */
		bool by_cpu;		/* all that the CPU runs, and no one task */
	} *counter;
	size_t count;
	struct table by_id;		/* over COUNTER */
	uint32_t tasks;
	struct ids {			/* of each event: what its samples may carry */
		uint64_t *id;
		size_t count;
	} *ids;
};

/*
 * Get ready to open EVENTS on the CPUs of TARGET with rings of RING_SIZE bytes
 * (halved by itself where the kernel locks less): finds the CPUs and raises
 * the limit of open files.  False (reported) on failure.
 */
bool counters_init(struct counters *c, const struct event_list *events,
		   const struct target *target, size_t ring_size, struct report *report);

/*
 * Descriptors that TASKS more tasks take, and how many may still be opened;
 * rings apart.
 */
void counters_budget(const struct counters *c, size_t tasks, uint64_t *needed, uint64_t *allowed);

/*
 * Open all events on thread TID; or, with FLAGS of PERF_FLAG_PID_CGROUP, on
 * the cgroup of that descriptor; or on whole CPUs (-1).  False (reported)
 * where that fails; a thread that has ended meanwhile is no failure, but
 * *ENDED.
 */
bool counters_open(struct counters *c, pid_t tid, unsigned long flags, bool *ended);

/* Of a thread or process that began under our events, or some of them. */
struct fork_record {
	pid_t tid, parent;
	uint64_t time;		/* ns of the records' clock; it began a little earlier */
};

/* The FORK records that are in the rings now; the caller frees. */
struct fork_record *counters_forks(const struct counters *c, size_t *count);

/* ns of the records' clock */
uint64_t counters_now(const struct counters *c);

/* The counter whose samples have ID, or NULL. */
const struct counter *counters_find(const struct counters *c, uint64_t id);

/* Whether the kernel counts, for each event, the records that found no room.  Linux 6.0. */
bool counters_know_lost(const struct counters *c);

/* Let all events but the last TRACKING ones count, or not. */
void counters_enable(const struct counters *c, uint32_t tracking, bool on);

/*
 * Give every event that has a constant period another one, up to PERCENT from
 * its own, by chance; SEED is the generator's state.  Threads that inherit an
 * event keep the period that it had.
 */
void counters_jitter(const struct counters *c, unsigned percent, uint64_t *seed);

/* Stop everything. */
void counters_stop(void);

/* A CPU that has come online since, and is not among ours though all should be; -1: none. */
int counters_missed_cpu(const struct counters *c);

/* The totals of all events, by their index; all 0 where one cannot be read. */
void counters_totals(const struct counters *c, struct counters_total *total);

void counters_close(struct counters *c);
