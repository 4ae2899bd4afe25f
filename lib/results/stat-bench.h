/* SPDX-License-Identifier: Apache-2.0 */
/* stat-bench - prints counts in the format of Go's benchmarks, which benchstat reads. */
#pragma once
#include "counting/bench.h"

#include <stdio.h>

/*
 * Count the benchmarks of the Go test binary COMMAND, and print to OUT what it prints, but with a
 * line for each result of a benchmark: the costs of one iteration.  Return its exit status.
 */
int stat_bench_binary(struct counting *counting, char *const *command, FILE *out,
		      struct report *report);

/*
 * Print to OUT a line for each of RUNS that did not fail: the costs of COMMAND, which counted
 * EVENTS, divided by N, per UNIT ("op").  The last part of the command's name names the benchmark.
 */
void stat_bench_runs(const struct counting_runs *runs, const struct event_list *events,
		     const char *command, const char *unit, double n, FILE *out);
