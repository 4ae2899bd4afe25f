/* SPDX-License-Identifier: Apache-2.0 */
/* attach - opens the counters on all tasks of a running target. */
#pragma once
#include "counters/counters.h"
#include "counters/owners.h"
#include "target/threads.h"

/*
 * Open COUNTERS on TARGET: its processes, threads, cgroup or CPUs.  Adds the threads found to
 * THREADS, and to OWNERS those that may have inherited events as well.  Sets *BY_CPU if there are
 * more threads than the limit of descriptors allows: the counters are then open on whole CPUs, and
 * the caller must drop the records of other processes.  False (reported): opening failed, or the
 * target has ended.
 */
bool attach(struct counters *counters, const struct target *target, struct threads *threads,
	    struct owners *owners, bool *by_cpu, struct report *report);
