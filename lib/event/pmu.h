/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu - the PMUs that the kernel shows in sysfs, with their terms and events.
 *
 *	/sys/bus/event_source/devices/PMU/type		for perf_event_attr.type
 *	.../cpus	CPUs of a core PMU on a hybrid CPU
 *	.../cpumask	CPUs to open events on, if one CPU counts for its whole package
 *	.../format/TERM	bits that hold a term's value: "config:0-7,32-35"
 *	.../events/NAME	"event=0x3c,umask=0x0"; NAME.unit, NAME.scale
 */
#pragma once
#include "base/arena.h"

#include <stdbool.h>

struct pmu {
	const char *name;	/* "cpu", "cpu_atom", "uncore_imc_0" */
	bool core;		/* a CPU core's PMU: it can count per task */
	/* set by pmus_load() */
	bool loaded;
	uint32_t type;		/* for perf_event_attr.type */
	bool per_cpu;		/* it has a cpumask and is not a core's: it cannot count per task */
	const int *cpu;		/* from cpus or cpumask, ascending; NULL: all */
	size_t cpus;		/* number of these CPUs */
};

/* Zero-initialised: not read yet. */
struct pmus {
	bool read;
	const char *root;	/* path of sysfs */
	struct pmu *pmu;	/* sorted by name */
	size_t count;
	size_t cores;		/* number of core PMUs among them */
	struct arena arena;
};

/* Read the names of all PMUs under ROOT (NULL: SYSFS_ROOT), once. */
void pmus_read(struct pmus *pmus, const char *root);

void pmus_release(struct pmus *pmus);

enum { CPU_ID_SIZE = 64 };

/*
 * Set ID to the id of the CPUs that PMU counts on.  If PMU is NULL, take the first CPU.  An id is
 * "GenuineIntel-6-6A-6" (vendor, family, model and stepping, in hexadecimal), "0x41d0c" (Arm's
 * implementer and part), or "" if it is unknown.  PMUS must have been read.  If its root is a copy
 * of another machine's /sys, the id is the other machine's, or "" if its sysfs does not show it.
 */
void cpu_identify(struct pmus *pmus, struct pmu *pmu, char id[CPU_ID_SIZE]);
