/* SPDX-License-Identifier: Apache-2.0 */
/* target - whom to sample: a command, processes, threads, a cgroup, or everything. */
#pragma once
#include "base/report.h"

#include <stddef.h>
#include <sys/types.h>

/* Zero-initialised: nobody. */
struct target {
	char *const *command;	/* run this, NULL-terminated */
	pid_t *pid;		/* processes, with all their threads */
	size_t pids;
	bool by_user;		/* they were listed: one that has ended is no error */
	pid_t *tid;		/* single threads */
	size_t tids;
	bool system;		/* everything on the CPUs */
	int cgroup;		/* descriptor of a cgroup's directory; 0: none */
	int *cpu;		/* only while on these CPUs, ascending */
	size_t cpus;		/* how many; 0: all that are online */
	bool children;		/* processes that they create, too */
};

/*
 * Add the processes (or, if ARE_THREADS, threads) of a list such as "42,43".
 * False: it is no such list.
 */
bool target_add(struct target *t, const char *list, bool are_threads);

/* Add all processes of a user, named or by number.  False (reported) if there are none. */
bool target_add_user(struct target *t, const char *user, struct report *report);

/* Add all processes of this name, of which 15 bytes count.  False (reported) if there are none. */
bool target_add_comm(struct target *t, const char *comm, struct report *report);

/* Set the CPUs from a list such as "0-3,8".  False: it is no such list. */
bool target_set_cpus(struct target *t, const char *list);

/* Take the cgroup of this PATH, relative to where cgroups are mounted.  False (reported). */
bool target_set_cgroup(struct target *t, const char *path, struct report *report);

/* Whether its CPUs are sampled, whoever runs there, rather than its tasks wherever they run. */
static inline bool target_is_by_cpu(const struct target *t)
{
	return t->system || t->cgroup;
}

/* Call VISIT for each process there is now. */
void target_each_process(void (*visit)(pid_t pid, void *context), void *context);

void target_release(struct target *t);
