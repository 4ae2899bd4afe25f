/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu-budget - decides whose stacks may still be unwound, if unwinding is limited to a share of the
 * CPU time of all CPUs.
 *
 * The budget remembers how much CPU time the stacks of each process took.  These times halve every
 * few seconds.  Their sum for all processes may reach the share of about five seconds.  A process
 * may take eight times what is left of that sum: so one costly process takes at most eight ninths,
 * two take eight seventeenths each, and the others always find room.  Any process may take what
 * nobody else takes, except a tenth, which is kept for processes that take little.
 *
 * The first stack of a process costs most, because its files and mappings are new.  All new
 * processes together count as one, so that hundreds of short ones do not take the time of the
 * others.  Work that is not for any process is counted for CPU_BUDGET_COMMON.
 */
#pragma once
#include "base/table.h"

#include <stdbool.h>
#include <sys/types.h>

enum { CPU_BUDGET_COMMON = -1 };

struct cpu_budget {
	double room;		/* ns: most of SUM */
	double sum;		/* ns that all processes took, as far as it is remembered */
	uint64_t faded_at;	/* when SUM and the processes' times were last reduced, ns */
	struct cpu_user {
		pid_t pid;
		double taken;	/* its part of SUM, ns */
	} *user;
	uint32_t users;
	struct table table;	/* over USER */
};

/* Use at most SHARE (0 to 1) of the time of CPUS CPUs; 0: none at all. */
void cpu_budget_init(struct cpu_budget *b, double share, unsigned cpus);

/* Return whether a stack of process PID may be unwound at NOW (ns of one clock). */
bool cpu_budget_allows(struct cpu_budget *b, pid_t pid, uint64_t now);

/* Note that NS of CPU time were taken for process PID, or if it is new, for new processes. */
void cpu_budget_charge(struct cpu_budget *b, pid_t pid, uint64_t ns);

void cpu_budget_release(struct cpu_budget *b);
