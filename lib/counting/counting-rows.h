/* SPDX-License-Identifier: Apache-2.0 */
/* counting-rows - the rows of a table: a value of each run, and what the runs together say. */
#pragma once
#include "counting/counting.h"

/* The row of the time that a run took. */
#define COUNTING_WALL_TIME "wall-time"

enum counting_kind {
	COUNTING_EVENT,		/* what an event counted */
	COUNTING_TIME,		/* of the clock, or of the CPU, without an event */
	COUNTING_DERIVED,	/* calculated from events */
};

struct counting_row {
	char *of;		/* the unit that it is of, such as "cpu 3"; NULL: the target */
	char *name;		/* of an event: its canonical name */
	char *unit;		/* "count", "nanoseconds", ... */
	enum counting_kind kind;
	double *value;		/* by run; NAN: the run has no value */
	double divisor;		/* of counting_rows_divide(); 0: none */

	/* Set by counting_row_complete(). */
	size_t runs;		/* that have a value */
	double mean, min, max;	/* NAN: no run has a value */
	double interval;	/* the true mean is within MEAN +- INTERVAL with a probability of
				   95 %; NAN: fewer than two runs; 0: all values are equal, and
				   their step is not known */

	/* Of an event; the others have 1 and false. */
	double running;		/* share of its time in which it counted, in all runs */
	bool is_scaled;		/* values are scaled, because it did not count all the time */
};

/* Zero-initialised: none. */
struct counting_rows {
	struct counting_row *row;
	size_t count;
	size_t runs;		/* values of each row */
};

/* Append a row for each of EVENTS, with values of RUNS runs, which all rows then have. */
void counting_rows_add_events(struct counting_rows *rows, const struct event_list *events,
			      const struct counting_run *run, size_t runs);

/* Append rows for the wall time and, of a command, for the user and system time. */
void counting_rows_add_times(struct counting_rows *rows, const struct counting_run *run,
			     size_t runs, bool is_command);

/*
 * Append a row without values, which the caller sets; then it calls counting_row_complete().  The
 * row is valid until the next one is added.
 */
struct counting_row *counting_rows_add(struct counting_rows *rows, enum counting_kind kind,
				       const char *name, const char *unit);

/* Divide all counts and times by N, but not what is calculated from others: that stays as it is. */
void counting_rows_divide(struct counting_rows *rows, double n);

/* Return the smallest step between two values of ROW; 0: it is not known. */
double counting_row_step(const struct counting_row *row);

/*
 * Calculate the mean and its interval from the values.  Equal values have the variance of numbers
 * that were rounded to their step.
 */
void counting_row_complete(struct counting_row *row, size_t runs);

/* Return the row called NAME, or NULL. */
const struct counting_row *counting_rows_find(const struct counting_rows *rows, const char *name);

/* The same, also if NAME lacks the modifiers, such as ":u", and only one row is called so. */
const struct counting_row *counting_rows_similar(const struct counting_rows *rows,
						 const char *name);

void counting_rows_release(struct counting_rows *rows);
