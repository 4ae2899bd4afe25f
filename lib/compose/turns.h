/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns - profiles two commands several times, by pmu-prof, in turns: A B B A A B ...
 *
 * A machine that warms up or slows down is then no difference between the commands.
 */
#pragma once
#include "base/report.h"

#include <stdbool.h>
#include <stddef.h>

struct turns {
	char *directory;	/* of the profiles */
	bool is_ours;		/* it is removed at the end, with the profiles */
	size_t count;		/* runs of each command */
	char **profile[2];	/* of each command: files, by run */
};

/*
 * Run COMMAND[0] and COMMAND[1], lines for a shell, COUNT times each.  DIRECTORY keeps the
 * profiles; NULL: none are kept.  Return false (reported) if something failed or was stopped.
 */
bool turns_run(struct turns *t, char *const command[2], size_t count, const char *directory,
	       struct report *report);

/* Remove what is not kept. */
void turns_release(struct turns *t);
