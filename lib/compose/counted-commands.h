/* SPDX-License-Identifier: Apache-2.0 */
/* counted-commands - counts several commands in turns, each several times. */
#pragma once
#include "counting/counting-rows.h"
#include "counting/counting.h"

struct counted_command {
	char *text;		/* the command as the user gave it */
	char **words;		/* to run it, with a NULL at the end */
	bool has_shell;		/* a shell runs it, and is counted, too */
	struct counting_run *run;
	size_t runs, failed;	/* runs that were made; those that failed, or were killed */
	struct counting_rows rows;	/* of all runs */
};

/* Add to ROWS what the RUNS runs of RUN counted; RUNS may be 0. */
typedef void counted_make_rows(struct counting_rows *rows, const struct counting_run *run,
			       size_t runs);

struct counted_commands {
	/* Set by the caller: */
	struct counting *counting;	/* begun */
	uint64_t runs, warmup;		/* of each command; runs before them that do not count */
	counted_make_rows *make_rows;
	/* private, but for the commands: */
	struct counted_command *command;
	size_t count;
	struct report *report;
};

/* Add the command line LINE, with a shell only if it needs one. */
void counted_commands_add_line(struct counted_commands *c, const char *line);

/* Add a command of COUNT words. */
void counted_commands_add_words(struct counted_commands *c, char *const *words, size_t count);

/*
 * Run all commands, and make their rows.  If the user stops it, the run that was stopped is not
 * counted.  False (reported): a command could not be run.
 */
bool counted_commands_run(struct counted_commands *c, struct report *report);

void counted_commands_release(struct counted_commands *c);
