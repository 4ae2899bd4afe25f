/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running - which threads of a recording run at a moment, by its context switches.
 *
 * A thread runs from its switch in until its switch out or exit.  A sample shows that its thread
 * runs, and if the CPU is known, a thread shows that the thread before has left the CPU.  So a
 * lost record does no harm for longer than until its thread, or its CPU, has the next record.
 */
#pragma once
#include "base/table.h"

#include <stdbool.h>
#include <sys/types.h>

#define RUNNING_NO_CPU UINT32_MAX	/* the CPU is unknown */

struct running_thread {
	pid_t tid;
	uint32_t cpu;		/* that it runs on, or RUNNING_NO_CPU */
	uint64_t losses;	/* records had been lost so many times when it was last seen */
};

/* Zero-initialised: no thread runs. */
struct running {
	struct running_thread *thread;	/* those that run */
	uint32_t count;
	uint64_t ran;		/* ns so far in which any thread ran */
	uint64_t uncertain;	/* calls of running_sample() that may have counted wrongly */
	/* private: */
	struct table table;	/* over THREAD, by tid */
	pid_t *on_cpu;		/* by CPU: the thread that runs there, or 0 */
	uint32_t cpus;
	uint64_t losses;	/* times that records were lost */
	uint32_t unseen;	/* threads without a record since then */
	uint64_t time;		/* of the last record; 0: none */
};

/* Thread TID was switched in at TIME.  TID 0, or less: no thread; CPU is idle. */
void running_in(struct running *r, pid_t tid, uint32_t cpu, uint64_t time);

/* Thread TID was switched out of CPU at TIME, or has exited. */
void running_out(struct running *r, pid_t tid, uint32_t cpu, uint64_t time);

/* There is a sample of TID.  Return how many threads run, TID included; 0 if TID is no thread. */
uint32_t running_sample(struct running *r, pid_t tid, uint32_t cpu, uint64_t time);

/* Records were lost: the threads that run now may have stopped. */
void running_lost(struct running *r);

/* Nothing happened until TIME. */
void running_reach(struct running *r, uint64_t time);

/* Start to count the time and the uncertain samples anew. */
void running_restart(struct running *r);

void running_release(struct running *r);
