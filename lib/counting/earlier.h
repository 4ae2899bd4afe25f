/* SPDX-License-Identifier: Apache-2.0 */
/* earlier - what pmu-stat counted earlier, from the JSON that it wrote then. */
#pragma once
#include "base/report.h"
#include "counting/counting-rows.h"
#include "counting/counting-machine.h"

struct earlier {
	struct counting_machine machine;
	char command[512];	/* its words, cut if they are longer; "": unknown */
	char per[256];		/* unit by whose number values are divided; "": they are not */
	char target[256];	/* what was counted, for people; "command": COMMAND; "": unknown */
	uint64_t runs, failed, stopped;
	struct counting_rows rows;
};

/*
 * Read FILE.  If it has several commands, E is the last one.  False (reported): it cannot be read,
 * or is not such JSON.  Release E in any case.
 */
bool earlier_read(struct earlier *e, const char *file, struct report *report);

/* The same from SIZE bytes of TEXT; FILE is a name for messages. */
bool earlier_parse(struct earlier *e, const char *file, const char *text, size_t size,
		   struct report *report);

void earlier_release(struct earlier *e);
