/* SPDX-License-Identifier: Apache-2.0 */
/* options - for command.c only: parse a command line by the tables of options. */
#pragma once
#include "tool/command.h"

#include <stdio.h>

/* The options that all tools have. */
struct options_common {
	bool quiet;
	int verbose;		/* how often -v was given */
	bool printed;		/* --help or --version was given: it has been printed */
};

/* Parse ARGV by the tables and set their values; getopt's optind is the first operand. */
struct options_common options_parse(const struct command *cmd, int argc, char **argv);

/* Return the files to read: those of -i, then the operands of a command that reads_files. */
const struct word_list *options_files(void);

/*
 * options-help.c.
 *
 * Print --help to standard output.  ALL are the COUNT options of CMD: those from index OWN on are
 * passed to another tool.
 */
void options_print_help(const struct command *cmd, const struct command_option *const *all,
			int own, int count);

void options_print_usage(const struct command *cmd, FILE *out);

/* Write to TEXT what argument O takes: "a number from 1 to 19". */
void options_describe(const struct command_option *o, char *text, size_t size);

/* Return whether VALUE, a number or a time, is in the range of O. */
bool options_are_in_range(const struct command_option *o, uint64_t value);

/* Return whether O may be given without its argument. */
bool options_is_optional(const struct command_option *o);
