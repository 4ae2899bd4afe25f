/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select - the samples, labels and sample types of a profile that were asked for.
 *
 * A profile keeps less than a stream: a process, a thread, a CPU is known only
 * where it is a label.
 */
#pragma once
#include "profile/decode.h"

/* Each is absent: NULL, or a negative number. */
struct profile_selection {
	const char *event;	/* keep the sample types of this event */
	const char *comm;	/* keep samples with this label thread_comm */
	int64_t pid, tid, cpu;	/* keep samples with these labels */
	const char *labels;	/* keep labels with these keys only, separated by commas; "none" */
};

#define PROFILE_SELECT_ALL { NULL, NULL, -1, -1, -1, NULL }

/*
 * Take out of D, which was read from FILE, what was not asked for.  False
 * (reported) if D does not have the label or event to select by.
 */
bool profile_select(struct decoded *d, const struct profile_selection *want,
		    const char *file, struct report *report);
