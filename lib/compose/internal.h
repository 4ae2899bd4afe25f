/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what pmu-prof finds out about a target, and what it decides if the user does not. */
#pragma once
#include "compose/callgraph.h"

#include <stddef.h>

/*
 * label-choice.c: return whether T is a Go program that sets labels, and this process may record
 * them.  Write the reason to WHY, SIZE bytes; "": there is nothing to say.
 */
bool label_choice(const struct callgraph_target *t, char *why, size_t size);

/* callgraph.c: open the file of T's program.  Return its descriptor, or -1. */
int callgraph_open_program(const struct callgraph_target *t);
