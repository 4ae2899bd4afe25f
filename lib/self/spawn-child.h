/* SPDX-License-Identifier: Apache-2.0 */
/* spawn-child - what runs in the processes that share the program's memory: see spawn.h. */
#pragma once
#include "self/spawn.h"

enum { SPAWN_STACK = 64 << 10 };

/* In memory of its own, which only the program and these processes use. */
struct spawn {
	struct spawn_what what;
	char *const *environment;
	bool stays;		/* the middle stays */
	/* results */
	pid_t pid;		/* of the sampler */
	int error;		/* errno; 0: the sampler runs */
	uint32_t done;		/* 1: the results are complete.  A futex, if the middle stays */
	_Alignas(64) char middle_stack[SPAWN_STACK], sampler_stack[SPAWN_STACK];
};

/* The process in the middle, for clone(): start the sampler of SPAWN, a struct spawn. */
int spawn_middle(void *spawn);
