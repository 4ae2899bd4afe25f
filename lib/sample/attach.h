/* SPDX-License-Identifier: Apache-2.0 */
/* attach - open the counters on all tasks of a target that runs already. */
#pragma once
#include "sample/counters.h"
#include "sample/owners.h"
#include "sample/threads.h"

/*
 * Open COUNTERS, which count at once, on TARGET: its processes, threads,
 * cgroup or CPUs.  THREADS gets the threads there were, OWNERS those that may have
 * inherited what was opened on them, too.  *BY_CPU: they were
 * too many for our descriptors, so everything on the CPUs is counted, and
 * what is not the target's must be left out.  False (reported) where it fails,
 * or nothing of the target is left.
 */
bool attach(struct counters *counters, const struct target *target, struct threads *threads,
	    struct owners *owners, bool *by_cpu, struct report *report);
