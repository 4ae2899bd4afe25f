/* SPDX-License-Identifier: Apache-2.0 */
#include "show/top-print-internal.h"
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static uint32_t row_of_call(const struct sorted_calls *s, uint32_t call)
{
	return s->by_caller ? s->t->call[call].caller : s->t->call[call].callee;
}

uint32_t top_other_end(const struct sorted_calls *s, uint32_t call)
{
	const struct top_call *c = &s->t->call[call];

	return s->by_caller ? c->callee : c->caller;
}

const char *top_name_at_other_end(const struct sorted_calls *s, uint32_t call)
{
	return s->t->row[top_other_end(s, call)].name;
}

static int compare_calls(const void *a, const void *b, void *sorted)
{
	const struct sorted_calls *s = sorted;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t row_x = row_of_call(s, x), row_y = row_of_call(s, y);
	uint64_t size_x = top_size(s->t->call[x].value), size_y = top_size(s->t->call[y].value);

	if (row_x != row_y)
		return row_x < row_y ? -1 : 1;
	if (size_x != size_y)
		return size_x < size_y ? 1 : -1;
	return strcmp(top_name_at_other_end(s, x), top_name_at_other_end(s, y));
}

static struct sorted_calls sort_calls(const struct top *t, bool by_caller)
{
	struct sorted_calls s = { .t = t, .by_caller = by_caller };

	s.order = mem_zeroed(t->calls, sizeof(*s.order));
	s.first = mem_zeroed((size_t)t->rows + 1, sizeof(*s.first));
	for (uint32_t i = 0; i < t->calls; i++) {
		s.order[i] = i;
		s.first[row_of_call(&s, i) + 1]++;
	}
	for (uint32_t i = 0; i < t->rows; i++)
		s.first[i + 1] += s.first[i];
	qsort_r(s.order, t->calls, sizeof(*s.order), compare_calls, &s);
	return s;
}

/* A division rounds as pprof does: 34 of 320 is 10.62 %.  Multiplying by 1 / 320 gives 10.63 %. */
double top_share_of(const struct top_printing *p, double value)
{
	return p->whole > 0 ? value / p->whole : 0;
}

double top_share(const struct top_printing *p, uint32_t row, enum bars_of kind)
{
	const struct top_row *r = &p->t->row[row];

	if (p->bars)
		return p->bars->row[row].bar[kind].share;
	return top_share_of(p, (double)(kind == BARS_FLAT ? r->flat : r->cumulative));
}

double top_share_of_call(const struct sorted_calls *s, uint32_t row, uint32_t call)
{
	uint64_t whole = top_size(s->t->row[row].cumulative);

	return whole ? (double)top_size(s->t->call[call].value) / (double)whole : 0;
}

uint32_t top_calls_shown(const struct top_printing *p, const struct sorted_calls *s, uint32_t row)
{
	uint32_t count = s->first[row + 1] - s->first[row], shown = 0;

	while (shown < count &&
	       top_share_of_call(s, row, s->order[s->first[row] + shown]) >= p->view->min_call)
		shown++;
	return shown;
}

struct ratio top_ratio_in(const struct top_printing *p, uint32_t row, size_t i)
{
	return ratios_of(&p->view->ratio[i], p->t->names.text[row],
			 p->view->by_cumulative ? BARS_CUMULATIVE : BARS_FLAT);
}

/* Return whether ROW is large enough, and matches. */
static bool is_wanted(const struct top_printing *p, uint32_t row)
{
	const struct top_row *r = &p->t->row[row];
	uint64_t size = top_size(r->flat), cumulative = top_size(r->cumulative);

	size = size > cumulative ? size : cumulative;
	return top_share_of(p, (double)size) >= p->view->min &&
	       (!p->view->filter || name_filter_is_in(p->view->filter, r->name) ||
		(p->view->objects && name_filter_is_in(p->view->filter, top_object(p->t, row))));
}

/* Return whether ROW has too few samples to say anything; a table then leaves it out. */
static bool may_be_zero(const struct top_printing *p, uint32_t row)
{
	return p->bars && bars_may_be_zero(p->bars, &p->bars->row[row].bar[BARS_CUMULATIVE],
					 p->view->bars);
}

bool top_is_caller_only(const struct top_printing *p, uint32_t row)
{
	return !p->view->by_cumulative && !p->view->filter && !p->t->how.calls &&
	       p->t->row[row].flat == 0;
}

bool top_is_in_table(const struct top_printing *p, uint32_t row)
{
	return is_wanted(p, row) && !top_is_caller_only(p, row) && !may_be_zero(p, row);
}

/*
 * If a table shows only some of the rows, allow for that in their bars.  JSON without a number of
 * rows has the limits of the usual table.
 */
static void select_rows(struct top_printing *p)
{
	enum { USUAL = 20 };
	uint64_t most = p->view->rows == UINT64_MAX ? USUAL : p->view->rows, candidates = 0;
	uint32_t *wanted = mem_zeroed(p->t->count, sizeof(*wanted)), count = 0;

	for (uint32_t i = 0; p->bars && i < p->t->count; i++) {
		candidates += top_is_in_table(p, p->t->order[i]);
		if (is_wanted(p, p->t->order[i]))
			wanted[count++] = p->t->order[i];
	}
	most = most < candidates ? most : candidates;
	if (p->bars)
		p->left.unsure = bars_select(p->t->bars, wanted, count, most,
					     p->view->by_cumulative ? BARS_CUMULATIVE : BARS_FLAT,
					     p->view->bars);
	free(wanted);
}

/* Choose the rows that are printed. */
static void choose_rows(struct top_printing *p, const struct top_writer *as)
{
	uint64_t skip = p->view->skip;

	p->row = mem_resize(NULL, (p->t->count + (size_t)1) * sizeof(*p->row));
	for (uint32_t i = 0; i < p->t->count && p->rows < p->view->rows; i++) {
		uint32_t row = p->t->order[i];
		if (as->is_for_people ? top_is_in_table(p, row) : is_wanted(p, row))
			p->row[p->rows] = row;
		else
			continue;
		if (skip > 0)
			skip--;
		else
			p->rows++;
	}
}

size_t top_rows(struct top *t, const struct top_view *view, uint32_t **row)
{
	struct top_printing p = { .t = t, .view = view, .whole = (double)top_whole(t),
			      .bars = t->bars && t->bars->row ? t->bars : NULL };
	size_t count = 0;

	*row = mem_resize(*row, (t->count + (size_t)1) * sizeof(**row));
	for (uint32_t i = 0; i < t->count; i++)
		if (top_is_in_table(&p, t->order[i]))
			(*row)[count++] = t->order[i];
	return count;
}

const char *const top_format_name[TOP_FORMATS + 1] = {
	[TOP_TEXT] = "text", [TOP_JSON] = "json", [TOP_CSV] = "csv", NULL
};

const struct top_writer top_writers[TOP_FORMATS] = {
	[TOP_TEXT] = { .is_for_people = true, .selects = true,
		       .head = top_text_head, .row = top_text_row, .foot = top_text_foot },
	[TOP_JSON] = { .selects = true,
		       .head = top_json_head, .row = top_json_row, .foot = top_json_foot },
	[TOP_CSV] = { .head = top_csv_head, .row = top_csv_row },
};

void top_print(struct top *t, const struct top_view *view, const struct top_writer *as, FILE *out)
{
	struct top_printing p = { .t = t, .view = view, .out = out,
				  .whole = (double)top_whole(t),
				  .bars = t->bars && t->bars->row ? t->bars : NULL };

	if (t->how.calls) {
		p.callers = sort_calls(t, false);
		p.callees = sort_calls(t, true);
	}
	if (p.bars)
		bars_keep_most(t->bars, view->bars);
	if (as->selects)
		select_rows(&p);
	choose_rows(&p, as);
	as->head(&p);
	for (uint32_t i = 0; i < p.rows; i++)
		as->row(&p, p.row[i], i == 0);
	if (as->foot)
		as->foot(&p);
	free(p.row);
	free(p.callers.order);
	free(p.callers.first);
	free(p.callees.order);
	free(p.callees.first);
}
