/* SPDX-License-Identifier: Apache-2.0 */
/*
 * on-cpu - how long threads were on CPUs between two of their samples, by the records of context
 * switches.  A clock also counts what the kernel takes to switch threads, which these records count
 * as waiting; so its samples and the waits together are too long.
 */
#pragma once
#include "base/arena.h"
#include "base/table.h"

#include <stdbool.h>
#include <sys/types.h>

enum { ON_CPU_THREADS_MAX = 1 << 17 };	/* further threads are not followed */

/* Zero-initialised: no threads. */
struct on_cpu {
	struct on_cpu_thread {
		pid_t tid;
		bool runs;
		uint64_t since;		/* if it runs: time up to which PENDING is counted */
		uint64_t pending;	/* ns on CPUs since its last sample */
	} *thread;
	uint32_t count;
	struct table table;		/* over THREAD, by tid */
};

/* TID runs at TIME: a record was made by it, or it was switched in (IS_SWITCH). */
void on_cpu_runs(struct on_cpu *o, pid_t tid, uint64_t time, bool is_switch);

/* TID was switched out at TIME. */
void on_cpu_out(struct on_cpu *o, pid_t tid, uint64_t time);

/*
 * TID has a sample at TIME.  Set *NS to the time that it was on CPUs since its last sample.  Return
 * false if that is unknown.
 */
bool on_cpu_sample(struct on_cpu *o, pid_t tid, uint64_t time, uint64_t *ns);

/* Forget TID. */
void on_cpu_forget(struct on_cpu *o, pid_t tid);

void on_cpu_release(struct on_cpu *o);
