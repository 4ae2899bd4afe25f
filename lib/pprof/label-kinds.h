/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label-kinds - the labels that we give to samples, as profiles have them.
 *
 * Names and units are the same as in perf_to_profile, if it has them.
 */
#pragma once
#include <stdbool.h>

enum fact_kind {
	FACT_PID, FACT_TID, FACT_COMM, FACT_THREAD_COMM, FACT_CPU, FACT_CGROUP, FACT_TIME,
	FACT_MODE, FACT_DATA_SRC, FACT_SNOOP, FACT_WEIGHT, FACT_ADDR, FACT_PHYS_ADDR,
	FACT_DATA_PAGE, FACT_CODE_PAGE, FACT_TRANSACTION, FACT_SLICE, FACT_RUN, FACT_PARALLELISM,
	FACT_LOCK, FACT_WAKER, FACT_ENDED, FACT_RULE, FACT_FIELD, FACT_PROGRAM, FACT_PROGRAM_STATE,
};

enum {
	LABELS_CHOSEN = FACT_SLICE,	/* the kinds before this are chosen by name */
	FACT_KINDS = FACT_PROGRAM_STATE + 1
};

/* By enum fact_kind. */
extern const struct label_kind {
	const char *name;	/* "": the name is not ours */
	const char *unit;	/* of numbers; "": none */
	bool is_text;
} label_kinds[FACT_KINDS];

/*
 * The label of samples whose labels of the program are not known, or only in part; its value says
 * which.
 */
#define LABELS_STATE "labels"

/* The names that users may choose, separated by commas. */
extern const char label_names[];

/* Prefix of a name: the label with this name of the profiled program is meant, not ours. */
#define LABEL_PROGRAM_PREFIX "label:"

/* Return whether we make a label called NAME, other than fields and labels of the program. */
bool label_is_ours(const char *name);

/* Return whether pprof or our tools would mistake the program's KEY for a label of their own. */
bool label_is_reserved(const char *key);

/*
 * Return what a label is called in profiles, if NAME asks for it: a label:KEY of the program is
 * KEY there, unless KEY is one of our own names.
 */
const char *label_shown(const char *name);
