/* SPDX-License-Identifier: Apache-2.0 */
/* child - a command to profile: started, held before its exec, then let go. */
#pragma once
#include "base/report.h"

#include <sys/types.h>

struct child {
	pid_t pid;		/* 0: none */
	int go;			/* writing here lets it exec */
	int failed;		/* its errno comes from here if exec fails */
};

/*
 * Fork; the child waits.  If STDOUT_IS_TAKEN, by the stream, what it prints
 * goes to stderr.  False (reported) where that fails.
 */
bool child_start(struct child *child, char *const *command, bool stdout_is_taken,
		 struct report *report);

/* Let it exec.  False (reported) where it could not: what it names is no command. */
bool child_go(struct child *child, const char *name, struct report *report);

/* Whether it has. */
bool child_has_ended(const struct child *child);

/*
 * End it, where it still runs, so that no orphan is left.  Returns its status
 * as a shell gives it: its exit status, or 128 and the signal that ended it.
 * Where it failed by itself, and NAME is not NULL, a line says so.
 */
int child_stop(struct child *child, const char *name, struct report *report);
