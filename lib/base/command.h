/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command - what every tool does alike: options, help, input and output,
 * signals, exit status.
 *
 * A tool declares its options in one table.  Parsing, --help, and the test
 * that man page and completions name the same options all read that table.
 */
#pragma once
#include "base/output.h"
#include "base/report.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arguments of an option that may be given more than once, in order. */
struct command_list {
	const char **item;
	size_t count;
	const struct command_list *beside;	/* another list, or NULL */
	size_t *place;		/* of each item, how many BESIDE had when it was given */
};

struct command_option {
	char letter;		/* short form, or 0 */
	const char *name;	/* long form, without "--" */
	const char *argument;	/* name of its argument in --help; NULL: takes none; "[NAME]": it
				   may be left out, and is "" then */
	const char *help;	/* one line, starts with a verb, no full stop */
	void *value;		/* bool * without an argument, const char ** with one */
	struct command_list *list;	/* instead of VALUE: collects every argument */
};

struct command {
	const char *name;	/* "pmu-count" */
	const char *purpose;	/* the man page's NAME line, without the name */
	const char *operands;	/* "[FILE]" */
	const struct command_option *options;	/* ended by one without a name; may be NULL */
	bool runs_command;	/* operands are a command: options end at the first one */
};

/*
 * Parse ARGV, fill REPORT, ignore SIGPIPE, catch SIGINT, SIGTERM and SIGHUP.
 * Does not return after --help or --version (exit 0), nor after wrong usage (message on
 * stderr, exit 2).  Returns the index of the first operand.
 */
int command_begin(const struct command *cmd, struct report *report, int argc, char **argv);

/* Wrong usage found later: print FORMAT and the usage line, exit 2. */
void command_misused(const struct command *cmd, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* TEXT, the argument of option NAME: a number (units.h) from LEAST to MOST; else misuse. */
uint64_t command_count(const struct command *cmd, const char *name, const char *text,
		       uint64_t least, uint64_t most);

/*
 * The only operand, or "-" for stdin where there is none.  Misuse: a second
 * operand, or a stdin that is a terminal.
 */
const char *command_input(const struct command *cmd, int argc, char **argv, int first);

/*
 * Open FILE (NULL or "-": stdout) for binary data.  Misuse where that is a
 * terminal.  A file that cannot be opened is reported; OUT then takes and
 * drops all writes.
 */
void command_output(const struct command *cmd, struct output *out, const char *file,
		    struct report *report);

/* The same for a file that appears whole, or stays what it was (base/replace.h). */
void command_output_whole(const struct command *cmd, struct output *out, const char *file,
			  bool same_inode, struct report *report);

/* Whether FILE ("-": stdout) is one of the INPUTS ("-": stdin): the same regular file. */
bool command_is_input(const char *file, const char *const *input, size_t inputs);

/* Misuse where it is, and would be destroyed.  Before FILE (NULL: stdout) is opened. */
void command_spare_inputs(const struct command *cmd, const char *file, const char *const *input,
			  size_t inputs);

/*
 * Set when the tool should finish what is in hand and flush: by SIGTERM, by
 * SIGHUP, by SIGINT, but at the second SIGINT only where stdin is a pipe.
 * There the terminal has sent it to the whole pipe: the writer stops, and its
 * end is ours.
 */
extern volatile sig_atomic_t command_stop;

/* What SIGINT, SIGTERM and SIGHUP do. */
enum command_signals {
	SIGNALS_STOP,		/* set command_stop, as above: at first */
	SIGNALS_END_BUT_ONE,	/* end the program, but for a SIGINT that is the whole pipe's */
	SIGNALS_END,		/* end the program: its input has come, nothing is written yet */
};

/* Change that; a tool that shows nothing before it has read all has nothing to finish. */
void command_on_signals(enum command_signals how);

/* All of the input has come: SIGNALS_END, if signals end the program. */
void command_input_ended(void);

/* As the caller had it: whether SIGINT was ignored; which signals were blocked. */
bool command_ignored_interrupts(void);
const sigset_t *command_signals(void);

/* ARGV as one string, quoted for a shell where needed.  The caller frees it. */
char *command_line(int argc, char **argv);

/*
 * Flush stdout and finish REPORT.  A reader that went away (EPIPE) is no
 * error; a full disk is.  Returns main's exit status.
 */
int command_end(struct report *report);
