/* SPDX-License-Identifier: Apache-2.0 */
/* target - what to sample: a command, processes, threads, a cgroup, or whole CPUs. */
#pragma once
#include "base/report.h"
#include "linux/cpus.h"

#include <stddef.h>
#include <sys/types.h>

/* Zero-initialised: nothing. */
struct target {
	char *const *command;	/* run this, NULL-terminated */
	pid_t *pid;		/* processes, with all their threads */
	size_t pids;
	bool by_search;		/* found by user or name: if one has ended, that is not an error */
	pid_t *tid;		/* single threads */
	size_t tids;
	bool system;		/* everything that runs on the CPUs */
	int cgroup;		/* descriptor of a cgroup's directory; 0: none */
	struct cpu_list cpus;	/* sample on these CPUs only; empty: on all that are online */
	bool wakers;		/* beside PID: also who wakes threads of these processes */
	bool children;		/* also the processes that these processes create */
};

/*
 * Add the processes or threads in a list of ids such as "42,43" to a struct target, or set its CPUs
 * from a list such as "0-3,8".  Return NULL, or LIST if it is malformed.  For
 * command_option.parse; TARGET_*_TAKES are its "takes".
 */
const char *target_parse_pids(const char *list, void *target);
const char *target_parse_tids(const char *list, void *target);
const char *target_parse_cpus(const char *list, void *target);

#define TARGET_PIDS_TAKES "a pid or a list of pids"
#define TARGET_TIDS_TAKES "a thread id or a list of thread ids"
#define TARGET_CPUS_TAKES "a list of CPUs such as 0-3,8"

/*
 * Add all processes of a user, given by name or number.  False (reported) if the user has no
 * process.
 */
bool target_add_user(struct target *t, const char *user, struct report *report);

/*
 * Add all processes with the name COMM; only its first 15 bytes count.  False (reported) if no
 * process has that name.
 */
bool target_add_comm(struct target *t, const char *comm, struct report *report);

/* Open the cgroup PATH, relative to the mount point of cgroups.  False: reported. */
bool target_set_cgroup(struct target *t, const char *path, struct report *report);

/* Return whether events are opened per CPU, instead of per task. */
static inline bool target_is_by_cpu(const struct target *t)
{
	return t->system || t->cgroup;
}

/* Return whether the processes of others are recorded, too, if only because they wake threads. */
static inline bool target_needs_others(const struct target *t)
{
	return target_is_by_cpu(t) || t->wakers;
}

void target_release(struct target *t);
