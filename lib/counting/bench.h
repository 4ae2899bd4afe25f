/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench - counts the benchmarks of a Go test binary.
 *
 *	struct bench *b = bench_open(&counting, command, report);
 *	struct bench_item item;
 *
 *	while (bench_next(b, &item))
 *		... item.text, or item.name and item.per_op ...
 *	status = bench_close(b);
 *
 * Events are counted in whole processes.  So the binary first runs once as COMMAND says, which
 * gives the names of the benchmarks, and for each the number N of its iterations.  Then each
 * benchmark runs alone, with N iterations and with 2 N.  What the second run counts more, divided
 * by N, is the cost of one iteration: the start of the process is in both.
 */
#pragma once
#include "counting/counting.h"

struct bench;

/* What comes next in the output.  Its texts and values are valid until the next item. */
struct bench_item {
	const char *text;	/* a line of the binary's, to be passed on; NULL: a result */

	/* A result of a benchmark; there are -test.count of them. */
	const char *name;	/* "BenchmarkSum/n=10-8" */
	uint64_t iterations;	/* N */
	double nanoseconds;	/* of one iteration, by the benchmark's own clock, in both
				   runs; NAN: none */
	const char *metrics;	/* what else the benchmark printed in the second run, as in
				   "0 B/op\t0 allocs/op"; or "" */
	const double *per_op;	/* by event, in its unit; NAN: not counted */
};

/*
 * Prepare to run COMMAND, for which bench_command_is_binary() is true, and count the events of
 * COUNTING, for which counting_begin() was called.  COMMAND lives until bench_close().
 */
struct bench *bench_open(struct counting *counting, char *const *command, struct report *report);

/* Run what comes next, and set ITEM.  False: all is done, or stopped, or failed (reported). */
bool bench_next(struct bench *b, struct bench_item *item);

/*
 * Free B.  Return the first status of a whole run that failed, or of a run that the user stopped,
 * as a shell returns it; or 0.
 */
int bench_close(struct bench *b);
