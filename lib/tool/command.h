/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command - what all tools share: options, help, opening input and output,
 * signals, exit status.
 *
 * A tool declares its options in one table.  Parsing, --help, and the test
 * that compares man pages and completions with the options all use that table.
 */
#pragma once
#include "base/output.h"
#include "base/report.h"
#include "base/signals.h"
#include "base/word-list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What the argument of an option is, and so what its VALUE points to. */
enum option_kind {
	OPTION_FLAG,		/* bool: no argument; set to true */
	OPTION_TIMES,		/* int: no argument; how often the option was given */
	OPTION_TEXT,		/* const char * */
	OPTION_LIST,		/* struct word_list: texts; each use of the option adds one */
	OPTION_COUNT,		/* uint64_t: a whole number, such as 10k, from LEAST to MOST */
	OPTION_SIZE,		/* uint64_t: bytes, such as 64Mi, from LEAST to MOST */
	OPTION_INTEGER,		/* int: a whole number from LEAST to MOST */
	OPTION_TIME,		/* uint64_t: a duration such as 10s, in ns, from LEAST to MOST */
	OPTION_SHARE,		/* double: "0.5%" or "0.005", from 0 to 1 */
	OPTION_CHOICE,		/* int: one of CHOICES, its index */
	OPTION_SOME,		/* unsigned: a list of CHOICES; sets bit N for number N */
	OPTION_YES_NO,		/* bool: "yes" or "no"; "yes" if an optional argument is left out */
	OPTION_PARSED,		/* what PARSE writes */
};

/* Which inputs an option is for: command_refuse() refuses the others. */
enum option_input { FOR_ALL, FOR_STREAMS, FOR_PROFILES };

/*
 * An option: a row of a table.  The initial value of *VALUE is the default; --help shows it if the
 * option could set it.  An option given twice has the last value.
 */
struct command_option {
	char letter;		/* short form, or 0 */
	const char *name;	/* long form, without "--" */
	const char *argument;	/* name of its argument in --help; NULL: no argument; "[NAME]": an
				   optional one */
	const char *help;	/* one line: what the user gets, no full stop.  NULL: not in --help,
				   a spelling of another program that no option of ours can mean */
	enum option_kind kind;
	void *value;		/* set by the macros below, which check its type */
	const char *const *choices;	/* of OPTION_CHOICE and OPTION_SOME; ends with NULL */
	/*
	 * parse TEXT into VALUE; return NULL, or the part of TEXT that is wrong (TAKES says what is
	 * right)
	 */
	const char *(*parse)(const char *text, void *value);
	const char *takes;	/* of PARSE: "a list of pids" */
	uint64_t least, most;	/* MOST 0: as much as the type holds */
	int implied;		/* of an integer with an optional argument: value without it */

	const char *group;	/* heading in --help; NULL: the options that people use first */
	enum option_input only;	/* what this option is for */
	const char *needs;	/* long names, separated by spaces: one of them must be given */
	const char *excludes;	/* the same: none of them may be given beside this option, which
				   may be one of them */
};

/* Headings in --help of options that several tools have. */
#define GROUP_SELECT "Select samples; see pmu-selection(7)"
#define GROUP_FIND "Find the files of programs"
#define GROUP_FILES "Input and output"
#define GROUP_TOOLS "In all tools"

/* The kind and the value of an option: V is the variable that the option sets. */
#define OPTION_SETS(kind_, type, v) .kind = (kind_), .value = _Generic(&(v), type *: &(v))
#define SETS_FLAG(v) OPTION_SETS(OPTION_FLAG, bool, v)
#define SETS_TIMES(v) OPTION_SETS(OPTION_TIMES, int, v)
#define SETS_TEXT(v) OPTION_SETS(OPTION_TEXT, const char *, v)
#define SETS_LIST(v) OPTION_SETS(OPTION_LIST, struct word_list, v)
#define SETS_COUNT(v) OPTION_SETS(OPTION_COUNT, uint64_t, v)
#define SETS_SIZE(v) OPTION_SETS(OPTION_SIZE, uint64_t, v)
#define SETS_INTEGER(v) OPTION_SETS(OPTION_INTEGER, int, v)
#define SETS_TIME(v) OPTION_SETS(OPTION_TIME, uint64_t, v)
#define SETS_SHARE(v) OPTION_SETS(OPTION_SHARE, double, v)
#define SETS_YES_NO(v) OPTION_SETS(OPTION_YES_NO, bool, v)
#define SETS_CHOICE(v, names) OPTION_SETS(OPTION_CHOICE, int, v), .choices = (names)
#define SETS_SOME(v, names) OPTION_SETS(OPTION_SOME, unsigned, v), .choices = (names)
#define PARSED_BY(function, v, what) \
	.kind = OPTION_PARSED, .value = &(v), .parse = (function), .takes = (what)

/*
 * A second spelling of an option: that of another program, for users who type it from habit, or an
 * earlier one.  It is in the man page, not in --help.
 */
struct command_spelling {
	char letter;		/* short form, or 0 */
	const char *name;	/* long form, or NULL */
	bool argument;		/* it takes an argument; not used with MEANS alone */
	const char *means;	/* long name of our option that takes its place; or NULL */
	const char *as;		/* with MEANS: the argument of our option, and what its own argument
				   is added to, with "+" for ",".  NULL: the same argument */
	const char *instead;	/* without MEANS: what to do instead.  NULL: it has no effect, for
				   we do so anyway.  With the letter of an option of ours: a hint
				   in the message about a wrong argument */
};

/* go tool pprof's spelling of the option that chooses a sample type. */
#define VIEW_SPELLINGS { .name = "sample-index", .means = "type" }

/* The short form of --to json. */
#define JSON_SPELLING { 'j', "json", .means = "to", .as = "json" }

struct command {
	const char *name;	/* "pmu-count" */
	const char *purpose;	/* the man page's NAME line, without the name */
	const char *operands;	/* "[FILE]" */
	const struct command_option *options;	/* the last has no name; may be NULL */
	const struct command_option *passed;	/* options of PASSED_TO, in the same form; those
						   with a name of OPTIONS are hidden; or NULL */
	const char *passed_to;	/* the tool that gets the options of PASSED */
	const struct command_spelling *spellings;	/* the last has neither letter nor name; or
							   NULL */
	bool runs_command;	/* operands are a command: options end at the first operand */
	bool reads_files;	/* operands are files to read: -i FILE is the same */
	void (*list_operands)(FILE *out);	/* print what operands there are, for --help; or
						   NULL */
};

/*
 * Parse ARGV, fill REPORT, ignore SIGPIPE and SIGXFSZ, catch SIGINT, SIGTERM and SIGHUP.
 * Return the index of the first operand.  Does not return after --help or --version
 * (exit 0) or wrong usage (message on stderr, exit 2: "misuse" below).
 */
int command_begin(const struct command *cmd, struct report *report, int argc, char **argv);

/* Misuse found by the tool itself: print FORMAT and the usage line, exit 2. */
void command_misused(const struct command *cmd, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Return whether the option with this long NAME was given. */
bool command_given(const char *name);

/* Misuse: an option was given that is only for other inputs than INPUT. */
void command_refuse(const struct command *cmd, enum option_input input);

/*
 * Return the options of PASSED that were given, as words of a command line, in their order.  The
 * words live as long as the program.
 */
const struct word_list *command_passed(void);

/* Return whether WORD, on a command line of CMD, is an option whose argument is the next word. */
bool command_takes_next(const struct command *cmd, const char *word);

/*
 * Return the files to read, at least one: those of -i, then the operands; "-" (stdin) if no
 * file is named.  Misuse: stdin is one of them and a terminal.
 */
const struct word_list *command_inputs(const struct command *cmd);

/* Return the only file to read, as command_inputs() does.  Misuse: there are more. */
const char *command_input(const struct command *cmd);

/*
 * Open FILE (NULL or "-": stdout) for binary data.  Misuse: stdout is a
 * terminal.  A failure to open FILE is reported; OUT then discards all writes.
 */
void command_output(const struct command *cmd, struct output *out, const char *file,
		    struct report *report);

/* Like command_output(), but FILE is emptied only before the first write: output_open_late(). */
void command_output_late(const struct command *cmd, struct output *out, const char *file,
			 struct report *report);

/* Like command_output(), but FILE is replaced only when all is written (base/replace.h). */
void command_output_whole(const struct command *cmd, struct output *out, const char *file,
			  bool same_inode, struct report *report);

/* Misuse: FILE (NULL: stdout) is one of INPUT.  Call it before FILE is opened and truncated. */
void command_spare_inputs(const struct command *cmd, const char *file, const char *const *input,
			  size_t inputs);

/*
 * Set when the tool should stop reading, finish and flush: by SIGTERM, SIGHUP
 * or SIGINT.  If stdin is a pipe, it takes two SIGINTs within SIGNALS_TWICE: the
 * terminal sends them to the whole pipe, so the program that writes the pipe stops,
 * and the tool ends when its input ends.
 */
extern volatile sig_atomic_t command_stop;

/* What SIGINT, SIGTERM and SIGHUP do. */
enum command_signals {
	SIGNALS_STOP,		/* set command_stop, as above; the default */
	SIGNALS_END_BUT_ONE,	/* end the program, except for a single SIGINT to the whole pipe */
	SIGNALS_END,		/* end the program */
};

/* Set HOW: a tool that writes nothing before it has read all input can simply be ended. */
void command_on_signals(enum command_signals how);

/* All input has been read: change SIGNALS_END_BUT_ONE into SIGNALS_END. */
void command_input_ended(void);

/*
 * Flush stdout and finish REPORT.  Return main's exit status.  A full disk is an error; a reader
 * that has closed the pipe (EPIPE) is not.
 */
int command_end(struct report *report);
