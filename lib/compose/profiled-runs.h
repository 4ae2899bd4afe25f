/* SPDX-License-Identifier: Apache-2.0 */
/* profiled-runs - profiles two commands several times by pmu-prof, in turns. */
#pragma once
#include "base/report.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct profiled_runs {
	bool waits;		/* set by the caller: record for whom threads wait */
	char *const *command;	/* private: both commands, lines for a shell */
	const volatile sig_atomic_t *stop;	/* set: stop after this run */
	struct report *report;	/* private */
	bool is_mid_line;	/* a command has written a part of a line to the terminal */
	char *directory;	/* directory of the profiles */
	bool is_ours;		/* profiled_runs_release() removes the directory and the profiles */
	size_t count;		/* runs of each command */
	char **profile[2];	/* by command, by run: the path of the profile */
};

/*
 * Run COMMAND[0] and COMMAND[1], lines for a shell, COUNT times each.  Keep the profiles in
 * DIRECTORY; NULL: in a new directory that is removed.  Return false (reported) if a run failed or
 * STOP (or NULL) was set.  T is zero-initialised except for WAITS.
 */
bool profiled_runs_make(struct profiled_runs *t, char *const command[2], size_t count,
			const char *directory, const volatile sig_atomic_t *stop,
			struct report *report);

/* Free T, and remove the profiles unless they are kept. */
void profiled_runs_release(struct profiled_runs *t);
