/* SPDX-License-Identifier: Apache-2.0 */
/* threads - the threads of a process, from /proc/PID/task. */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <sys/types.h>

/* Zero-initialised: none. */
struct threads {
	pid_t *tid;
	size_t count;
};

/*
 * Add the threads that PID has now and THREADS has not yet; those added are
 * the last ones in the array.  False (reported) if there is no such process,
 * or it may not be looked at.
 */
bool threads_scan(struct threads *threads, pid_t pid, struct report *report);

void threads_release(struct threads *threads);

/* Whether TEXT is a process id, and which. */
bool threads_parse_pid(const char *text, pid_t *pid);
