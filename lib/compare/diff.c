/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/diff.h"
#include "pprof/figures.h"
#include "stats/discoveries.h"
#include "stats/power.h"

#include <math.h>
#include <stdlib.h>

bool diff_is_single(const struct diff *d)
{
	return d->side[0].count == 1 && d->side[1].count == 1;
}

/* Return a run for which TEST holds, or NULL. */
static const struct diff_run *any_run(const struct diff *d, bool test(const struct diff_run *))
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].count; i++)
			if (test(&d->side[side].run[i]))
				return &d->side[side].run[i];
	return NULL;
}

static bool is_part(const struct diff_run *r)
{
	return r->is_merged || !r->is_whole;
}

static bool has_no_length(const struct diff_run *r)
{
	return r->is_merged || *r->name || r->duration <= 0;
}

static bool is_merged(const struct diff_run *r)
{
	return r->is_merged;
}

/* Choose the unit of values, or check that the requested one is possible.  False: reported. */
static bool choose_per(struct diff *d, struct report *report)
{
	const struct diff_run *part = any_run(d, is_part), *endless = any_run(d, has_no_length);
	const struct diff_run *merged = any_run(d, is_merged);
	enum diff_per per = d->how.per;

	if (per == DIFF_PER_AUTO)
		d->how.per = diff_is_single(d) ? DIFF_PER_SHARE : !part ? DIFF_PER_RUN
			     : !endless ? DIFF_PER_SECOND : DIFF_PER_SHARE;
	else if (per != DIFF_PER_SHARE && diff_is_single(d))
		report_error(report, "one run on each side can only be compared by shares: give "
			     "several, -b OLD -b OLD ... NEW NEW ..., or --per share");
	else if ((per == DIFF_PER_RUN || per == DIFF_PER_UNIT) && merged)
		report_error(report, "'%s' is merged from several runs that have no label 'run': "
			     "use --per share", merged->file);
	else if (per == DIFF_PER_SECOND && endless)
		report_error(report, "the length of the recording in '%s' is unknown: use --per "
			     "share", endless->file);
	else
		return true;
	return per == DIFF_PER_AUTO;
}

static bool check_sides(struct diff *d, struct report *report)
{
	size_t a = d->side[0].count, b = d->side[1].count;

	d->why_not = "one side has one run, and the other has several";
	if (!diff_is_single(d) && (a < 2 || b < 2))
		report_error(report, "%zu runs against %zu: give two or more on each side, or one "
			     "on each", a, b);
	else if (d->how.paired && (a != b || a < 2))
		report_error(report, "--paired takes as many runs on both sides, two or more");
	else
		return true;
	return false;
}

/* --- rows --- */

static uint32_t name_of(struct diff *d, const char *text)
{
	return intern_text(&d->names, text);
}

/* Number the names of the rows of all runs, and set each run's ROW. */
static void find_names(struct diff *d)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].count; i++) {
			const struct top *t = &d->side[side].run[i].top;
			for (uint32_t row = 1; row < t->rows; row++)
				name_of(d, t->names.text[row]);
		}
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].count; i++) {
			struct diff_run *r = &d->side[side].run[i];
			r->row = mem_zeroed((size_t)d->names.count + 1, sizeof(*r->row));
			for (uint32_t row = 1; row < r->top.rows; row++)
				r->row[name_of(d, r->top.names.text[row])] = row;
		}
}

/* Return a name as it is printed: "\1text", an object without a name, becomes "[text]". */
static const char *shown_name(struct diff *d, uint32_t name)
{
	const char *text = d->names.text[name];
	size_t length = strlen(text);

	if (*text != '\1')
		return text;
	char *shown = arena_alloc(&d->texts, length + 2);
	snprintf(shown, length + 2, "[%s]", text + 1);
	return shown;
}

static enum bars_of kind_of(const struct diff *d)
{
	return d->how.cumulative ? BARS_CUMULATIVE : BARS_FLAT;
}

static const struct bars_sum *sum_of(const struct diff *d, const struct diff_run *r, uint32_t name)
{
	static const struct bars_sum none;
	uint32_t row = r->row[name];

	return row ? &r->bars.sums[kind_of(d)].row[row] : &none;
}

static double value_of(const struct diff *d, const struct diff_run *r, double weight)
{
	switch (d->how.per) {
	case DIFF_PER_SHARE:
		return weight / r->bars.whole.total;
	case DIFF_PER_SECOND:
		return weight / ((double)r->duration / 1e9);
	case DIFF_PER_UNIT:
		return weight / d->how.units;
	default:
		return weight;
	}
}

/* The values of a row in all runs of a side. */
struct values {
	double *value, samples, mean;	/* by run; sum of all samples; mean of VALUE */
	double variance;		/* of MEAN, if sampling were its only cause */
	size_t count;
	bool positive;			/* all values are above 0 */
};

static void set_values(const struct diff *d, int side, uint32_t name, struct values *v)
{
	const struct diff_runs *s = &d->side[side];

	v->samples = v->mean = v->variance = 0;
	v->count = s->count;
	v->positive = true;
	for (size_t i = 0; i < s->count; i++) {
		const struct bars_sum *sum = name ? sum_of(d, &s->run[i], name) : NULL;
		double weight = sum ? sum->total : s->run[i].bars.whole.total;
		double squares = sum ? sum->squares : s->run[i].bars.whole.squares;
		double error = value_of(d, &s->run[i], sqrt(squares)) / (double)s->count;
		v->variance += error * error;
		v->value[i] = value_of(d, &s->run[i], weight);
		v->mean += v->value[i] / (double)s->count;
		v->samples += sum ? sum->samples : s->run[i].bars.taken;
		v->positive &= v->value[i] > 0;
	}
}

/* Return the mean value of one sample. */
static double quantum(const struct diff *d)
{
	double sum = 0, runs = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].count; i++, runs++) {
			const struct diff_run *r = &d->side[side].run[i];
			sum += value_of(d, r, r->bars.whole.total / r->bars.taken);
		}
	return sum / runs;
}

static struct change compare_values(const struct diff *d, const struct values v[2], double step)
{
	return d->how.paired ? change_of_pairs(v[0].value, v[1].value, v[0].count, step)
			     : change_of_runs(v[0].value, v[0].count, v[1].value, v[1].count, step);
}

/* Turn FROM and TO, limits of ROW's difference, into limits of its change. */
static void set_limits(const struct diff_row *row, double from, double to, double *low,
		       double *high)
{
	double per = row->base;

	if (row->scale == DIFF_SHARES) {	/* a share is from 0 to 1 */
		*low = fmax(from, -per);
		*high = fmin(to, 1 - per);
	} else if (row->scale == DIFF_LOGS) {
		*low = expm1(from);
		*high = expm1(to);
	} else {				/* values are not below 0 */
		*low = per > 0 ? fmax(-1, from / per) : INFINITY;
		*high = per > 0 ? to / per : INFINITY;
	}
}

/*
 * Compare the values of a row in all runs: by their logarithms if all are above 0.  STEP is the
 * value of one sample.
 */
static void compare_row_runs(const struct diff *d, struct values v[2], double step,
			     struct diff_row *row)
{
	bool logs = v[0].positive && v[1].positive;
	double per = v[0].mean;

	for (int side = 0; logs && side < 2; side++)
		for (size_t i = 0; i < v[side].count; i++)
			v[side].value[i] = log(v[side].value[i]);
	struct change c = compare_values(d, v, logs ? step / (per > 0 ? per : 1) : step);
	/* relative to the base, so that the unit of values does not matter */
	double scale = fmax(v[0].mean, v[1].mean);
	c.steady = scale > 0 ? compare_steady((v[1].mean - v[0].mean) / scale,
					      (v[0].variance + v[1].variance) / scale / scale) : 1;
	row->found = c;
	row->scale = logs ? DIFF_LOGS : DIFF_VALUES;
	row->p = c.p;
	row->above = change_above(&c, logs ? log1p(d->how.limit) : d->how.limit * per);
	row->change = logs ? expm1(c.difference) : per > 0 ? c.difference / per : INFINITY;
	set_limits(row, c.low, c.high, &row->low, &row->high);
	double runs = d->how.paired ? 2 / (double)v[0].count
				    : 1 / (double)v[0].count + 1 / (double)v[1].count;
	row->deviation = logs ? c.error / sqrt(runs) : 0;
}

static struct share_part part_of(const struct diff *d, struct diff_run *r, uint32_t name)
{
	if (r->row[name])
		return bars_part(&r->bars, r->row[name], kind_of(d));
	memset(r->bars.scratch[kind_of(d)], 0, r->bars.blocks * sizeof(double));
	return (struct share_part){ .weight = r->bars.scratch[kind_of(d)] };
}

/* Compare the shares of row NAME in two single runs. */
static void compare_row_shares(struct diff *d, uint32_t name, struct diff_row *row)
{
	struct diff_run *a = &d->side[0].run[0], *b = &d->side[1].run[0];
	struct share_part pa = part_of(d, a, name), pb = part_of(d, b, name);
	struct change c = compare_shares(&a->bars.whole, &pa, &b->bars.whole, &pb, NULL);

	row->p = c.p;
	row->above = change_above(&c, d->how.limit * row->base);
	row->change = c.difference;
	row->found = c;
	row->scale = DIFF_SHARES;
	set_limits(row, c.low, c.high, &row->low, &row->high);
}

/*
 * Compare the shares of row NAME in each run of the base with each of the other side, because some
 * runs do not have it at all: then the differences between runs say little.  The row changed if all
 * these comparisons show it.
 */
static void compare_presence(struct diff *d, uint32_t name, struct diff_row *row)
{
	enum { RUNS = 10 };	/* more would show nothing new */
	struct diff_runs *s = d->side;
	double p = 0, above = 0, high = -1;

	for (size_t i = 0; i < s[0].count && i < RUNS; i++)
		for (size_t k = 0; k < s[1].count && k < RUNS; k++) {
			struct share_part pa = part_of(d, &s[0].run[i], name);
			struct share_part pb = part_of(d, &s[1].run[k], name);
			const struct share_whole *a = &s[0].run[i].bars.whole;
			double base = pa.total / a->total;
			struct change c = compare_shares(a, &pa, &s[1].run[k].bars.whole, &pb,
							 NULL);
			p = fmax(p, c.p);
			above = fmax(above, change_above(&c, d->how.limit * base));
			high = fmax(high, base > 0 ? c.high / base : INFINITY);
		}
	if (p >= row->p)
		return;
	row->p = row->found.p = p;
	row->above = fmin(row->above, above);
	row->is_presence = true;
	row->low = row->group == DIFF_GONE ? -1 : row->low;
	row->high = row->group == DIFF_GONE ? fmin(row->high, high) : row->high;
}

static void make_row(struct diff *d, uint32_t name, struct values v[2], double step,
		     struct diff_row *row)
{
	for (int side = 0; side < 2; side++)
		set_values(d, side, name, &v[side]);
	*row = (struct diff_row){ .base = v[0].mean, .after = v[1].mean, .group = DIFF_FEW,
				  .q = 1, .p = 1 };
	if (v[0].samples < DIFF_FEWEST * (double)v[0].count &&
	    v[1].samples < DIFF_FEWEST * (double)v[1].count)
		return;
	row->group = v[0].samples <= 0 ? DIFF_NEW : v[1].samples <= 0 ? DIFF_GONE
		     : row->after > row->base ? DIFF_GREW : DIFF_SHRANK;
	if (diff_is_single(d) && name)
		compare_row_shares(d, name, row);
	else if (!diff_is_single(d))
		compare_row_runs(d, v, step, row);
	if (!diff_is_single(d) && name && row->scale == DIFF_VALUES)
		compare_presence(d, name, row);
}

/*
 * The called rows are those whose difference is large, by chance, too: set limits that allow for
 * this choice (false coverage rate).
 */
static void allow_for_choice(struct diff *d)
{
	double called = 0;

	for (size_t i = 0; i < d->rows; i++)
		called += d->row[i].group < DIFF_SAME;
	for (size_t i = 0; i < d->rows; i++) {
		struct diff_row *row = &d->row[i];
		const struct change *c = &row->found;
		double tail = 0.025 * called / (double)d->tested;
		row->low_called = row->low;
		row->high_called = row->high;
		if (row->group >= DIFF_SAME || row->is_presence || c->error <= 0)
			continue;
		double half = change_half(c, tail);
		set_limits(row, c->difference - half, c->difference + half, &row->low_called,
			   &row->high_called);
		row->low_called = fmin(row->low, row->low_called);
		row->high_called = fmax(row->high, row->high_called);
	}
}

/* Find the limits of the verdicts from the rows that were TESTED, and set the verdicts. */
static void judge(struct diff *d, struct diff_row *const *tested)
{
	double *p = mem_zeroed(d->tested, sizeof(*p)), *q = mem_zeroed(d->tested, sizeof(*q));
	double whole = fmax(d->total.base, d->total.after);

	if (d->how.per == DIFF_PER_SHARE)
		whole = 1;
	for (size_t i = 0; i < d->tested; i++)
		p[i] = tested[i]->p;
	discoveries_find(p, d->tested, q);
	d->limits.p = discoveries_limit(p, q, d->tested, d->how.fdr);
	for (size_t i = 0; i < d->tested; i++)
		p[i] = tested[i]->found.steady;
	discoveries_find(p, d->tested, q);
	d->limits.steady = discoveries_limit(p, q, d->tested, d->how.fdr);
	for (size_t i = 0; i < d->tested; i++)
		tested[i]->verdict = compare_verdict(&d->limits, &tested[i]->found,
						     tested[i]->base / whole,
						     tested[i]->after / whole);
	free(p);
	free(q);
}

/* Set q of all rows.  Rows whose change is not significant at the false discovery rate are SAME. */
static void find_discoveries(struct diff *d)
{
	double *p = mem_zeroed(d->rows, sizeof(*p)), *q = mem_zeroed(d->rows, sizeof(*q));
	double *above = mem_zeroed(d->rows, sizeof(*above));
	struct diff_row **tested = mem_zeroed(d->rows, sizeof(*tested));

	for (size_t i = 0; i < d->rows; i++) {
		if (d->row[i].group == DIFF_FEW)
			continue;
		p[d->tested] = d->row[i].p;
		above[d->tested] = d->row[i].above;
		tested[d->tested++] = &d->row[i];
	}
	discoveries_find(p, d->tested, q);
	discoveries_find(above, d->tested, p);
	for (size_t i = 0; i < d->tested; i++) {
		struct diff_row *row = tested[i];
		double limit = diff_is_single(d) ? d->how.limit * row->base : d->how.limit;
		row->q = q[i];
		if (q[i] > d->how.fdr)
			row->group = DIFF_SAME;
		else
			row->is_above = row->low > limit && p[i] <= d->how.fdr;
	}
	allow_for_choice(d);
	judge(d, tested);
	free(p);
	free(q);
	free(above);
	free(tested);
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	double of_x = fabs(x->after - x->base), of_y = fabs(y->after - y->base);

	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	if (x->verdict <= VERDICT_CHANCE) {	/* no change: the largest first */
		of_x = x->base + x->after;
		of_y = y->base + y->after;
	}
	return of_x > of_y ? -1 : of_x < of_y ? 1 : strcmp(x->name, y->name);
}

/* Compare the totals: of whole runs if values are shares, as a total of shares is always 1. */
static void make_total(struct diff *d, struct values v[2])
{
	enum diff_per per = d->how.per;

	if (per == DIFF_PER_SHARE)
		d->how.per = DIFF_PER_RUN;
	make_row(d, 0, v, quantum(d), &d->total);
	d->how.per = per;
	d->total.name = "total";
	d->has_total_test = per != DIFF_PER_SHARE;
	d->total.is_above = d->has_total_test && d->total.low > d->how.limit &&
			    d->total.above <= d->how.fdr;
}

bool diff_make(struct diff *d, struct report *report)
{
	struct values v[2];

	if (!check_sides(d, report) || !choose_per(d, report))
		return false;
	find_names(d);
	for (int side = 0; side < 2; side++)
		v[side].value = mem_zeroed(d->side[side].count, sizeof(double));
	make_total(d, v);
	double step = quantum(d);
	d->row = mem_zeroed(d->names.count, sizeof(*d->row));
	for (uint32_t name = 1; name < d->names.count; name++) {
		struct diff_row *row = &d->row[d->rows++];
		make_row(d, name, v, step, row);
		row->name = shown_name(d, name);
		row->number = name;
	}
	find_discoveries(d);
	qsort(d->row, d->rows, sizeof(*d->row), compare_rows);
	d->row_of = mem_zeroed(d->names.count, sizeof(*d->row_of));
	for (uint32_t i = 0; i < d->rows; i++)
		d->row_of[d->row[i].number] = i + 1;
	free(v[0].value);
	free(v[1].value);
	return true;
}

const struct diff_row *diff_find(const struct diff *d, const char *name)
{
	uint32_t id = intern_find(&d->names, name);

	return id == TABLE_NONE || d->row_of[id] == 0 ? NULL : &d->row[d->row_of[id] - 1];
}

const struct diff_row *diff_find_object(const struct diff *d, const char *path)
{
	char name[512];

	top_name_object(path, name, sizeof(name));
	return diff_find(d, name);
}

/* --- the runs, and how many a comparison needs --- */

bool diff_is_ordered(const struct diff *d)
{
	int64_t first[2] = { INT64_MAX, INT64_MAX }, last[2] = { 0, 0 };

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].count; i++) {
			const struct diff_run *r = &d->side[side].run[i];
			if (r->time <= 0 || *r->name)
				return false;
			first[side] = r->time < first[side] ? r->time : first[side];
			last[side] = r->time > last[side] ? r->time : last[side];
		}
	return last[0] < first[1] || last[1] < first[0];
}

static bool is_same(const struct diff_run *a, const struct diff_run *b)
{
	return !strcmp(a->file, b->file) && !strcmp(a->name, b->name);
}

const struct diff_run *diff_repeated(const struct diff *d)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < d->side[side].count; i++)
			for (size_t k = 0; k < i; k++)
				if (is_same(&d->side[side].run[i], &d->side[side].run[k]))
					return &d->side[side].run[i];
	return NULL;
}

double diff_has(const struct diff *d)
{
	const struct bars *a = &d->side[0].run[0].bars, *b = &d->side[1].run[0].bars;

	if (!diff_is_single(d))
		return fmin((double)d->side[0].count, (double)d->side[1].count);
	return fmin(a->whole.total * a->whole.total / a->whole.squares,
		    b->whole.total * b->whole.total / b->whole.squares);
}

/*
 * Return ROW's variance as a multiple of its sampling variance, at least 1: phases make it larger.
 * It is the mean of both sides and levels, because the largest would be too large by chance.
 */
static double excess(const struct diff *d, const struct diff_row *row)
{
	double sum = 0, count = 0;

	for (int side = 0; side < 2; side++) {
		struct diff_run *r = &d->side[side].run[0];
		struct share_part part = part_of(d, r, row->number);
		struct share_bar bar = share_bar(&r->bars.whole, &part);
		for (int level = 0; level < 2 && bar.floor > 0; level++, count++)
			sum += fmax(bar.by_level[level], bar.floor / 2) / bar.floor;
	}
	return count > 0 ? fmax(1, sum / count) : 1;
}

/*
 * How many times more samples the most cautious test needs than the z test, by simulation: so that
 * a change that these samples show is found in 80 to 90 % of comparisons, and in 87 % with
 * as many samples as a change needs.
 */
#define PRICE_SEEN 1.15
#define PRICE_NEEDED 1.5

double diff_change_seen(const struct diff *d, const struct diff_row *row)
{
	double level = d->how.fdr / (double)d->tested, low = 0, high = 1000;
	size_t runs = d->side[0].count < d->side[1].count ? d->side[0].count : d->side[1].count;

	if (diff_is_single(d))
		return compare_change_seen(row->base, diff_has(d), (double)d->tested,
					   PRICE_SEEN * excess(d, row));
	if (row->deviation <= 0)
		return INFINITY;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		if (power_of_runs(runs, middle, level) < 0.8)
			low = middle;
		else
			high = middle;
	}
	double deviation = row->deviation * power_seen_factor(2 * (double)runs - 2);
	return high < 999 ? expm1(fmin(high * deviation, 100)) : INFINITY;
}

double diff_needed(const struct diff *d, const struct diff_row *row, double change)
{
	double df = (double)(d->side[0].count + d->side[1].count - 2);

	if (diff_is_single(d))
		return compare_samples_needed(row->base, change, (double)d->tested,
					      PRICE_NEEDED * excess(d, row));
	if (row->deviation <= 0)
		return 0;
	double deviation = row->deviation * power_pilot_factor(df);
	return (double)power_runs_needed(log1p(change) / deviation,
					   d->how.fdr / (double)d->tested);
}

void diff_release(struct diff *d)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < d->side[side].count; i++) {
			struct diff_run *r = &d->side[side].run[i];
			top_release(&r->top);
			bars_release(&r->bars);
			free(r->file);
			free(r->name);
			free(r->row);
		}
		free(d->side[side].run);
	}
	intern_release(&d->names);
	arena_release(&d->texts);
	free(d->type);
	free(d->unit_text);
	free(d->row);
	free(d->row_of);
	*d = (struct diff){ .how = d->how };
}
