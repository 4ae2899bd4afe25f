/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/comparison.h"
#include "base/arena.h"
#include "stats/discoveries.h"
#include "stats/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values of a row, without runs that have none. */
struct known_values {
	double *value;
	size_t count;
	double least;		/* the smallest */
};

static struct known_values values_of(const struct counting_row *row, size_t runs)
{
	struct known_values v = { .value = mem_zeroed(runs, sizeof(double)), .least = INFINITY };

	for (size_t i = 0; i < runs; i++)
		if (!isnan(row->value[i])) {
			v.value[v.count++] = row->value[i];
			v.least = fmin(v.least, row->value[i]);
		}
	return v;
}

static bool is_constant(const struct counting_row *row)
{
	return row->min == row->max && !row->is_scaled;
}

/* Set the change of ROW and its limits from what was found. */
static void set_change(struct comparison_row *row, bool may_be_negative)
{
	const struct change *c = &row->found;
	double per = fabs(c->base);

	if (per > 0)
		row->change = c->difference / per;
	else
		row->change = c->difference == 0 ? 0 : INFINITY;
	if (per > 0 && !row->is_exact)
		change_share_limits(c, may_be_negative, &row->low, &row->high);
	else
		row->low = row->high = row->change;
}

static void compare_values(struct comparison_row *row, const struct known_values *base,
			   const struct known_values *after)
{
	row->is_exact = is_constant(row->base) && is_constant(row->after);
	row->rank_p = ranks_test(base->value, base->count, after->value, after->count);
	row->found = change_of_runs(base->value, base->count, after->value, after->count,
				    counting_row_step(row->after));
	row->p = row->found.p;
	set_change(row, base->least < 0 || after->least < 0);
}

static void compare_row(struct comparison_row *row, size_t bases, size_t afters)
{
	struct known_values base = values_of(row->base, bases);
	struct known_values after = values_of(row->after, afters);

	row->is_tested = base.count >= 2 && after.count >= 2;
	row->change = row->low = row->high = row->p = row->q = NAN;
	row->rank_p = row->rank_q = NAN;
	if (row->is_tested)
		compare_values(row, &base, &after);
	free(base.value);
	free(after.value);
}

void comparison_make(struct comparison *c, const struct counting_rows *base,
		     const struct counting_rows *after)
{
	*c = (struct comparison){ .row = mem_zeroed(after->count, sizeof(*c->row)) };
	for (size_t i = 0; i < after->count; i++) {
		const struct counting_row *row = &after->row[i];
		const struct counting_row *of_base = counting_rows_find(base, row->name);
		if (!of_base || strcmp(of_base->unit, row->unit))
			continue;
		c->row[c->rows] = (struct comparison_row){ .base = of_base, .after = row };
		compare_row(&c->row[c->rows++], base->runs, after->runs);
	}
}

/* Return the smallest p of a rank test of ROW. */
static double least_of_ranks(const struct comparison_row *row)
{
	double n = (double)row->base->runs, m = (double)row->after->runs;

	return 2 * exp(lgamma(n + 1) + lgamma(m + 1) - lgamma(n + m + 1));
}

void comparison_judge(struct comparison *c, size_t count, double fdr)
{
	struct comparison_row **tested = NULL;
	size_t tests = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < c[i].rows; k++)
			if (c[i].row[k].is_tested) {
				tested = array_grow(tested, tests, sizeof(*tested));
				tested[tests++] = &c[i].row[k];
			}
	double *p = mem_zeroed(2 * tests, sizeof(*p)), *rank_p = p + tests;
	double *q = mem_zeroed(2 * tests, sizeof(*q)), *rank_q = q + tests;
	for (size_t i = 0; i < tests; i++) {
		p[i] = tested[i]->p;
		rank_p[i] = tested[i]->rank_p;
	}
	discoveries_find(p, tests, q);
	discoveries_find(rank_p, tests, rank_q);
	for (size_t i = 0; i < tests; i++) {
		struct comparison_row *row = tested[i];
		row->q = q[i];
		row->rank_q = rank_q[i];
		row->is_called = row->q <= fdr;
		row->ranks = (row->rank_q <= fdr) == row->is_called ? RANKS_AGREE
			     : least_of_ranks(row) * (double)tests > fdr ? RANKS_TOO_FEW
			     : RANKS_DISAGREE;
	}
	free(tested);
	free(p);
	free(q);
}

double comparison_above(const struct comparison_row *row, double limit)
{
	return change_above_share(&row->found, limit);
}

const struct comparison_row *comparison_find(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->rows; i++)
		if (!strcmp(c->row[i].after->name, name))
			return &c->row[i];
	return NULL;
}

void comparison_release(struct comparison *c)
{
	free(c->row);
	*c = (struct comparison){ .row = NULL };
}
