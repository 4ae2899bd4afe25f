/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor - whether this machine can profile, and how to make it.
 *
 * Each finding is one line, with the command that mends it.  "bad" stands in
 * the way of profiling; "note" limits it.
 */
#pragma once
#include "base/report.h"

#include <sys/types.h>

enum finding_state { FINDING_OK, FINDING_NOTE, FINDING_BAD };

struct finding {
	enum finding_state state;
	const char *topic;	/* "paranoid level": the same in every version, for scripts */
	char text[256];		/* what was found */
	char mend[256];		/* the command that mends it; "": none is needed, or known */
};

/* Zero-initialised: none. */
struct findings {
	struct finding *finding;	/* freed by its user */
	size_t count;
};

/* A new finding.  It stays valid until the next. */
struct finding *finding_add(struct findings *all, enum finding_state state, const char *topic);

/*
 * Print all findings on this machine, and on the process PID unless it is 0, as
 * text or JSON.  REPORT fails, without a message, if something is bad.
 */
void doctor_print(pid_t pid, bool json, struct report *report);

/* doctor-process.c: the findings on the process PID. */
void doctor_process(struct findings *all, pid_t pid);
