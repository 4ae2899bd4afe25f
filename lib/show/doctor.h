/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor - examine whether this machine can profile, and what to change.
 *
 * Each finding is one line, with a command that fixes the problem.  "bad" prevents profiling;
 * "note" limits it.
 */
#pragma once
#include "base/report.h"

#include <sys/types.h>

enum finding_state { FINDING_OK, FINDING_NOTE, FINDING_BAD };

struct finding {
	enum finding_state state;
	const char *topic;	/* "paranoid level"; scripts rely on it, so never change it */
	char text[256];		/* result */
	char mend[256];		/* command that fixes the problem; "": none needed, or unknown */
};

/* Zero-initialised: none. */
struct findings {
	struct finding *finding;	/* the user frees it */
	size_t count;
};

/* Add a finding and return it.  It is valid until the next one is added. */
struct finding *doctor_add_finding(struct findings *all, enum finding_state state,
				   const char *topic);

/*
 * Examine this machine, and the process PID unless it is 0, and print all findings as text or
 * JSON.  Sets REPORT's status to 1, without a message, if a finding is bad.
 */
void doctor_print(pid_t pid, bool json, struct report *report);

/* doctor-process.c: add the findings about the process PID. */
void doctor_process(struct findings *all, pid_t pid);
