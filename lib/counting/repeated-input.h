/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeated-input - standard input of a command that is run several times: the same for each run, if
 * that is possible.
 */
#pragma once
#include "base/report.h"

#include <sys/types.h>

/* Zero-initialised: no run was made. */
struct repeated_input {
	bool has_run;
	off_t start;		/* where the first run started to read; negative: not a file */
	bool is_consumed;	/* what one run reads, another cannot read again; not reported */
};

/* Get standard input ready for the next run. */
void repeated_input_begin(struct repeated_input *input, struct report *report);
