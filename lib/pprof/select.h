/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select - keeps only some samples, labels and sample types of a decoded profile.
 *
 * A profile has less information than a stream: the process, thread or CPU of a sample
 * is known only if it is a label.
 */
#pragma once
#include "pprof/decode.h"

/* A field that is NULL or negative does not select. */
struct profile_selection {
	const char *event;	/* keep the sample types of this event */
	const char *comm;	/* keep samples with this label thread_comm */
	int64_t pid, tid, cpu;	/* keep samples with these labels */
	const char *labels;	/* keep only these label keys, separated by commas; or "none" */
	bool one_type;		/* keep only the default sample type */
};

/*
 * Remove from D everything that WANT does not select.  FILE is the name for messages.
 * Return false (reported) if D does not have the label or event to select by.
 */
bool profile_select(struct decoded *d, const struct profile_selection *want,
		    const char *file, struct report *report);
