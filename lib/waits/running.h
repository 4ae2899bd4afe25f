/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running - counts the running threads of a recording, by its context switches.
 *
 * A thread runs from its switch in until its switch out or exit.  A sample shows that its thread
 * runs.  If the CPU is known, it also shows that the CPU's previous thread does not.  So the
 * effect of a lost record ends with the next record of its thread or its CPU.
 */
#pragma once
#include "base/table.h"

#include <stdbool.h>
#include <sys/types.h>

#define RUNNING_NO_CPU UINT32_MAX	/* the CPU is unknown */

struct running_thread {
	pid_t tid;
	uint32_t cpu;		/* that it runs on, or RUNNING_NO_CPU */
	uint64_t losses;	/* value of running.losses when the thread was last seen */
};

/* Zero-initialised: no thread runs. */
struct running {
	struct running_thread *thread;	/* those that run */
	uint32_t count;
	uint64_t ran;		/* time in which any thread ran, in ns */
	uint64_t uncertain;	/* calls of running_sample() whose result may be wrong */
	/* private: */
	struct table table;	/* over THREAD, by tid */
	pid_t *on_cpu;		/* by CPU: the thread that runs there, or 0 */
	uint32_t cpus;
	uint64_t losses;	/* how many times records were lost */
	uint32_t unseen;	/* threads without a record since the last loss */
	uint64_t time;		/* time of the last record; 0: none */
};

/* Thread TID was switched in at TIME.  TID <= 0: CPU is idle. */
void running_in(struct running *r, pid_t tid, uint32_t cpu, uint64_t time);

/* Thread TID was switched out of CPU at TIME, or has exited. */
void running_out(struct running *r, pid_t tid, uint32_t cpu, uint64_t time);

/* TID was sampled.  Return how many threads run, including TID; 0 if TID is not a thread. */
uint32_t running_sample(struct running *r, pid_t tid, uint32_t cpu, uint64_t time);

/* Records were lost: the threads that run now may have stopped. */
void running_lost(struct running *r);

/* Nothing happened until TIME. */
void running_reach(struct running *r, uint64_t time);

/* Start to count the time and the uncertain samples anew. */
void running_restart(struct running *r);

void running_release(struct running *r);
