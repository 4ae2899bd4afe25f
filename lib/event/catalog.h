/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog - all events that this machine, the makers' tables or libpfm4 know.
 *
 * The groups come in this order: generic hardware, software and cache events, the PMUs in
 * sysfs, the CPU models of libpfm4, those of the makers' tables, tracepoints.
 */
#pragma once
#include "event/event.h"

struct catalog_entry {
	const char *group;	/* "software", "cpu", "icx", "sched" */
	const char *kind;	/* "generic", "pmu", "model", "tracepoint"; "terms": not an event,
				   but the list of a PMU's terms */
	const char *name;	/* name for event_parse() */
	const char *text;	/* description, or "" */
	const char *others;	/* other names of the event, joined by ", "; or "" */
	int index;		/* of a model event, for models_attribute(); otherwise -1 */
};

struct catalog_options {
	const struct event_options *event;	/* paths of sysfs and tracefs */
	const char *pmu;	/* only this PMU or model; NULL: all that are present */
	bool all_models;	/* only models, including those of other CPUs */
	char *const *glob;	/* patterns; MODEL::NAME adds the events of MODEL */
	size_t globs;		/* number of patterns */
};

/* Zero-initialised: empty. */
struct catalog {
	struct catalog_entry *entry;
	size_t count;
	struct arena arena;	/* strings of the entries */
};

/* Add all entries that OPTIONS select.  False: OPTIONS name an unknown PMU or model. */
bool catalog_read(struct catalog *catalog, const struct catalog_options *options);

void catalog_release(struct catalog *catalog);
