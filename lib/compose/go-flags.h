/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-flags - the flags of go test for profiles, as the proposals for hardware events spell
 * them: -cpuprofile FILE, -cpuprofileevent EVENT, -cpuprofileperiod COUNT, and
 * -perfprofileconfig '{event=EVENT rate=COUNT}'.
 */
#pragma once
#include "base/command.h"

struct go_flags {
	const char *file;	/* of -cpuprofile; or NULL */
};

/*
 * Replace these flags in ARGV, before the operands of CMD, by options of pmu-sample, and fill
 * FLAGS.  A flag has one dash or two, and its value after "=" or in the next word.  Return the
 * new ARGV, with *ARGC words, which lives as long as the program.  *WRONG is a flag whose value
 * is missing or malformed, or NULL.
 */
char **go_flags_take(const struct command *cmd, int *argc, char **argv, struct go_flags *flags,
		     const char **wrong);
