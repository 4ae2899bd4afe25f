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

/* Read type and CPUs of PMU, once.  False: it has no type. */
bool pmus_load(struct pmus *pmus, struct pmu *pmu);

/*
 * Return the names in DIRECTORY ("events", "format") of PMU, sorted, with their number in
 * *COUNT.  The caller frees the array.
 */
const char **pmus_names(struct pmus *pmus, const struct pmu *pmu, const char *directory,
			size_t *count);

/* Read the file NAME in DIRECTORY ("": its own) of PMU into TEXT.  False: it cannot be read. */
bool pmus_text(const struct pmus *pmus, const struct pmu *pmu, const char *directory,
	       const char *name, char *text, size_t size);

void pmus_release(struct pmus *pmus);

/* The bits of a config word that hold a term's value. */
struct pmu_format {
	unsigned int word;	/* 0..3: config, config1, config2, config3 */
	uint64_t bits;		/* mask; the value fills it from its lowest bit up */
};

/* Parse "config1:0-7,32".  False: TEXT is malformed. */
bool pmu_format_parse(const char *text, struct pmu_format *format);

/* Distribute VALUE over the bits of FORMAT into *SPREAD.  False: VALUE does not fit. */
bool pmu_format_spread(const struct pmu_format *format, uint64_t value, uint64_t *spread);
