/* SPDX-License-Identifier: Apache-2.0 */
/* target - what to sample: a command, processes, threads, a cgroup, or whole CPUs. */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <sys/types.h>

/* Zero-initialised: nothing. */
struct target {
	char *const *command;	/* run this, NULL-terminated */
	pid_t *pid;		/* processes, with all their threads */
	size_t pids;
	bool by_search;		/* found by user or name: if one has ended, that is no error */
	pid_t *tid;		/* single threads */
	size_t tids;
	bool system;		/* everything that runs on the CPUs */
	int cgroup;		/* descriptor of a cgroup's directory; 0: none */
	int *cpu;		/* sample on these CPUs only, ascending */
	size_t cpus;		/* their number; 0: all that are online */
	bool children;		/* also the processes that these processes create */
};

/*
 * Add the processes, or if ARE_THREADS the threads, in a list of ids such as "42,43".  False:
 * the list is malformed.
 */
bool target_add(struct target *t, const char *list, bool are_threads);

/* Add all processes of a user, named or by number.  False (reported) if there are none. */
bool target_add_user(struct target *t, const char *user, struct report *report);

/*
 * Add all processes with the name COMM, of which the first 15 bytes count.  False (reported)
 * if there are none.
 */
bool target_add_comm(struct target *t, const char *comm, struct report *report);

/* Set the CPUs from a list such as "0-3,8".  False: the list is malformed. */
bool target_set_cpus(struct target *t, const char *list);

/* Open the cgroup PATH, relative to the mount point of cgroups.  False: reported. */
bool target_set_cgroup(struct target *t, const char *path, struct report *report);

/* Return whether events are opened per CPU, instead of per task. */
static inline bool target_is_by_cpu(const struct target *t)
{
	return t->system || t->cgroup;
}

/* Call VISIT for each process that exists now. */
void target_each_process(void (*visit)(pid_t pid, void *context), void *context);

void target_release(struct target *t);
