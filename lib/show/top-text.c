/* SPDX-License-Identifier: Apache-2.0 */
/* A top as a table for people. */
#include "base/text.h"
#include "show/internal.h"
#include "show/name-print.h"
#include "show/screen.h"
#include "show/top-print-internal.h"
#include "show/value.h"

#include <inttypes.h>

/* Columns that a bar takes beyond the space that is there anyway. */
enum { BARS_COLUMNS = 6 };

/* Print a name at the end of a line that has USED columns and the object's before it. */
static void print_line(const struct top_printing *p, const char *name, size_t used)
{
	used += p->objects ? p->objects + 2 : 0;
	name_end_line(name, p->view->columns, used, p->out);
}

/* Print the object of a row, if there is a column for it. */
static void print_object(const struct top_printing *p, uint32_t row)
{
	if (p->objects == 0)
		return;
	size_t width = name_print(top_object(p->t, row), p->objects, p->out);
	fprintf(p->out, "%*s", (int)(p->objects - width) + 2, "");
}

/* The calls of ROW, with their shares of its cumulative value. */
static void print_calls(const struct top_printing *p, const struct sorted_calls *s, uint32_t row)
{
	enum { BEFORE_NAME = 40 };
	const int wider = p->bars ? BARS_COLUMNS : 0;
	uint32_t count = s->first[row + 1] - s->first[row], shown = top_calls_shown(p, s, row);

	for (uint32_t i = 0; i < shown; i++) {
		uint32_t call = s->order[s->first[row] + i];
		fprintf(p->out, "%*s", 17 + wider, "");
		value_print((double)s->t->call[call].value, p->view->unit, p->out);
		fprintf(p->out, " %6.2f%%      %*s", 100 * top_share_of_call(s, row, call),
			wider, "");
		print_object(p, top_other_end(s, call));
		print_line(p, top_name_at_other_end(s, call), (size_t)(BEFORE_NAME + 2 * wider));
	}
	if (shown < count)
		fprintf(p->out, "%*s [%" PRIu32 " more, with less]\n", 39 + 2 * wider, "",
			count - shown);
}

static void print_rule(const struct top_printing *p)
{
	for (size_t i = 0; i < (p->view->columns && p->view->columns < 76 ? p->view->columns : 76);
	     i++)
		fputc('-', p->out);
	fputc('\n', p->out);
}

static void print_cost(const struct top_printing *p, uint32_t row, enum bars_of kind)
{
	const struct top_row *r = &p->t->row[row];

	value_print((double)(kind == BARS_FLAT ? r->flat : r->cumulative), p->view->unit, p->out);
	fprintf(p->out, " %6.2f%%", 100 * top_share(p, row, kind));
	if (p->bars)
		bars_print_half(p->bars, &p->bars->row[row].bar[kind], p->view->bars, p->out);
	else
		fputc(' ', p->out);
}

void top_text_row(struct top_printing *p, uint32_t row, bool is_first)
{
	enum { BEFORE_NAME = 36 };
	const struct top_row *r = &p->t->row[row];
	size_t before = BEFORE_NAME + (p->bars ? 2 * BARS_COLUMNS : 0) +
			ratios_widths(p->view->ratio, p->view->ratios);

	(void)is_first;
	if (p->t->how.calls) {
		print_rule(p);
		print_calls(p, &p->callers, row);
	}
	if (row == p->view->selected)
		fputc(SCREEN_INVERSE, p->out);
	print_cost(p, row, BARS_FLAT);
	print_cost(p, row, BARS_CUMULATIVE);
	for (size_t i = 0; i < p->view->ratios; i++) {
		struct ratio ratio = top_ratio_in(p, row, i);
		ratios_print(&p->view->ratio[i], &ratio, p->out);
	}
	fputc(' ', p->out);
	print_object(p, row);
	print_line(p, r->name, before);
	if (p->t->how.calls)
		print_calls(p, &p->callees, row);
	for (int kind = 0; p->bars && kind < BARS_KINDS; kind++)
		p->left.any_mark |= bars_marks(&p->bars->row[row].bar[kind], p->view->bars);
}

/* Count the rows that have too few samples. */
static void count_left_out(struct top_printing *p)
{
	for (uint32_t i = 0; i < p->t->count; i++) {
		const struct share_bar *bar = p->bars->row[p->t->order[i]].bar;
		if (top_is_caller_only(p, p->t->order[i]))
			continue;
		bars_leave_out(p->bars, &bar[BARS_FLAT], &bar[BARS_CUMULATIVE], p->view->bars,
			       &p->left);
	}
}

/* Print how many rows the filter shows, and what they cost together. */
static void print_matches(const struct top_printing *p)
{
	double flat = 0;
	uint64_t count = 0;

	for (uint32_t i = 0; i < p->t->count; i++) {
		uint32_t row = p->t->order[i];
		if (!top_is_in_table(p, row))
			continue;
		flat += (double)p->t->row[row].flat;
		count++;
	}
	fprintf(p->out, "; %" PRIu64 " match%s, %.2f%%", count, count == 1 ? "es" : "",
		100 * top_share_of(p, flat));
}

/* Return how many columns the objects of the rows take, at most MOST. */
static size_t measure_objects(const struct top_printing *p)
{
	enum { LEAST = 6, MOST = 22 };
	size_t most = LEAST;

	for (uint32_t i = 0; i < p->rows; i++) {
		size_t width = text_width(top_object(p->t, p->row[i]));
		most = width > most ? width : most;
	}
	return most < MOST ? most : MOST;
}

void top_text_head(struct top_printing *p)
{
	const struct top_view *v = p->view;

	p->objects = p->t->how.objects && v->objects ? measure_objects(p) : 0;
	fprintf(p->out, "%s (%s): ", v->type, v->unit);
	value_print((double)p->t->total, v->unit, p->out);
	if (p->t->is_difference)
		fprintf(p->out, ", %+.2f%% of the base,",
			100 * top_share_of(p, (double)p->t->total));
	fprintf(p->out, "%s in %" PRIu32 " %ss", v->note ? v->note : "", p->t->count,
		top_row_kind(&p->t->how));
	if (p->t->how.label)
		fprintf(p->out, " of the label %s", p->t->how.label);
	if (v->filter)
		print_matches(p);
	fputc('\n', p->out);
	if (p->bars)
		bars_print_head(p->bars, p->out);
	if (v->on_screen)
		fputc(SCREEN_BOLD, p->out);
	const char *half = p->bars ? "    +/-" : " ";
	fprintf(p->out, "    flat   flat%%%s     cum    cum%%%s", half, p->bars ? half : "");
	for (size_t i = 0; i < v->ratios; i++)
		fprintf(p->out, " %-*.*s", ratios_width(&v->ratio[i]) - 1,
			ratios_width(&v->ratio[i]) - 1, v->ratio[i].name);
	if (p->objects)
		fprintf(p->out, "%s%-*s  function", p->bars || v->ratios ? " " : "  ",
			(int)p->objects, "object");
	fprintf(p->out, "%s\n", p->t->how.calls ? "  (above: callers, below: callees)" : "");
}

void top_text_foot(struct top_printing *p)
{
	if (p->bars) {
		count_left_out(p);
		bars_print_foot(p->bars, &p->left, top_row_kind(&p->t->how), p->out);
	}
	for (size_t i = 0; i < p->view->ratios; i++)
		ratios_print_foot(&p->view->ratio[i], p->out);
}
