/* SPDX-License-Identifier: Apache-2.0 */
/* threads - lists the threads of processes, from /proc/PID/task. */
#pragma once
#include "base/report.h"
#include "base/table.h"

#include <stddef.h>
#include <sys/types.h>

struct target_thread {
	pid_t pid, tid;
	uint64_t opened;	/* time when all events were open on it, ns of the records' clock;
				   0: not opened */
	bool inherits;		/* it has inherited all events from its creator */
};

/* Zero-initialised: none. */
struct threads {
	struct target_thread *thread;
	size_t count;
	struct table table;	/* index by tid */
};

/*
 * Append the threads that PID has now and that are not in the array yet.  False with errno set:
 * they cannot be listed.
 */
bool threads_scan(struct threads *threads, pid_t pid);

/* Add one thread; its process is read from /proc.  False: there is no such thread. */
bool threads_add(struct threads *threads, pid_t tid);

/* Return the thread TID, or NULL.  Valid until the next thread is added. */
struct target_thread *threads_find(const struct threads *threads, pid_t tid);

/* Copy the ids of the first threads to TID, at most MOST.  Returns how many. */
size_t threads_first(const struct threads *threads, pid_t *tid, size_t most);

void threads_release(struct threads *threads);
