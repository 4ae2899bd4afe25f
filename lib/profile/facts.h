/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts - what samples are labelled with: pids, names, times, where data came
 * from, the fields of tracepoints.
 */
#pragma once
#include "profile/labels.h"
#include "record/tracing-data.h"
#include "stream/resolved.h"
#include "stream/tasks.h"

/* Zero-initialised: no labels. */
struct facts {
	struct labels labels;
	struct fact {
		int kind;		/* which of those there are */
		const char *field;	/* of a tracepoint; else NULL */
	} fact[LABEL_KEYS_MAX];		/* by key */
	struct tasks tasks;		/* to know their names */
	struct tracepoints tracepoints;
	struct cgroup {
		uint64_t id;
		const char *path;
	} *cgroup;
	uint32_t cgroups;
	struct table cgroup_table;	/* by id */
	struct arena arena;		/* their paths */
};

/*
 * Ask for labels: LIST has names with commas between, as in --label.  False, and
 * *WRONG points at it, if there is a name that is none.
 */
bool facts_choose(struct facts *f, const char *list, const char **wrong);

/* The names that facts_choose() takes, with commas between. */
extern const char facts_names[];

/* Follow a record that tells names, control groups, or the fields of tracepoints. */
void facts_follow(struct facts *f, const struct record *rec);

/* The set of labels of SAMPLE, whose thread is called COMM, of an event with this ATTR. */
uint32_t facts_labels(struct facts *f, const struct resolved_sample *sample, const char *comm,
		      const struct perf_event_attr *attr);

void facts_release(struct facts *f);
