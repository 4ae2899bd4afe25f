/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live-source - the source lines or instructions of a function, with their costs in the last
 * seconds of a stream: keeps profiles of that time, and runs pmu-annotate on their sum.
 */
#pragma once
#include "base/sibling.h"
#include "pprof/decode.h"

#include <stdio.h>

/* Zero-initialised: nothing is kept, and nothing is shown. */
struct live_source {
	struct decoded **kept;	/* the profiles of the last seconds, the oldest first */
	uint32_t *slice;	/* the number of each one's slice */
	size_t profiles;
	uint64_t bytes;		/* in all profiles */
	bool is_shown, is_code;
	char *name;		/* of the function that is shown */
	struct sibling tool;	/* pmu-annotate, while it runs */
	int fd;			/* reads what it writes, while it runs */
	char *text;		/* what it has written */
	size_t size;		/* of TEXT */
	size_t first;		/* line of TEXT that is the first on the screen */
};

/* Keep D, a profile of slice number SLICE, which now belongs to S; or free it if S is full. */
void live_source_keep(struct live_source *s, struct decoded *d, uint32_t slice);

/* Drop the profiles of slices before FIRST. */
void live_source_drop(struct live_source *s, uint32_t first);

/*
 * Show function NAME by its costs of sample type TYPE.  Its lines come later: live_source_fd() is
 * readable then.  A function that is shown is shown anew.
 */
void live_source_show(struct live_source *s, const char *name, const char *type,
		      struct report *report);

/* Return what live_source_read() waits for, or -1 if nothing is awaited. */
int live_source_fd(const struct live_source *s);

/* Read what pmu-annotate has written.  Return whether all is there. */
bool live_source_read(struct live_source *s, struct report *report);

/* Print what a screen of this size shows. */
void live_source_print(struct live_source *s, size_t columns, size_t lines, FILE *out);

/* Scroll, change what is shown, or end that. */
void live_source_press(struct live_source *s, int key, size_t page, const char *type,
		       struct report *report);

void live_source_release(struct live_source *s);
