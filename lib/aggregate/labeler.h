/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labeler - makes the labels of samples: pids, names, times, sources of data, fields of
 * tracepoints, labels of the profiled program.
 */
#pragma once
#include "labels/program-labels.h"
#include "labels/slices.h"
#include "pprof/label-kinds.h"
#include "record/tracing-data.h"
#include "resolved/resolved.h"
#include "stream/tasks.h"

/* Zero-initialised: no labels. */
struct labeler {
	struct labels labels;
	struct fact {
		int kind;		/* enum fact_kind */
		const char *field;	/* name of a tracepoint's field, or NULL */
	} fact[LABEL_KEYS_MAX];		/* by label key */
	struct slices slices;
	uint32_t slice_key, run_key;	/* label keys, if there are slices */
	uint32_t kept;			/* bits of keys that stay if the usual labels are dropped */
	uint32_t parallelism;		/* of the next sample, for its label; 0: unknown */
	struct program_labels program;
	const struct label_sets *sets;	/* of the stream's samples; NULL: it has no labels */
	struct tasks tasks;		/* names of threads and processes */
	struct tracepoints tracepoints;
	struct cgroup {
		uint64_t id;
		const char *path;	/* in CGROUP_PATHS */
		bool is_used;		/* a sample had it lately */
	} *cgroup;
	uint32_t cgroups;
	struct table cgroup_table;	/* over CGROUP, by id */
	struct arena cgroup_paths;
	struct arena arena;		/* names of labels */
};

/*
 * Ask for the labels in LIST, names separated by commas as for --label.  Return false and
 * point *WRONG to the name if a name is unknown or there are too many.
 */
bool labeler_choose(struct labeler *f, const char *list, const char **wrong);

/* Return whether labels of the profiled program were asked for, with label:NAME or label:*. */
bool labeler_wants_program(const struct labeler *f);

/*
 * Return whether all samples of a thread have the same labels until the next record of another
 * type, in a stream without labels of the program, and within a slice of time.
 */
bool labeler_is_by_thread(const struct labeler *f);

void labeler_release(struct labeler *f);
