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

/*
 * Return whether the callchains of T are better unwound than taken from frame pointers.  *WHY is
 * the reason, part of a sentence.
 */
bool callgraph_unwinds(const struct callgraph_target *t, const char **why);
