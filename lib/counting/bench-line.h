/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-line - reads what Go's package testing prints about benchmarks:
 *
 *	BenchmarkSum/n=10-8         	     100	      98.20 ns/op	       0 B/op
 *
 * The name and a tab are printed before the benchmark runs, the rest after it has run.  So what the
 * benchmark itself prints may stand between them, with or without ends of lines.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: at the start of the output.  The owner calls bench_line_release(). */
struct bench_line {
	char *name;		/* of the benchmark that was named last; NULL: none yet */
	bool is_open;		/* it has no result yet */
	bool has_result;	/* this line has the benchmark's result: */
	uint64_t iterations;
	const char *metrics;	/* "98.20 ns/op\t       0 B/op", or ""; in the line that was read */
	const char *other;	/* what else is on the line, to be passed on; NULL: nothing */
};

/* Read TEXT, a line without its end, which is changed and must live as long as L is used. */
void bench_line_read(struct bench_line *l, char *text);

void bench_line_release(struct bench_line *l);

/* Return the value of UNIT in METRICS, or NAN. */
double bench_line_metric(const char *metrics, const char *unit);

/* Return whether METRICS has a value of UNIT, which may be "NaN". */
bool bench_line_has(const char *metrics, const char *unit);

/*
 * Return the number that Go appends to the COUNT NAMES of benchmarks, as in "-8", because it runs
 * them on so many threads.  Return 1, which it does not append, if the names have no such ending.
 * CPUS: how many this process may use; a larger number does not come from Go.
 */
unsigned bench_line_threads(char *const *names, size_t count, unsigned cpus);
