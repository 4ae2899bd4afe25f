/* SPDX-License-Identifier: Apache-2.0 */
/* stat-print - prints what pmu-stat counted. */
#pragma once
#include "base/output.h"
#include "base/word-list.h"
#include "counting/counting-rows.h"

#include <stdio.h>

/* What is said beside the rows. */
struct stat_heading {
	struct word_list command;	/* what was run; empty: nothing */
	const char *target;	/* what was counted, such as "process 42"; NULL: the command */
	const char *per;	/* values are divided by a number of this unit: "op"; NULL: not */
	double per_number;	/* that number */
	size_t runs;
	size_t failed;		/* runs that failed, or died by a signal */
	size_t stopped;		/* runs of the command that were stopped before its end */
	uint64_t wall;		/* of the last run, in ns */
	const struct counting_run *interval;	/* the rows are of this interval; NULL: of runs */
};

/* How the rows are written. */
enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };

/* Print a table, CSV or one JSON object on stdout.  In CSV the first line names the columns. */
void stat_print(enum stat_format format, const struct counting_rows *rows,
		const struct stat_heading *heading);

/* Print the member "machine" of a JSON object, the first one, on stdout. */
void stat_print_json_machine(void);

/* Print the member "per": values are divided by NUMBER of UNIT.  UNIT NULL: print nothing. */
void stat_print_json_per(const char *unit, double number);

/* Print the unit of R as a field of CSV.  Values are divided by units PER if that is not NULL. */
void stat_print_csv_unit(const struct counting_row *r, const char *per);

/* Print R, which has values of RUNS runs, as a JSON object on stdout. */
void stat_print_json_row(const struct counting_row *r, size_t runs);

/* Print KEY and NUMBER, or null if it is not finite, which are not the first of a JSON object. */
void stat_print_json_number(const char *key, double number);

/*
 * Let PRINT(WHAT) print to SAVED instead of stdout, and close SAVED.  If that fails, an earlier
 * file stays as it is.
 */
void stat_save(struct output *saved, void print(const void *what), const void *what);

/* Lines of intervals. */
struct stat_lines {
	enum stat_format format;
	bool is_live;		/* the lines are drawn again on the terminal that is stdout */
	bool by_value;		/* then units with most of the first event come first */
	const struct event_list *events;
	const struct stat_heading *heading;
	size_t printed;		/* lines that are drawn again, or intervals */
};

/*
 * Print the interval SINCE, a block of lines.  Return false if stdout cannot be written to.  For
 * counting.on_interval.
 */
bool stat_print_interval(void *lines, const struct counting_run *since);

/* Erase the lines that would be drawn again. */
void stat_erase_lines(struct stat_lines *lines);
