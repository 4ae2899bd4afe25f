/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner - the program for which a tool works.
 *
 * The tool ends with it.  A pipe or a socket does not always show that the program has ended, or
 * has executed another one: a child of the program may have copies of its descriptors.
 */
#pragma once
#include "base/report.h"

#include <sys/types.h>

struct owning_process {
	pid_t pid;
	int pidfd;		/* readable when the process has ended; -1: the kernel has none */
	int maps;		/* its /proc/PID/maps, which is empty after exec(); -1: none */
};

/* Initialiser: there is none. */
#define OWNER_NONE { .pidfd = -1, .maps = -1 }

/* Let the process whose number is TEXT be the owner.  False: reported. */
bool owner_parse(struct owning_process *o, const char *text, struct report *report);

/* Return whether there is no owner, or it still runs the program that it ran. */
bool owner_is_there(const struct owning_process *o);

void owner_close(struct owning_process *o);
