/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-flags - translates the profiling flags of go test, as Go's proposals for hardware events
 * spell them: -cpuprofile FILE, -cpuprofileevent EVENT, -cpuprofileperiod COUNT,
 * -perfprofile FILE, and -perfprofileconfig '{event=EVENT rate=COUNT}'.
 */
#pragma once
#include "tool/command.h"

struct go_flags {
	const char *file;	/* argument of -cpuprofile or -perfprofile, or NULL */
	const char *other;	/* argument of the other of these flags, or NULL */
};

/*
 * Replace the flags in ARGV by options of pmu-sample, up to the operands of CMD, and set FLAGS.  A
 * flag has one dash or two, and its value after "=" or in the next word.  Return the new ARGV,
 * which lives as long as the program, and set *ARGC.  Set *WRONG to a flag whose value is missing
 * or malformed, or to NULL.
 */
char **go_flags_translate(const struct command *cmd, int *argc, char **argv, struct go_flags *flags,
		     const char **wrong);

/*
 * "go test" compiles and links before it runs tests.  If COMMAND (NULL: none) is one, return a
 * command line that profiles only the tests, by go test -exec, with the OPTIONS of pmu-prof and the
 * file of FLAGS.  Otherwise, or if COMMAND has -exec or runs no test, return NULL.
 */
char *go_flags_exec_line(char **options, int count, const struct go_flags *flags,
			 char *const *command);
