/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rank-sum test.  The expected numbers are from scipy 1.10.1 (mannwhitneyu); with equal values
 * and few runs, from counting all ways to divide the values, which scipy does not do.
 */
#include "stats/ranks.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stddef.h>

static bool is(double got, double want)
{
	bool good = fabs(got - want) <= 1e-9 * want;

	if (!good)
		printf("# %.12g, not %.12g\n", got, want);
	return good;
}

static void test_distinct(void)
{
	static const double a[] = { 101, 99.5, 100.2, 98.9, 100.9 };
	static const double b[] = { 103.1, 102.2, 104, 102.9, 101.8 };
	static const double c[] = { 1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8, 9.9, 11 };
	static const double d[] = { 4.5, 5.7, 6.8, 12, 13, 14, 15, 16, 17, 18 };
	static const double e[] = { 3, 1, 7 }, f[] = { 2, 9, 11, 12, 14, 15, 20 };
	double x[30], y[30];

	tap(is(ranks_test(a, 5, b, 5), 0.007936507936507936), "no value between the others");
	tap(is(ranks_test(b, 5, a, 5), 0.007936507936507936), "the sides change places");
	tap(is(ranks_test(c, 10, d, 10), 0.006841455757864427), "ten against ten");
	tap(is(ranks_test(e, 3, f, 7), 0.06666666666666667), "three against seven");
	tap(is(ranks_test(f, 7, e, 3), 0.06666666666666667), "seven against three");
	for (int i = 0; i < 30; i++) {
		x[i] = i * 37 % 101;
		y[i] = i * 53 % 103 + 20.5;
	}
	tap(is(ranks_test(x, 30, y, 30), 0.01833169868977061), "the largest exact case");
	tap(ranks_test(a, 1, b, 1) == 1, "one against one says nothing");
	x[0] = INFINITY;
	x[1] = -INFINITY;
	tap(ranks_test(x, 2, y, 2) == 1, "infinite values have ranks, too");
}

static void test_normal(void)
{
	double x[40], y[40];

	for (int i = 0; i < 35; i++) {
		x[i] = i * 37 % 101;
		y[i] = i * 53 % 103 + 20;
	}
	tap(is(ranks_test(x, 31, y, 35), 0.013380113041853684), "31 against 35, few are equal");
	for (int i = 0; i < 40; i++) {
		x[i] = i % 7;
		y[i] = i % 9;
	}
	tap(is(ranks_test(x, 40, y, 33), 0.17282950058427016), "40 against 33, most are equal");
	for (int i = 0; i < 40; i++)
		x[i] = y[i] = 5;
	tap(ranks_test(x, 40, y, 40) == 1, "all are equal");
}

/* Return the sum of the doubled ranks of the values of ALL whose bit is set in CHOSEN. */
static int sum_of(const double *all, int count, unsigned chosen)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		for (int k = 0; chosen >> i & 1 && k < count; k++)
			sum += all[k] < all[i] ? 2 : all[k] == all[i];
	return sum;
}

/* Return p by looking at each way to choose BASES of the COUNT values ALL.  The first are base. */
static double by_counting(const double *all, int bases, int count)
{
	double below = 0, above = 0, ways = 0;
	int sum = sum_of(all, count, (1u << bases) - 1);

	for (unsigned chosen = 0; chosen < 1u << count; chosen++) {
		if (__builtin_popcount(chosen) != bases)
			continue;
		int other = sum_of(all, count, chosen);
		ways++;
		below += other <= sum;
		above += other >= sum;
	}
	return fmin(1, 2 * fmin(below, above) / ways);
}

static void test_equal(void)
{
	static const double a[] = { 1, 1, 2, 2, 3, 8, 2, 3, 3, 4, 4, 9, 9 };
	static const double b[] = { 1, 1, 1, 1, 2, 1, 2, 2, 2, 2, 3 };
	static const double five[10] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 };
	static const double six[10] = { 6, 6, 6, 6, 6, 6, 6, 6, 6, 6 };
	bool good = true;

	tap(is(ranks_test(a, 6, a + 6, 7), 0.06177156177156177), "some values are equal");
	tap(is(ranks_test(b, 5, b + 5, 6), 0.11255411255411256), "most values are equal");
	tap(ranks_test(five, 3, five, 3) == 1, "all values are equal");
	tap(is(ranks_test(five, 4, six, 4), 2 / 70.) &&
	    is(ranks_test(five, 10, six, 10), 2 / 184756.), "each side has one value");
	for (int seed = 0; seed < 60; seed++) {
		double all[11];
		int count = 3 + seed % 9, bases = 1 + seed * 7 % (count - 1);
		for (int i = 0; i < count; i++)
			all[i] = (seed + 3) * (i + 2) * (i + 5) % 11 % (2 + seed % 6);
		good &= is(ranks_test(all, (size_t)bases, all + bases, (size_t)(count - bases)),
			   by_counting(all, bases, count));
	}
	tap(good, "p is what counting all ways gives");
}

int main(void)
{
	test_distinct();
	test_normal();
	test_equal();
	return tap_done();
}
