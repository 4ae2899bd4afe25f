/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted-comparison - counts commands in turns, and compares them: with each other, or with the
 * runs of an earlier pmu-stat.
 */
#pragma once
#include "compose/counted-commands.h"
#include "counting/earlier.h"
#include "counting/gates.h"
#include "results/stat-print.h"

/* The caller sets the first fields; the others are zero. */
struct counted_comparison {
	struct counted_commands commands;
	const char *base;		/* file with earlier runs, which are the base; or NULL */
	struct output *save;		/* gets the runs as JSON, for BASE; or NULL */
	struct counting_gates gates;
	enum stat_format format;
	const char *per;		/* values are divided by a number of this unit; NULL: not */
	double per_number;		/* that number */
	/* private: */
	struct earlier earlier;
};

/* Read the base, and check that the gates have rows.  False: reported. */
bool counted_comparison_begin(struct counted_comparison *c, struct report *report);

/*
 * Run the commands, and print the comparison on stdout.  Return whether a gate is exceeded.
 * Failures are reported.
 */
bool counted_comparison_make(struct counted_comparison *c, struct report *report);

void counted_comparison_release(struct counted_comparison *c);
