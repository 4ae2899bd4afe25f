/* SPDX-License-Identifier: Apache-2.0 */
/* threads - the threads of processes, from /proc/PID/task. */
#pragma once
#include "base/report.h"
#include "base/table.h"

#include <stddef.h>
#include <sys/types.h>

struct thread {
	pid_t pid, tid;
	uint64_t opened;	/* ns of the records' clock: all events were on it; 0: none was */
	bool inherits;		/* all events, from a thread that had them when it created this */
};

/* Zero-initialised: none. */
struct threads {
	struct thread *thread;
	size_t count;
	struct table table;	/* by tid */
};

/*
 * Add the threads that PID has now and THREADS has not yet; those added are
 * the last ones in the array.  False with errno set if they cannot be listed.
 */
bool threads_scan(struct threads *threads, pid_t pid);

/* Add one thread, whose process is found out.  False with errno set if there is none. */
bool threads_add(struct threads *threads, pid_t tid);

/* The thread with this id, or NULL.  It moves when one is added. */
struct thread *threads_find(const struct threads *threads, pid_t tid);

void threads_release(struct threads *threads);

/* Whether TEXT is a process id, and which. */
bool threads_parse_pid(const char *text, pid_t *pid);
