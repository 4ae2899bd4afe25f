/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference cases of the statistics: shares, comparisons, ratios, distributions.  The expected
 * numbers are from formulas written out in numpy, and from scipy where it has them.
 */
#include "base/arena.h"
#include "compare/compare.h"
#include "compare/ratio.h"
#include "compare/share-internal.h"
#include "stats/discoveries.h"
#include "stats/distribution.h"
#include "stats/power.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCKS = 20 };

static const double steady[BLOCKS] = { 5, 7, 6, 4, 8, 5, 6, 7, 5, 6, 4, 6, 7, 5, 8, 6, 5, 7, 6, 5 };
static const double phases[BLOCKS] = { 20, 21, 1, 0, 19, 22, 0, 2, 20, 18,
				       1, 0, 21, 20, 0, 1, 19, 20, 2, 0 };
static const double stretch[BLOCKS] = { 0, 0, 0, 0, 0, 0, 25, 30, 28 };
static const double drift[BLOCKS] = { 1, 2, 2, 4, 5, 5, 7, 8, 8, 10, 11, 11, 13, 14, 14, 16, 17,
				      17, 19, 20 };
static const uint32_t pairs[BLOCKS] = { 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9,
					9 };
static const uint32_t one_run[BLOCKS];

/* Return whether GOT is WANT but for 1e-6 of it; 0 is exact. */
static bool is(double got, double want)
{
	bool good = fabs(got - want) <= 1e-6 * fabs(want);

	if (!good)
		printf("# %.12g, not %.12g\n", got, want);
	return good;
}

static struct share_whole whole_of(const double *weight)
{
	struct share_whole w = { .blocks = BLOCKS, .weight = weight, .pair = pairs, .run = one_run,
				 .runs = 1 };

	for (int i = 0; i < BLOCKS; i++)
		w.total += weight[i];
	w.squares = w.total;	/* each sample weighs 1 */
	share_prepare(&w);
	return w;
}

static struct share_part part_of(const double *weight)
{
	struct share_part p = { .weight = weight };

	for (int i = 0; i < BLOCKS; i++)
		p.total += weight[i];
	p.squares = p.samples = p.total;
	return p;
}

static const double fifty[BLOCKS] = { 50, 50, 50, 50, 50, 50, 50, 50, 50, 50,
				      50, 50, 50, 50, 50, 50, 50, 50, 50, 50 };

static void test_wilson(void)
{
	static const struct { double k, n, low, high; } cases[] = {
		{ 0, 500, 0, 0.00762434046155 }, { 1, 1000, 0.000176546370626, 0.00564255859796 },
		{ 3, 3, 0.438502968245, 1 }, { 120, 1000, 0.101299260601, 0.141609075848 },
		{ 999, 1000, 0.994357441402, 0.999823453629 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double low, high;
		share_wilson(cases[i].k / cases[i].n, cases[i].n, &low, &high);
		tap(is(low, cases[i].low) && is(high, cases[i].high), "Wilson's interval");
	}
}

static void test_quantiles(void)
{
	static const struct { double df, t; } cases[] = {
		{ 1, 12.706204736175 }, { 2, 4.302652729696 }, { 3, 3.182446305284 },
		{ 4, 2.776445105198 }, { 8, 2.306004135204 }, { 9, 2.262157162798 },
		{ 18, 2.100922040241 }, { 19, 2.093024054408 }, { 38, 2.024394164575 },
		{ 39, 2.022690920037 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		tap(is(stats_t_quantile(0.025, cases[i].df), cases[i].t), "quantile of t");
	for (double df = 0.7; df < 1e6; df *= 3.7)
		for (double tail = 1e-9; tail < 1; tail += 0.0999)
			tap(is(stats_t_tail(stats_t_quantile(tail, df), df), tail),
			    "the tail of a quantile of t is what was asked for");
	for (double tail = 1e-12; tail < 0.5; tail *= 3)
		tap(is(stats_normal_tail(stats_normal_quantile(tail)), tail) &&
		    (tail < 1e-9 || is(stats_normal_quantile(1 - tail),
				       -stats_normal_quantile(tail))),
		    "the tail of a normal quantile is what was asked for");
	tap(is(stats_normal_quantile(0.025), STATS_Z), "z");
	tap(is(stats_chi_square_quantile(0.2, 8), 4.59357368), "quantile of chi-square");
}

/* What is expected of a share with 20 blocks of 50 samples. */
struct want {
	const double *weight;
	double share, floor, blocks, pairs, effective, low, high, neumann;
	bool is_marked;
	double low_run, high_run;
};

static void test_share(const struct want *want)
{
	struct share_whole w = whole_of(fifty);
	struct share_part p = part_of(want->weight);
	struct share_bar b = share_bar(&w, &p);
	struct share_jackknife blocks = share_jackknife(&w, p.weight, NULL);
	struct share_jackknife two = share_jackknife(&w, p.weight, pairs);
	uint32_t n;

	tap(is(b.share, want->share) && is(b.floor, want->floor), "share, variance of sampling");
	tap(is(blocks.variance, want->blocks) && blocks.groups == 20, "jackknife over blocks");
	tap(is(two.variance, want->pairs) && two.groups == 10, "jackknife over pairs");
	tap(is(b.effective, want->effective), "effective number of samples");
	tap(is(b.low, want->low) && is(b.high, want->high), "the interval");
	tap(is(share_neumann(&w, p.weight, &n), want->neumann) && n == 20, "von Neumann's ratio");
	tap(is(share_neumann_limit(20), 1.01177813537), "its limit");
	tap(b.is_marked == want->is_marked, "the mark");
	tap(is(b.low_run, want->low_run) && is(b.high_run, want->high_run),
	    "the interval of this recording");
}

static void test_shares(void)
{
	static const struct want cases[] = {
		{ steady, 0.118, 0.000104076, 2.71578947368e-05, 1.73333333333e-05, 1000,
		  0.0994515584012, 0.139472085082, 2.86821705426, false,
		  0.0994515584012, 0.139472085082 },
		{ phases, 0.207, 0.000164151, 0.00197952631579, 0.004149, 29.6996089954,
		  0.0993967193089, 0.381717866347, 1.79415596501, false,
		  0.183032927981, 0.233209552492 },
		{ stretch, 0.083, 7.6111e-05, 0.00206794736842, 0.00346677777778, 16.4805635327,
		  0.018296038747, 0.305354445085, 0.731974243465, true,
		  0.0674550214429, 0.101736495134 },
		{ drift, 0.204, 0.000162384, 0.000704421052632, 0.00146933333333, 82.960915852,
		  0.131321117778, 0.302877976779, 0.0463239689181, true,
		  0.180179015262, 0.230086425761 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		test_share(&cases[i]);
}

static void test_unequal_blocks(void)
{
	static const double all[] = { 100, 100, 0, 50, 50, 100, 100, 80, 20, 100 };
	static const double part[] = { 10, 20, 0, 5, 1, 9, 11, 12, 3, 9 };
	struct share_whole w = { .blocks = 10, .weight = all };
	struct share_jackknife j = share_jackknife(&w, part, NULL);

	tap(is(j.variance, 0.000283696816603) && j.groups == 9, "unequal blocks, one is empty");
}

static void test_weights(void)
{
	struct share_whole w = { .total = 20000, .squares = 23075000 };
	struct share_part p = { .total = 6500, .squares = 6000 * 6000 / 3 + 500 * 500 / 5 };
	struct share_bar b = share_bar(&w, &p);

	tap(is(b.floor, 0.0166369921875) && is(b.effective, 13.1859772204), "unequal weights");
	tap(is(b.low, 0.138536871823) && is(b.high, 0.590424551611), "their interval");
	struct share_part all = { .total = 20000, .squares = w.squares };
	b = share_bar(&w, &all);
	tap(is(b.effective, 17.3347778982) && b.high == 1 && b.low < 1,
	    "a share of 1 has the effective n of all");
}

static void test_exact(void)
{
	struct share_whole w = whole_of(fifty);
	double flat[BLOCKS];

	w.is_complete = true;
	for (int i = 0; i < BLOCKS; i++)
		flat[i] = 5;
	struct share_part p = part_of(flat), q = part_of(phases);
	struct share_bar b = share_bar(&w, &p), c = share_bar(&w, &q);
	tap(b.is_exact && b.low == b.share && b.high == b.share, "counted completely, constant");
	tap(c.is_exact && c.low == c.share && c.high == c.share,
	    "counted completely, in phases: exact for this recording, too");
}

/* Few samples with most of the weight: the whole limits the effective number. */
static void test_limit(void)
{
	struct share_whole w = { .total = 1990, .squares = 100990, .most = 39.2127 };
	struct share_part p = { .total = 200, .squares = 200 };
	struct share_bar b = share_bar(&w, &p);

	tap(fabs(share_kish(&w) - w.most) < 1e-3, "the effective number by the squares");
	tap(fabs(b.low - 0.0396) < 2e-4 && fabs(b.high - 0.2328) < 2e-4, "the bar of so many");
}

/* A quarter was measured: the bar is of the rest. */
static void test_measured(void)
{
	struct share_whole w = { .total = 750, .squares = 750, .measured = 250 };
	struct share_part both = { .total = 75, .squares = 75, .samples = 75, .measured = 50 };
	struct share_part waits = { .measured = 20 };
	struct share_bar b = share_bar(&w, &both), c = share_bar(&w, &waits);
	double low, high;

	share_wilson(0.1, 750, &low, &high);
	tap(is(b.share, 0.125) && is(b.low, 0.05 + 0.75 * low) && is(b.high, 0.05 + 0.75 * high),
	    "what was measured moves a bar, and does not widen it");
	tap(c.is_exact && is(c.share, 0.02) && is(c.low, 0.02) && is(c.high, 0.02),
	    "what was only measured is exact");
	tap(!share_may_be_zero(&b) && !share_may_be_zero(&c), "it is never left out");
	struct share_whole none = { .measured = 250 };
	c = share_bar(&none, &waits);
	tap(c.is_exact && is(c.share, 0.08), "nothing was sampled");
}

/* Limits by Clopper and Pearson. */
static void test_selected(void)
{
	struct share_whole w = { .total = 2000, .squares = 2000 };
	struct share_part p = { .total = 20, .squares = 20, .samples = 20 }, all = p;
	struct share_bar b = share_bar(&w, &p), c;

	share_select(&w, &p, false, 0.05, &b);
	tap(b.low_selected <= b.low && b.high_selected >= b.high, "selection widens a bar");
	share_select(&w, &p, false, 0.005, &b);
	/* the sums of the binomial distribution at the limits are half of the level */
	double low = 0, high = 0, term = exp(2000 * log1p(-b.low_selected));
	for (int k = 0; k < 20; k++) {
		low += term;
		term *= (2000. - k) / (k + 1) * b.low_selected / (1 - b.low_selected);
	}
	term = exp(2000 * log1p(-b.high_selected));
	for (int k = 0; k <= 20; k++) {
		high += term;
		term *= (2000. - k) / (k + 1) * b.high_selected / (1 - b.high_selected);
	}
	tap(fabs(1 - low - 0.0025) < 1e-6 && fabs(high - 0.0025) < 1e-6, "it is exact");
	all.total = all.squares = 2000;
	c = share_bar(&w, &all);
	share_select(&w, &all, false, 0.005, &c);
	tap(c.high_selected >= 1 && is(c.low_selected, exp(log(0.0025) / 2000)), "a share of 1");
}

static void test_runs_as_groups(void)
{
	enum { RUNS = 3, EACH = 4 };
	double all[RUNS * EACH], part[RUNS * EACH];
	uint32_t pair[RUNS * EACH], run[RUNS * EACH];
	struct share_whole w = { .blocks = RUNS * EACH, .weight = all, .pair = pair, .run = run,
				 .runs = RUNS, .total = 1200, .squares = 1200 };

	for (uint32_t i = 0; i < RUNS * EACH; i++) {
		all[i] = 100;
		run[i] = i / EACH;
		pair[i] = i / 2;
		part[i] = 10 + 10 * run[i];
	}
	share_prepare(&w);
	struct share_part p = { .weight = part, .total = 240, .squares = 240, .samples = 240 };
	struct share_bar b = share_bar(&w, &p);
	double t = stats_t_quantile(0.025, 2) / STATS_Z;
	tap(is(b.variance, 0.01 / 3 * t * t), "three runs that differ are three groups");
	tap(!b.is_marked, "several runs have no mark");
}

/* Shares without any variance do not prove a change. */
static void test_certain_shares(void)
{
	struct share_whole w = { .total = 1000, .squares = 1000 };
	struct share_part all = { .total = 1000, .squares = 1000, .samples = 1000 };
	struct share_part some = { .total = 300, .squares = 300, .samples = 300 };
	struct share_part more = { .total = 310, .squares = 310, .samples = 310 };
	struct change c = compare_shares(&w, &all, &w, &all, NULL);

	tap(c.p == 1 && c.low == 0 && c.high == 0, "all of both is not a change");
	c = compare_shares(&w, &some, &w, &more, NULL);
	w.is_complete = true;
	struct change complete = compare_shares(&w, &some, &w, &more, NULL);
	tap(c.p > 0.5 && is(complete.p, c.p), "complete events without blocks are as samples");
}

static void test_one_against_one(void)
{
	double more[BLOCKS], other[BLOCKS], level[1 + SHARE_LEVELS];
	struct share_whole w = whole_of(fifty);

	for (int i = 0; i < BLOCKS; i++) {
		more[i] = steady[i] + 3;
		other[i] = i == 0 ? 10 : i == 1 ? 11 : phases[i];
	}
	struct share_part a = part_of(steady), b = part_of(more);
	struct change c = compare_shares(&w, &a, &w, &b, level);
	tap(is(c.difference, 0.06) && is(level[0], 0.000157962389595) &&
	    is(level[1], 7.44247515346e-10) && is(level[2], 6.67479918299e-09) &&
	    is(c.p, 0.000157962389595), "one against one: steady functions");
	a = part_of(phases);
	b = part_of(other);
	c = compare_shares(&w, &a, &w, &b, level);
	tap(is(c.difference, -0.02) && is(level[0], 0.260839776416) &&
	    is(level[1], 0.744823056971) && is(level[2], 0.823362499729) &&
	    is(c.p, 0.823362499729), "one against one: functions in phases");
	tap(c.low < -0.02 && c.high > 0, "its interval has 0 in it");
}

static void test_discoveries(void)
{
	static const double want[] = { .01, .04, .084, .084, .084, .1, 0.105714285714, .216, .216,
				       .216 };
	static const int order[] = { 7, 2, 9, 0, 4, 3, 8, 1, 6, 5 };
	static const double p[] = { .001, .008, .039, .041, .042, .06, .074, .205, .212, .216 };
	double mixed[10], q[10];
	bool good = true;

	for (int i = 0; i < 10; i++)
		mixed[i] = p[order[i]];
	discoveries_find(mixed, 10, q);
	for (int i = 0; i < 10; i++)
		good &= is(q[i], want[order[i]]);
	tap(good, "Benjamini and Hochberg, in any order");
	discoveries_find(mixed, 0, q);
}

static void test_runs(void)
{
	static const double base[] = { 101, 99.5, 100.2, 98.9, 100.9 };
	static const double after[] = { 103.1, 102.2, 104, 102.9, 101.8 };
	double x[5], y[5];
	struct change c = change_of_runs(base, 5, after, 5, 0);

	tap(is(c.difference, 2.7) && is(c.difference / c.error, 4.86506229856) &&
	    is(c.df, 7.97276967685) && is(c.p, 0.00125999716978) &&
	    is(c.low, 1.41945841572) && is(c.high, 3.98054158428), "Welch");
	for (int i = 0; i < 5; i++) {
		x[i] = log(base[i]);
		y[i] = log(after[i]);
	}
	c = change_of_runs(x, 5, y, 5, 0);
	tap(is(c.difference, 0.0266208398491) && is(c.df, 7.94006454907) &&
	    is(c.p, 0.00128273100233) && is(100 * expm1(c.difference), 2.69783396715) &&
	    is(100 * expm1(c.low), 1.40716331532) && is(100 * expm1(c.high), 4.00493176946),
	    "Welch on logarithms");
	tap(is(change_above(&c, 0), c.p / 2) && change_above(&c, c.difference) == 0.5 &&
	    change_above(&c, 0.05) > 0.99, "the one-sided test against a limit");
	c = change_of_pairs(x, y, 5, 1);
	tap(is(c.difference, 0.0266208398491) && is(c.difference / c.error, 4.73048416389) &&
	    is(c.p, 0.00910083694244) && is(100 * expm1(c.low), 1.10570537319) &&
	    is(100 * expm1(c.high), 4.31503407858), "pairs");
	static const double equal[] = { 5, 5, 5 }, others[] = { 6, 6, 6 };
	c = change_of_runs(equal, 3, others, 3, 1);
	tap(isfinite(c.p) && c.p > 0 && c.p < 0.05 && c.low < 1 && c.high > 1,
	    "equal runs: the size of a step is the error");
	c = change_of_pairs(equal, others, 3, 1);
	tap(isfinite(c.p) && c.p > 0 && c.p < 0.1 && c.low < 1 && c.high > 1,
	    "equal pairs: the same");
	c = change_of_runs(equal, 3, equal, 3, 0);
	tap(c.p == 1, "nothing differs");
}

static void test_sizes(void)
{
	double share = 10 / 55., samples;

	samples = compare_samples_needed(share, 0.03, 10, 1.5);
	tap(is(compare_samples_needed(share, 0.03, 10, 1), 202939.201992) &&
	    is(samples, 304408.802989) &&
	    is(compare_samples_needed(1 / 11., 0.03, 10, 1.5), 546465.459507) &&
	    is(compare_samples_needed(2 / 55., 0.03, 10, 1.5), 1286757.41747), "samples needed");
	tap(is(compare_change_seen(share, samples, 10, 1.5), 0.03), "the change that they show");
	tap(isinf(compare_change_seen(0.0001, 100, 10, 1.5)), "or that they show none");
	tap(power_runs_needed(1.5, 0.05) == 9 && is(power_of_runs(9, 1.5, 0.05), 0.847448327231),
	    "runs needed");
	tap(power_runs_needed(1.5, 0.005) == 14 &&
	    is(power_of_runs(14, 1.5, 0.005), 0.804256885206), "at a smaller level");
	tap(power_runs_needed(3, 0.005) == 6 && is(power_of_runs(6, 3, 0.005), 0.908287557894),
	    "for a large change");
	tap(power_runs_needed(.5, 0.005) == 109 &&
	    is(power_of_runs(109, .5, 0.005), 0.802461907545), "for a small change");
	tap(is(power_pilot_factor(8), 1.31968309457), "upper limit of a pilot's deviation");
}

static void test_ratios(void)
{
	static const struct { double ka, pa, kb, pb, value, low, high; } cases[] = {
		{ 30, 1e5, 40, 1e5, 0.75, 0.46919053557, 1.19887328784 },
		{ 0, 1e3, 50, 1e6, 0, 0, 7.68291764139e-05 },
		{ 3, 1e3, 200, 1e6, 1.5e-05, 5.06398406296e-06, 4.44314194521e-05 },
		{ 400, 1e6, 100, 2e6, 2, 1.60713424604, 2.48890222448 },
	};
	struct share_whole none = { .blocks = 0 }, w = whole_of(fifty);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ratio_event a = { .total = cases[i].ka * cases[i].pa,
					 .samples = cases[i].ka, .period = cases[i].pa };
		struct ratio_event b = { .total = cases[i].kb * cases[i].pb,
					 .samples = cases[i].kb, .period = cases[i].pb };
		struct ratio r = ratio_of_events(&none, &a, &b);
		tap(r.is_known && is(r.value, cases[i].value) && is(r.low, cases[i].low) &&
		    is(r.high, cases[i].high), "a ratio of two events");
	}
	struct ratio_event a = { .weight = steady, .total = 118, .samples = 118 };
	struct ratio_event b = { .weight = fifty, .total = 1000, .samples = 1000 };
	struct ratio_event c = { .weight = phases, .total = 207, .samples = 207 };
	struct ratio plain = ratio_of_events(&w, &a, &b), wide = ratio_of_events(&w, &c, &b);
	tap(plain.high / plain.low < 1.6 && wide.high / wide.low > 3,
	    "a ratio that changes from block to block is less sure");
	plain = ratio_of_group(&w, &a, &b, false);
	wide = ratio_of_group(&w, &c, &b, false);
	tap(plain.is_known && plain.high / plain.low < 1.3 && wide.high / wide.low > 3,
	    "so is the ratio of a group");
	struct ratio total = ratio_of_group(&none, &a, &b, true);
	tap(total.is_known && total.is_exact && is(total.value, a.total / b.total),
	    "but the total of a group was counted");
	plain = ratio_of_group(&w, &b, &b, false);
	tap(plain.is_known && plain.is_exact && is(plain.value, 1) && is(plain.low, 1),
	    "a ratio that is the same in all blocks is exact");
	tap(!ratio_of_group(&none, &a, &b, false).is_known, "without blocks a group says nothing");
}

/* Blocks whose samples are alike: the jackknife finds the variance of the design. */
static void test_beta_binomial(void)
{
	enum { SIZE = 25, DRAWS = 2000 };
	double mean = 0;
	uint64_t seed = 20261121;

	for (int i = 0; i < DRAWS; i++) {
		double all[BLOCKS], part[BLOCKS];
		for (int b = 0; b < BLOCKS; b++) {
			/* Polya's urn: 2 and 8 balls, so rho is 1 / 11 */
			double white = 2, balls = 10;
			for (int k = 0; k < SIZE; k++, balls++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				white += (double)(seed >> 11) * 0x1p-53 < white / balls;
			}
			all[b] = SIZE;
			part[b] = white - 2;
		}
		struct share_whole w = { .blocks = BLOCKS, .weight = all };
		mean += share_jackknife(&w, part, NULL).variance / DRAWS;
	}
	double want = 0.2 * 0.8 / (BLOCKS * SIZE) * (1 + (SIZE - 1) / 11.);
	printf("# %.4f of what is right\n", mean / want);
	tap(fabs(mean / want - 1) < 0.03, "the jackknife is right for samples that come in clumps");
}

static bool has_verdict(enum verdict want, double p, double of_sampling, double base, double after)
{
	const struct verdict_limits limits = { .p = 0.01, .steady = 0.02 };
	const struct change c = { .p = p, .steady = of_sampling };

	return compare_verdict(&limits, &c, base, after) == want;
}

static void test_verdicts(void)
{
	const double p[] = { 0.001, 0.2, 0.02, 0.04 };
	const struct verdict_limits none = { .p = -1, .steady = -1 };
	const struct change certain = { .p = 0, .steady = 0 };
	double q[4];

	discoveries_find(p, 4, q);
	tap(discoveries_limit(p, q, 4, 0.05) == 0.02 && discoveries_limit(p, q, 4, 0.001) == -1,
	    "the limit of p is that of the last test that is called");
	tap(has_verdict(VERDICT_SURE, 0.01, 1, 0.3, 0.301) &&
	    has_verdict(VERDICT_UNSTEADY, 0.011, 0.02, 0.3, 0.306) &&
	    has_verdict(VERDICT_UNSTEADY, 1, 0, 0.306, 0.3) &&
	    has_verdict(VERDICT_CHANCE, 0.011, 0.021, 0.3, 0.4) &&
	    has_verdict(VERDICT_CHANCE, 0.011, 0, 0.3, 0.304) &&
	    compare_verdict(&none, &certain, 0.1, 0.9) == VERDICT_CHANCE,
	    "sure by p; unsteady: half a point, and more than sampling can cause; else chance");
}

int main(void)
{
	test_wilson();
	test_quantiles();
	test_shares();
	test_unequal_blocks();
	test_weights();
	test_exact();
	test_limit();
	test_measured();
	test_selected();
	test_runs_as_groups();
	test_certain_shares();
	test_one_against_one();
	test_discoveries();
	test_verdicts();
	test_runs();
	test_sizes();
	test_ratios();
	test_beta_binomial();
	return tap_done();
}
