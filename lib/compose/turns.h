/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns - runs several commands several times each, in turns.
 *
 * In a turn, each command runs once.  The order within every second turn is random, and the turn
 * after it has the reverse order, such as A B, B A, B A, A B.  So a machine that warms up or slows
 * down affects all commands equally, and nothing that comes back regularly meets only one of them.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order is random, but the same for the same SEED. */
struct turns {
	size_t commands, count;	/* number of commands; runs of each */
	uint64_t seed;
};

/* Make run RUN (from 0 on) of COMMAND, after DONE runs of any command.  False: make no more. */
typedef bool turns_once(void *context, size_t command, size_t run, size_t done);

/* Call ONCE for each run.  Return false if it returned false. */
bool turns_run(const struct turns *t, turns_once *once, void *context);

/*
 * Return the words of the command line LINE, with a NULL at the end: itself, split at blanks, if a
 * shell would do no more than that, else "sh", "-c" and LINE.  The caller frees them with free().
 */
char **turns_words(const char *line);
