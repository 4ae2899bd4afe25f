/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu - the PMUs that the kernel shows in sysfs, with their terms and events.
 *
 *	/sys/bus/event_source/devices/PMU/type		for perf_event_attr.type
 *	.../cpus	the CPUs of a core PMU that is one of several kinds
 *	.../cpumask	the CPUs to open on, where one counts for a whole package
 *	.../format/TERM	where a term's value goes: "config:0-7,32-35"
 *	.../events/NAME	"event=0x3c,umask=0x0"; NAME.unit, NAME.scale
 */
#pragma once
#include "base/arena.h"

#include <stdbool.h>

struct pmu {
	const char *name;	/* "cpu", "cpu_atom", "uncore_imc_0" */
	bool core;		/* counts what tasks do on a core */
	/* set by pmus_load() */
	bool loaded;
	uint32_t type;		/* for perf_event_attr.type */
	bool per_cpu;		/* it has a cpumask and is no core's: counts for no task */
	const int *cpu;		/* from cpus or cpumask, ascending; NULL: all */
	size_t cpus;
};

/* Zero-initialised: not read yet. */
struct pmus {
	bool read;
	const char *root;	/* of sysfs */
	struct pmu *pmu;	/* by name */
	size_t count;
	size_t cores;		/* how many of them are core PMUs */
	struct arena arena;
};

/* Read the names of all PMUs under ROOT (NULL: "/sys"), once. */
void pmus_read(struct pmus *pmus, const char *root);

/* Read the rest of what is told of PMU.  False: it has no type. */
bool pmus_load(struct pmus *pmus, struct pmu *pmu);

/* The names in a directory ("events", "format") of PMU, by name; *COUNT of them.  Caller frees. */
const char **pmus_names(struct pmus *pmus, const struct pmu *pmu, const char *directory,
			size_t *count);

/* The text of a file of PMU.  False: there is none. */
bool pmus_text(const struct pmus *pmus, const struct pmu *pmu, const char *directory,
	       const char *name, char *text, size_t size);

void pmus_release(struct pmus *pmus);

/* Where a term's value goes: the bits of one config word. */
struct pmu_format {
	unsigned int word;	/* 0..3: config, config1, config2, config3 */
	uint64_t bits;		/* filled from the lowest up */
};

/* Parse "config1:0-7,32".  False: it is no format. */
bool pmu_format_parse(const char *text, struct pmu_format *format);

/* VALUE spread over the bits of FORMAT.  False: it does not fit. */
bool pmu_format_spread(const struct pmu_format *format, uint64_t value, uint64_t *spread);
