/* SPDX-License-Identifier: Apache-2.0 */
/* options - for command.c only: parse a command line by the tables of options. */
#pragma once
#include "tool/command.h"

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
