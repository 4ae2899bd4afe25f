/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons of counts: which changes are called, limits, outliers, and how often equal commands
 * seem to differ.  Expected numbers of Welch's test are from Student's t distribution, and
 * limits of intervals are those changes at which a search finds a p of 5 %.
 */
#include "base/arena.h"
#include "base/random.h"
#include "counting/comparison.h"
#include "counting/gates.h"
#include "counting/outlying-runs.h"
#include "stats/outliers.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 10 };

static bool is(double got, double want)
{
	bool good = fabs(got - want) <= 1e-6 * fabs(want);

	if (!good)
		printf("# %.12g, not %.12g\n", got, want);
	return good;
}

static void add(struct counting_rows *rows, const char *name, const char *unit,
		const double *value, size_t runs)
{
	rows->runs = runs;
	struct counting_row *row = counting_rows_add(rows, COUNTING_EVENT, name, unit);

	memcpy(row->value, value, runs * sizeof(*value));
	counting_row_complete(row, runs);
}

/* Compare one row with the values A, N of them, and B, M of them. */
static struct comparison_row compare(const double *a, size_t n, const double *b, size_t m)
{
	static struct counting_rows base, after;
	struct comparison c;

	counting_rows_release(&base);
	counting_rows_release(&after);
	add(&base, "x", "count", a, n);
	add(&after, "x", "count", b, m);
	comparison_make(&c, &base, &after);
	comparison_judge(&c, 1, 0.05);
	struct comparison_row row = c.row[0];
	comparison_release(&c);
	return row;
}

static void test_values(void)
{
	static const double a[] = { 101, 99.5, 100.2, 98.9, 100.9 };
	static const double b[] = { 103.1, 102.2, 104, 102.9, 101.8 };
	static const double c[] = { 0, 1, 0, 2, 1 }, d[] = { 0, NAN, 2, 1, 1 };
	static const double zero[] = { 0, 0, 0, 0, 0 };
	struct comparison_row row = compare(a, 5, b, 5);

	tap(row.is_tested && is(row.p, 0.00125999716978) && is(row.change, 0.026973026973) &&
	    is(row.low, 0.0140806737742) && is(row.high, 0.0400531769072),
	    "the means are compared");
	tap(row.is_called && row.ranks == RANKS_AGREE && is(row.rank_p, 2 / 252.),
	    "both tests call the change");
	tap(comparison_above(&row, 0.01) < 0.05 && comparison_above(&row, 0.03) > 0.5,
	    "the one-sided test against a limit");
	row = compare(c, 5, d, 5);
	tap(row.is_tested && !row.is_called && is(row.change, 0.25) &&
	    row.low == -1 && is(row.p, 0.7291945946224752),
	    "a run without a value is left out");
	tap(row.high == INFINITY, "a base that may be 0 gives no upper limit");
	row = compare(zero, 5, b, 5);
	tap(row.is_called && row.change == INFINITY && row.low == INFINITY,
	    "a change from nothing has no size");
	row = compare(a, 1, b, 5);
	tap(!row.is_tested && !row.is_called && isnan(row.change), "one run says nothing");
}

/* The change is that of the means that are shown, whatever the geometric means do. */
static void test_sign(void)
{
	static const double a[] = { 2, 3, 20 }, b[] = { 5, 5, 5.5 };
	static const double c[] = { 4, 9, 5, 6 }, d[] = { 12, 20, 9, 14 };
	static const double e[] = { -4, -9, -5, -6 }, f[] = { -12, -20, -9, -14 };
	struct comparison_row row = compare(a, 3, b, 3);

	tap(is(row.change, -0.38) && is(row.low, -0.840748752569) && row.high == INFINITY,
	    "the mean falls, though most values rise: so does the change");
	row = compare(c, 4, d, 4);
	tap(is(row.change, 1.29166666667) && is(row.low, 0.132196704764) &&
	    is(row.high, 3.98398208319) && is(row.p, 0.0361399617228),
	    "the interval allows for a base that is uncertain, too");
	tap(is(comparison_above(&row, row.low), 0.025) &&
	    is(comparison_above(&row, row.high), 0.975),
	    "the limits of the interval are those of the one-sided test");
	row = compare(e, 4, f, 4);
	tap(is(row.change, -1.29166666667) && is(row.low, -3.98398208319) &&
	    is(row.high, -0.132196704764) && is(comparison_above(&row, row.low), 0.025),
	    "a value below 0 that falls");
}

static void test_exact(void)
{
	static const double a[] = { 1000, 1000, 1000, 1000, 1000, 1000 };
	static const double b[] = { 1001, 1001, 1001, 1001, 1001, 1001 };
	static const double zero[6] = { 0 };
	struct comparison_row row = compare(a, 6, b, 6);

	tap(row.is_exact && row.is_called && is(row.change, 0.001) && row.low == row.change &&
	    row.high == row.change && row.p > 0 && isfinite(row.p), "exact counts, one apart");
	row = compare(a, 6, a, 6);
	tap(row.is_exact && !row.is_called && row.change == 0 && row.p == 1, "equal counts");
	row = compare(zero, 6, zero, 6);
	tap(row.is_exact && !row.is_called && row.change == 0 && row.p == 1, "nothing counted");
	row = compare(zero, 6, a, 6);
	tap(row.is_exact && row.is_called && row.change == INFINITY, "nothing, then something");
	row = compare(a, 2, b, 2);
	tap(!row.is_called && row.ranks != RANKS_DISAGREE, "twice one more may be chance");
}

static void test_ranks(void)
{
	static const double a[] = { 100, 101, 102, 103, 104, 105, 106, 107, 108, 109 };
	static const double b[] = { 110, 111, 112, 113, 114, 115, 116, 117, 118, 900 };
	static const double c[] = { 100, 101, 101 }, d[] = { 200, 201, 201 };
	struct comparison_row row = compare(a, 10, b, 10);

	tap(!row.is_called && row.ranks == RANKS_DISAGREE && row.rank_p < 1e-4,
	    "an outlier hides a change from Welch's test, but not from the ranks");
	row = compare(c, 3, d, 3);
	tap(row.is_called && row.ranks == RANKS_TOO_FEW, "three runs are too few for the ranks");
}

/* With four runs of each command, the ranks call one row that differs, but not one of eight. */
static void test_few_runs(void)
{
	static const double a[] = { 100, 101, 102, 103 }, b[] = { 200, 201, 203, 202 };
	struct counting_rows base = { 0 }, after = { 0 };
	struct comparison c;

	for (int rows = 1; rows <= 8; rows++) {
		char name[] = "row 0";
		name[4] += rows;
		add(&base, name, "count", a, 4);
		add(&after, name, "count", rows == 1 ? b : a, 4);
		comparison_make(&c, &base, &after);
		comparison_judge(&c, 1, 0.05);
		if (rows == 1 || rows == 8)
			tap(c.row[0].is_called &&
			    c.row[0].ranks == (rows == 1 ? RANKS_AGREE : RANKS_TOO_FEW),
			    rows == 1 ? "of one row, the ranks agree" :
			    "of eight rows, the ranks can call none");
		comparison_release(&c);
	}
	counting_rows_release(&base);
	counting_rows_release(&after);
}

/* Return a number that is about normal, with mean 0 and deviation 1. */
static double normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)random_number(seed) * 0x1p-31;
	return sum;
}

/* Add rows as of one command: times that vary together, counts that hardly vary, rare events. */
static void simulate(struct counting_rows *rows, double factor, uint64_t *seed)
{
	static const char *const names[] = { "wall-time", "task-clock", "user-time", "cycles",
					     "instructions", "page-faults", "context-switches",
					     "migrations" };
	double value[8][RUNS];

	for (int i = 0; i < RUNS; i++) {
		double load = normal(seed), faults = normal(seed);
		value[0][i] = 1e8 * exp(0.05 * load + 0.03 * fabs(normal(seed)));
		value[1][i] = 9e7 * exp(0.04 * load + 0.01 * normal(seed));
		value[2][i] = 8e7 * exp(0.04 * load + 0.02 * normal(seed));
		value[3][i] = 2e8 * exp(0.01 * load + 0.01 * normal(seed));
		value[4][i] = round(4e8 * factor * (1 + 0.0005 * normal(seed)));
		value[5][i] = 100 + (faults > 0.5) + (faults > 1.5);
		value[6][i] = floor(exp(1 + normal(seed)));
		value[7][i] = random_number(seed) % 4 == 0;
	}
	*rows = (struct counting_rows){ .row = NULL };
	for (int k = 0; k < 8; k++)
		add(rows, names[k], "count", value[k], RUNS);
}

/* Compare COUNT times.  Return how often a row is called; *GATE: how often +0.2 % is exceeded. */
static int compare_often(double factor, int count, const char *name, int *gate)
{
	struct report silent = { .quiet = true };
	struct counting_gates gates = { 0 };
	uint64_t seed = 20261127;
	int called = 0;

	counting_gates_add(&gates, "instructions:+0.2%");
	*gate = 0;
	for (int i = 0; i < count; i++) {
		struct counting_rows base, after;
		struct comparison c;
		simulate(&base, 1, &seed);
		simulate(&after, factor, &seed);
		comparison_make(&c, &base, &after);
		comparison_judge(&c, 1, COMPARISON_USUAL_FDR);
		bool any = false;
		for (size_t k = 0; k < c.rows; k++)
			any |= c.row[k].is_called && (!name || !strcmp(c.row[k].after->name, name));
		called += any;
		*gate += counting_gates_exceeded(&gates, &c, 1, 0.05, &silent) == 1;
		comparison_release(&c);
		counting_rows_release(&base);
		counting_rows_release(&after);
	}
	counting_gates_release(&gates);
	return called;
}

static void test_chance(void)
{
	int gate, called = compare_often(1, 500, NULL, &gate);

	printf("# %d of 500 comparisons of equal commands call a row\n", called);
	tap(called <= 30 && gate == 0, "equal commands seldom differ, and exceed no limit");
	called = compare_often(1.005, 100, "instructions", &gate);
	tap(called == 100 && gate == 100, "half a per cent more instructions are found each time");
	called = compare_often(1.002, 200, "instructions", &gate);
	printf("# %d of 200 exceed a limit that they just reach\n", gate);
	tap(called == 200 && gate <= 12, "a change of the size of a limit seldom exceeds it");
}

/* How often does the interval contain the true change, with a base that varies a lot? */
static void test_coverage(void)
{
	uint64_t seed = 20261128;
	int contain = 0;

	for (int i = 0; i < 2000; i++) {
		double base[10], after[12];
		for (int k = 0; k < 10; k++)
			base[k] = 100 + 25 * normal(&seed);
		for (int k = 0; k < 12; k++)
			after[k] = 150 + 20 * normal(&seed);
		struct comparison_row row = compare(base, 10, after, 12);
		contain += row.low <= 0.5 && 0.5 <= row.high;
	}
	printf("# %d of 2000 intervals contain the true change\n", contain);
	tap(contain >= 1870 && contain <= 1930, "95 of 100 intervals contain the true change");
}

static void test_gates(void)
{
	struct counting_gates g = { 0 };
	struct counting_rows rows = { 0 };
	struct report silent = { .quiet = true };
	static const double none[1];

	tap(counting_gates_add(&g, "cpu/event=1,umask=2/u:+1%,wall-time:+2.5%") && g.count == 2 &&
	    !strcmp(g.gate[0].name, "cpu/event=1,umask=2/u") && g.gate[0].limit == 0.01 &&
	    !strcmp(g.gate[1].name, "wall-time") && g.gate[1].limit == 0.025, "limits");
	static const char *const wrong[] = { "", "x", ":+1%", "x:1%", "x:+1", "x:+%", "x:+-1%",
					     "x:+1%,", "x:+1% ", "x:+inf%", "x:+nan%",
					     "x:+1%y:+1%" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		tap(!counting_gates_add(&g, wrong[i]), "no limit");
	counting_gates_release(&g);
	add(&rows, "cycles:u", "count", none, 0);
	add(&rows, "faults", "count", none, 0);
	add(&rows, "faults:u", "count", none, 0);
	counting_gates_add(&g, "cycles:+1%,faults:+1%");
	tap(counting_gates_resolve(&g, &rows, &silent) && !strcmp(g.gate[0].name, "cycles:u") &&
	    !strcmp(g.gate[1].name, "faults"), "a row is found without its modifiers");
	counting_gates_add(&g, "cycl:+1%");
	tap(!counting_gates_resolve(&g, &rows, &silent), "but not by a part of its name");
	counting_gates_release(&g);
	counting_rows_release(&rows);
}

static void test_outliers(void)
{
	static const double values[] = { 10, 12, 11, 13, 12, 11, 10, 30 }, few[] = { 1, 1, 1, 9 };
	static const double exact[] = { 100, 100, 100, 100, 100, 100, 100, 103 };
	struct outlier_limits l = outliers_limits(values, 8, 0);
	struct counting_rows rows = { 0 };
	struct outlying_value *found;

	/* quartiles by numpy: 10.75 and 12.25 */
	tap(is(l.low, 6.25) && is(l.high, 16.75) && is(l.median, 11.5), "Tukey's outer fences");
	l = outliers_limits(few, 4, 0);
	tap(isinf(l.low) && isinf(l.high), "four values have no outlier");
	add(&rows, "a", "count", values, 8);
	add(&rows, "b", "count", exact, 8);
	size_t count = outlying_runs_find(&rows, &found);
	tap(count == 1 && found[0].run == 7 && !strcmp(found[0].row->name, "a") &&
	    found[0].value == 30, "three counts more do not make an outlier");
	free(found);
	counting_rows_release(&rows);
}

int main(void)
{
	test_values();
	test_sign();
	test_exact();
	test_ranks();
	test_few_runs();
	test_gates();
	test_outliers();
	test_chance();
	test_coverage();
	return tap_done();
}
