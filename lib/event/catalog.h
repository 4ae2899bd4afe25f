/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog - every event there is to choose from.
 *
 * In groups, in this order: hardware, software and cache events of the
 * kernel's interface, the PMUs of sysfs, the models of libpfm4, tracepoints.
 */
#pragma once
#include "event/event.h"

struct catalog_entry {
	const char *group;	/* "software", "cpu", "icx", "sched" */
	const char *kind;	/* "generic", "pmu", "model", "tracepoint" */
	const char *name;	/* as event_parse() takes it */
	const char *text;	/* what it counts; "" where nobody says */
	const char *others;	/* further names, joined by ", "; or "" */
	int index;		/* of a model's event, for models_attribute(); else -1 */
};

struct catalog_options {
	const struct event_options *event;	/* where to look */
	const char *pmu;	/* only this PMU or model; NULL: all that are present */
	bool all_models;	/* also of models that this machine is not */
	char *const *glob;	/* MODEL::NAME among these GLOBS adds that model */
	size_t globs;
};

/* Zero-initialised: empty. */
struct catalog {
	struct catalog_entry *entry;
	size_t count;
	struct arena arena;
};

/* Add all entries.  False: there is no such PMU or model. */
bool catalog_read(struct catalog *catalog, const struct catalog_options *options);

void catalog_release(struct catalog *catalog);
