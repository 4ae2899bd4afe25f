/* SPDX-License-Identifier: Apache-2.0 */
/* cpus - the CPUs of this machine, and lists of CPUs as Linux writes them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialised: empty. */
struct cpu_list {
	int *cpu;		/* ascending, without duplicates */
	size_t count;
};

/*
 * Add the CPUs of a text such as "0-3,8" to LIST.  False: the text is malformed, and LIST has only
 * the CPUs before the error.
 */
bool cpus_add(struct cpu_list *list, const char *text);

/* Return whether CPU is one of the COUNT CPUS. */
bool cpus_has(const int *cpus, size_t count, int cpu);

/* Return the CPUs that are online; without /sys, those that we or init may use.  Empty: unknown. */
struct cpu_list cpus_online(void);

/* Return the CPUs that this machine can have, online or not.  Empty: unknown. */
struct cpu_list cpus_possible(void);

/* Where a CPU is. */
struct cpu_place {
	bool is_known;			/* false: the kernel does not say; all numbers are 0 */
	int package, core, node;	/* CORE: its number in the package */
};

struct cpu_place cpus_place(int cpu);

void cpus_release(struct cpu_list *list);

/* Store the name of the CPU's model in MODEL.  False: it has no name (ARM has only numbers). */
bool cpus_model(char *model, size_t size);
