/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of doctor: what it found of the machine (doctor.c) and of a process. */
#pragma once
#include "show/doctor.h"

enum finding_state { FINDING_OK, FINDING_NOTE, FINDING_BAD };

struct finding {
	enum finding_state state;
	const char *topic;	/* "paranoid level"; scripts rely on it, so never change it */
	char text[256];		/* result */
	char mend[256];		/* a command that solves the problem; or "" */
};

/* Zero-initialised: none. */
struct findings {
	struct finding *finding;	/* the user frees it */
	size_t count;
};

/* Add a finding and return it.  It is valid until the next one is added. */
struct finding *doctor_add_finding(struct findings *all, enum finding_state state,
				   const char *topic);

/* doctor-process.c: add the findings about the process PID. */
void doctor_process(struct findings *all, pid_t pid);
