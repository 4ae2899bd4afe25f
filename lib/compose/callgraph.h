/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgraph - chooses how to record the callchains of a target, unless the user has chosen.
 *
 * Unwinding gives whole callchains of programs without frame pointers, but copies the stack
 * at every sample.  Go keeps frame pointers in all its code that is not assembly.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct callgraph_target {
	const char *program;	/* name of the command; NULL: see PID */
	pid_t pid;		/* 0: the program is unknown */
	bool is_many;		/* many programs: the system, a user, a cgroup */
	bool waits;		/* context switches are sampled, of which there may be very many */
	bool can_unwind;	/* pmu-sample has --unwind */
};

/* Options of pmu-sample. */
struct callgraph_options {
	const char *call_graph;	/* argument of --call-graph; NULL: the option is not used */
	const char *unwind;	/* argument of --unwind; NULL: the option is not used */
	const char *why;	/* what is recorded, and the reason; NULL: the user has chosen */
};

/* Return the options that record T's callchains by METHOD: "auto", or a value of --call-graph. */
struct callgraph_options callgraph_options(const struct callgraph_target *t, const char *method);
