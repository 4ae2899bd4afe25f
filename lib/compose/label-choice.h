/* SPDX-License-Identifier: Apache-2.0 */
/* label-choice - decides whether to record the labels of a target, unless the user has decided. */
#pragma once
#include "compose/callgraph.h"

#include <stddef.h>

/*
 * Return whether T is a Go program that sets labels, and this process may record them.  Write the
 * reason to WHY, SIZE bytes; "": there is nothing to say.
 */
bool label_choice(const struct callgraph_target *t, char *why, size_t size);

/* callgraph.c: open the file of T's program.  Return its descriptor, or -1. */
int callgraph_open_program(const struct callgraph_target *t);
