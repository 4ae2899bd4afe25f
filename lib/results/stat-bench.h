/* SPDX-License-Identifier: Apache-2.0 */
/* stat-bench - prints counts in the format of Go's benchmarks, which benchstat reads. */
#pragma once
#include "counting/bench.h"
#include "results/stat-print.h"

/*
 * Count the benchmarks of the Go test binary COMMAND, and print to OUT what it prints, but with a
 * line for each result of a benchmark: the costs of one iteration.  Return its exit status.
 */
int stat_bench_binary(struct counting *counting, char *const *command, FILE *out,
		      struct report *report);

/*
 * Run COMMAND so many times, and print to OUT a line for each run that did not fail: its costs
 * divided by N, per UNIT ("op").  The last part of the command's name is the name of the benchmark.
 * Set the runs and the failed runs of HEADING.
 */
void stat_bench_command(struct counting *counting, char *const *command, uint64_t runs,
			const char *unit, double n, FILE *out, struct stat_heading *heading,
			struct report *report);
