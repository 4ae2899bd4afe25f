/* SPDX-License-Identifier: Apache-2.0 */
/* rows-by - what the rows of a table stand for: the --by WHAT of all tools. */
#pragma once
#include "pprof/frames.h"

struct rows_by {
	enum frames_by by;	/* if no label is set, and STACKS is not */
	bool stacks;		/* whole stacks of functions */
	const char *label;	/* values of this label, as profiles call it; NULL: not a label */
	const char *of_stream;	/* the labels that a stream must get: "none", "label:user" */
};

/*
 * Parse WHAT: "function", "file", "line", "object", "stack", or else a label.  NULL: functions.
 * Whether the samples have the label is for the caller to find out.  The result points into WHAT.
 */
struct rows_by rows_by(const char *what);
