/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns - profiles two commands several times by pmu-prof, in turns: A B B A A B ...
 *
 * A machine that warms up or slows down then affects both commands equally.
 */
#pragma once
#include "base/report.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct turns {
	const volatile sig_atomic_t *stop;	/* set: stop after this run */
	bool is_mid_line;	/* a command has written a part of a line to the terminal */
	char *directory;	/* directory of the profiles */
	bool is_ours;		/* turns_release() removes the directory and the profiles */
	size_t count;		/* runs of each command */
	char **profile[2];	/* by command, by run: the path of the profile */
};

/*
 * Run COMMAND[0] and COMMAND[1], lines for a shell, COUNT times each.  Keep the profiles in
 * DIRECTORY; NULL: in a new directory that is removed.  Return false (reported) if a run failed or
 * STOP (or NULL) was set.
 */
bool turns_run(struct turns *t, char *const command[2], size_t count, const char *directory,
	       const volatile sig_atomic_t *stop, struct report *report);

/* Free T, and remove the profiles unless they are kept. */
void turns_release(struct turns *t);
