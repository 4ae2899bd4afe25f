/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgraph - how to record callchains of a target, if the user leaves the choice to us.
 *
 * Unwinding gives whole callchains of programs without frame pointers, but copies the stack
 * at every sample.  Go keeps frame pointers in all its code.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct callgraph_target {
	const char *program;	/* the command's name; NULL: PID is looked at */
	pid_t pid;		/* 0: neither is known */
	bool is_many;		/* many programs: a system, a user, a cgroup */
	bool can_unwind;	/* pmu-sample has --unwind */
};

/* Options of pmu-sample. */
struct callgraph_options {
	const char *call_graph;	/* argument of --call-graph; NULL: without that option */
	bool unwind;		/* with --unwind */
	const char *why;	/* reason of a choice of ours, part of a sentence; NULL: not ours */
};

/* Return the options that record T's callchains by METHOD: "auto", or as --call-graph takes it. */
struct callgraph_options callgraph_options(const struct callgraph_target *t, const char *method);
