/* SPDX-License-Identifier: Apache-2.0 */
#include "show/top-print.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "show/name-print.h"
#include "show/screen.h"
#include "show/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of calls, sorted by row and then by size; those of a row are next to each other. */
struct sorted_calls {
	const struct top *t;
	bool by_caller;
	uint32_t *order;
	uint32_t *first;	/* by row: index in ORDER of its first call; ROWS + 1 items */
};

/* Columns that a bar takes beyond the space that is there anyway. */
enum { BARS_COLUMNS = 6 };

struct printing {
	struct top *t;
	const struct top_view *view;
	FILE *out;
	double whole;		/* what shares are shares of; 0: they are 0 */
	size_t objects;		/* columns of the widest object; 0: they are not printed */
	struct sorted_calls callers, callees;	/* of each row; only if T has calls */
	const struct bars *bars;	/* of T; NULL: none */
	struct bars_left left;	/* rows that a table leaves out */
};

/* Print a name at the end of a line that has USED columns and the object's before it. */
static void print_line(const struct printing *p, const char *name, size_t used)
{
	used += p->objects ? p->objects + 2 : 0;
	name_end_line(name, p->view->columns, used, p->out);
}

/* Print the object of a row, if there is a column for it. */
static void print_object(const struct printing *p, uint32_t row)
{
	if (p->objects == 0)
		return;
	size_t width = name_print(top_object(p->t, row), p->objects, p->out);
	fprintf(p->out, "%*s", (int)(p->objects - width) + 2, "");
}

static uint32_t row_of_call(const struct sorted_calls *s, uint32_t call)
{
	return s->by_caller ? s->t->call[call].caller : s->t->call[call].callee;
}

/* Return the row at the other end of the call. */
static uint32_t other_end(const struct sorted_calls *s, uint32_t call)
{
	const struct top_call *c = &s->t->call[call];

	return s->by_caller ? c->callee : c->caller;
}

static const char *name_at_other_end(const struct sorted_calls *s, uint32_t call)
{
	return s->t->row[other_end(s, call)].name;
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
	return strcmp(name_at_other_end(s, x), name_at_other_end(s, y));
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

/* Divided, not multiplied by a share of one: else 34 of 320 is 10.63 %, and 10.62 % in pprof. */
static double share_of(const struct printing *p, double value)
{
	return p->whole > 0 ? value / p->whole : 0;
}

/* Return the share of ROW's value: that of its bar makes up for what was lost. */
static double share(const struct printing *p, uint32_t row, enum bars_of kind)
{
	const struct top_row *r = &p->t->row[row];

	if (p->bars)
		return p->bars->row[row].bar[kind].share;
	return share_of(p, (double)(kind == BARS_FLAT ? r->flat : r->cumulative));
}

static double share_of_call(const struct sorted_calls *s, uint32_t row, uint32_t call)
{
	uint64_t whole = top_size(s->t->row[row].cumulative);

	return whole ? (double)top_size(s->t->call[call].value) / (double)whole : 0;
}

/* Return how many of the calls of ROW, the largest, are shown. */
static uint32_t calls_shown(const struct printing *p, const struct sorted_calls *s, uint32_t row)
{
	uint32_t count = s->first[row + 1] - s->first[row], shown = 0;

	while (shown < count &&
	       share_of_call(s, row, s->order[s->first[row] + shown]) >= p->view->min_call)
		shown++;
	return shown;
}

/* The calls of ROW, with their shares of its cumulative value. */
static void print_calls(const struct printing *p, const struct sorted_calls *s, uint32_t row)
{
	enum { BEFORE_NAME = 40 };
	const int wider = p->bars ? BARS_COLUMNS : 0;
	uint32_t count = s->first[row + 1] - s->first[row], shown = calls_shown(p, s, row);

	for (uint32_t i = 0; i < shown; i++) {
		uint32_t call = s->order[s->first[row] + i];
		fprintf(p->out, "%*s", 17 + wider, "");
		value_print((double)s->t->call[call].value, p->view->unit, p->out);
		fprintf(p->out, " %6.2f%%      %*s", 100 * share_of_call(s, row, call), wider, "");
		print_object(p, other_end(s, call));
		print_line(p, name_at_other_end(s, call), (size_t)(BEFORE_NAME + 2 * wider));
	}
	if (shown < count)
		fprintf(p->out, "%*s [%" PRIu32 " more, with less]\n", 39 + 2 * wider, "",
			count - shown);
}

static void print_rule(const struct printing *p)
{
	for (size_t i = 0; i < (p->view->columns && p->view->columns < 76 ? p->view->columns : 76);
	     i++)
		fputc('-', p->out);
	fputc('\n', p->out);
}

static void print_cost(const struct printing *p, uint32_t row, enum bars_of kind)
{
	const struct top_row *r = &p->t->row[row];

	value_print((double)(kind == BARS_FLAT ? r->flat : r->cumulative), p->view->unit, p->out);
	fprintf(p->out, " %6.2f%%", 100 * share(p, row, kind));
	if (p->bars)
		bars_print_half(p->bars, &p->bars->row[row].bar[kind], p->view->bars, p->out);
	else
		fputc(' ', p->out);
}

/* Return the ratio number I of ROW, of the cost that the table is sorted by. */
static struct ratio ratio_in(const struct printing *p, uint32_t row, size_t i)
{
	return ratios_of(&p->view->ratio[i], p->t->names.text[row],
			 p->view->by_cumulative ? BARS_CUMULATIVE : BARS_FLAT);
}

static void print_row(const struct printing *p, uint32_t row)
{
	enum { BEFORE_NAME = 36 };
	const struct top_row *r = &p->t->row[row];
	size_t before = BEFORE_NAME + (p->bars ? 2 * BARS_COLUMNS : 0) +
			p->view->ratios * RATIO_COLUMNS;

	if (p->t->how.calls) {
		print_rule(p);
		print_calls(p, &p->callers, row);
	}
	if (row == p->view->selected)
		fputc(SCREEN_INVERSE, p->out);
	print_cost(p, row, BARS_FLAT);
	print_cost(p, row, BARS_CUMULATIVE);
	for (size_t i = 0; i < p->view->ratios; i++) {
		struct ratio ratio = ratio_in(p, row, i);
		ratios_print(&ratio, p->out);
	}
	fputc(' ', p->out);
	print_object(p, row);
	print_line(p, r->name, before);
	if (p->t->how.calls)
		print_calls(p, &p->callees, row);
}

static void print_json_object(const struct printing *p, uint32_t row)
{
	if (!p->t->how.objects)
		return;
	json_text("object", top_object(p->t, row));
}

static void print_json_calls(const struct printing *p, const char *key,
			     const struct sorted_calls *s, uint32_t row)
{
	uint32_t shown = calls_shown(p, s, row);

	json_key(key, false);
	fputc('[', p->out);
	for (uint32_t i = 0; i < shown; i++) {
		uint32_t call = s->order[s->first[row] + i];
		fprintf(p->out, "%s{", i ? ", " : "");
		json_key("name", true);
		json_string(name_at_other_end(s, call));
		print_json_object(p, other_end(s, call));
		fprintf(p->out, ", \"value\": %" PRId64 ", \"share\": %.6f}",
			s->t->call[call].value, share_of_call(s, row, call));
	}
	fputc(']', p->out);
}

static void print_json_head(const struct printing *p)
{
	fputc('{', p->out);
	json_key("type", true);
	json_string(p->view->type);
	json_text("unit", p->view->unit);
	fprintf(p->out, ", \"total\": %" PRId64 ", \"whole\": %" PRIu64 ", \"count\": %" PRIu32
		, p->t->total, top_whole(p->t), p->t->count);
	if (p->t->bars)
		bars_print_json_head(p->t->bars);
	fputs(", \"rows\": [", p->out);
}

/* Print how the share of ROW changed in a difference, and the verdict. */
static void print_json_change(const struct printing *p, uint32_t row)
{
	const struct diff_row *d = p->view->diff
		? diff_find(p->view->diff, p->t->names.text[row]) : NULL;

	if (!d)
		return;
	fprintf(p->out, ", \"base_share\": %.6f, \"after_share\": %.6f, \"change\": %.6f",
		d->base, d->after, d->after - d->base);
	json_text("verdict", diff_verdict_name[d->verdict]);
}

static void print_json_row(const struct printing *p, uint32_t row, bool is_first)
{
	const struct top_row *r = &p->t->row[row];

	fprintf(p->out, "%s\n{", is_first ? "" : ",");
	json_key("name", true);
	json_string(r->name);
	print_json_object(p, row);
	fprintf(p->out, ", \"flat\": %" PRId64 ", \"flat_share\": %.6f, \"cum\": %" PRId64
		", \"cum_share\": %.6f", r->flat, share(p, row, BARS_FLAT), r->cumulative,
		share(p, row, BARS_CUMULATIVE));
	print_json_change(p, row);
	if (p->bars) {
		json_key("flat_bar", false);
		bars_print_json(p->bars, &p->bars->row[row].bar[BARS_FLAT]);
		json_key("cum_bar", false);
		bars_print_json(p->bars, &p->bars->row[row].bar[BARS_CUMULATIVE]);
	}
	for (size_t i = 0; i < p->view->ratios; i++) {
		struct ratio ratio = ratio_in(p, row, i);
		printf("%s", i ? ", " : ", \"ratios\": {");
		json_key(p->view->ratio[i].name, true);
		ratios_print_json(&ratio);
		printf("%s", i + 1 < p->view->ratios ? "" : "}");
	}
	if (p->t->how.calls) {
		print_json_calls(p, "callers", &p->callers, row);
		print_json_calls(p, "callees", &p->callees, row);
	}
	fputc('}', p->out);
}

/*
 * RFC 4180: a field with a quote, comma or line end is quoted, and its quotes are doubled.  A
 * spreadsheet calculates what starts with one of =+-@, and names come from the sampled program: an
 * apostrophe makes them text.
 */
static void print_csv_text(const char *text, FILE *out)
{
	const char *mark = *text && strchr("=+-@", *text) ? "'" : "";

	if (!text[strcspn(text, "\",\r\n")]) {
		fprintf(out, "%s%s", mark, text);
		return;
	}
	fprintf(out, "\"%s", mark);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_csv_object(const struct printing *p, uint32_t row)
{
	if (!p->t->how.objects)
		return;
	print_csv_text(top_object(p->t, row), p->out);
	fputc(',', p->out);
}

static void print_csv_calls(const struct printing *p, const char *relation,
			    const struct sorted_calls *s, uint32_t row)
{
	uint32_t shown = calls_shown(p, s, row);

	for (uint32_t i = 0; i < shown; i++) {
		uint32_t call = s->order[s->first[row] + i];
		print_csv_text(s->t->row[row].name, p->out);
		fprintf(p->out, ",%s,,,%" PRId64 ",%.6f,", relation, s->t->call[call].value,
			share_of_call(s, row, call));
		fputs(p->bars ? ",,,,,," : "", p->out);
		print_csv_object(p, other_end(s, call));
		print_csv_text(name_at_other_end(s, call), p->out);
		fputs("\r\n", p->out);
	}
}

static void print_csv_row(const struct printing *p, uint32_t row)
{
	const struct top_row *r = &p->t->row[row];

	if (p->t->how.calls) {
		print_csv_calls(p, "caller", &p->callers, row);
		print_csv_text(r->name, p->out);
		fputs(",self,", p->out);
	}
	fprintf(p->out, "%" PRId64 ",%.6f,%" PRId64 ",%.6f,", r->flat,
		share(p, row, BARS_FLAT), r->cumulative, share(p, row, BARS_CUMULATIVE));
	for (int kind = 0; p->bars && kind < BARS_KINDS; kind++)
		bars_print_csv(p->bars, &p->bars->row[row].bar[kind], p->view->bars, p->out);
	print_csv_object(p, row);
	print_csv_text(r->name, p->out);
	fputs("\r\n", p->out);
	if (p->t->how.calls)
		print_csv_calls(p, "callee", &p->callees, row);
}

/* Return whether the row is shown. */
static bool is_wanted(const struct printing *p, uint32_t row)
{
	const struct top_row *r = &p->t->row[row];
	uint64_t size = top_size(r->flat), cumulative = top_size(r->cumulative);

	size = size > cumulative ? size : cumulative;
	return share_of(p, (double)size) >= p->view->min &&
	       (!p->view->filter || name_filter_is_in(p->view->filter, r->name) ||
		(p->view->objects && name_filter_is_in(p->view->filter, top_object(p->t, row))));
}

/* Return whether ROW has too few samples to say anything; a table then leaves it out. */
static bool may_be_zero(const struct printing *p, uint32_t row)
{
	return p->bars && bars_may_be_zero(p->bars, &p->bars->row[row].bar[BARS_CUMULATIVE],
					 p->view->bars);
}

/* Return whether ROW costs nothing by itself: a flat table has it only if it was asked for. */
static bool is_caller_only(const struct printing *p, uint32_t row)
{
	return !p->view->by_cumulative && !p->view->filter && !p->t->how.calls &&
	       p->t->row[row].flat == 0;
}

/* Count the rows that have too few samples. */
static void count_left_out(struct printing *p)
{
	for (uint32_t i = 0; i < p->t->count; i++) {
		const struct share_bar *bar = p->bars->row[p->t->order[i]].bar;
		if (is_caller_only(p, p->t->order[i]))
			continue;
		bars_leave_out(p->bars, &bar[BARS_FLAT], &bar[BARS_CUMULATIVE], p->view->bars,
			       &p->left);
	}
}

/* Return whether FORMAT has ROW, if there is room. */
static bool is_candidate(const struct printing *p, enum top_format format, uint32_t row)
{
	return is_wanted(p, row) && !(format == TOP_TABLE && (is_caller_only(p, row) ||
							      may_be_zero(p, row)));
}

/* Print how many rows the filter shows, and what they cost together. */
static void print_matches(const struct printing *p)
{
	double flat = 0;
	uint64_t count = 0;

	for (uint32_t i = 0; i < p->t->count; i++) {
		uint32_t row = p->t->order[i];
		if (!is_candidate(p, TOP_TABLE, row))
			continue;
		flat += (double)p->t->row[row].flat;
		count++;
	}
	fprintf(p->out, "; %" PRIu64 " match%s, %.2f%%", count, count == 1 ? "es" : "",
		100 * share_of(p, flat));
}

static void print_table_head(const struct printing *p)
{
	const struct top_view *v = p->view;

	fprintf(p->out, "%s (%s): ", v->type, v->unit);
	value_print((double)p->t->total, v->unit, p->out);
	if (p->t->is_difference)
		fprintf(p->out, ", %+.2f%% of the base,", 100 * share_of(p, (double)p->t->total));
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
		fprintf(p->out, " %-*.*s", RATIO_COLUMNS - 1, RATIO_COLUMNS - 1,
			v->ratio[i].name);
	if (p->objects)
		fprintf(p->out, "%s%-*s  function", p->bars || v->ratios ? " " : "  ",
			(int)p->objects, "object");
	fprintf(p->out, "%s\n", p->t->how.calls ? "  (above: callers, below: callees)" : "");
}

/*
 * If a table shows only some of the rows, allow for that in their bars.  JSON without a number of
 * rows has the limits of the usual table.
 */
static void select_rows(struct printing *p)
{
	enum { USUAL = 20 };
	uint64_t most = p->view->rows == UINT64_MAX ? USUAL : p->view->rows, candidates = 0;
	uint32_t *wanted = mem_zeroed(p->t->count, sizeof(*wanted)), count = 0;

	for (uint32_t i = 0; p->bars && i < p->t->count; i++) {
		candidates += is_candidate(p, TOP_TABLE, p->t->order[i]);
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

static void print_table_row(struct printing *p, uint32_t row)
{
	print_row(p, row);
	for (int kind = 0; p->bars && kind < BARS_KINDS; kind++)
		p->left.any_mark |= bars_marks(&p->bars->row[row].bar[kind], p->view->bars);
}

static void print_rows(struct printing *p, enum top_format format)
{
	uint64_t shown = 0, skip = p->view->skip;

	for (uint32_t i = 0; i < p->t->count && shown < p->view->rows; i++) {
		uint32_t row = p->t->order[i];
		if (!is_candidate(p, format, row) || (skip > 0 && skip--))
			continue;
		if (format == TOP_TABLE)
			print_table_row(p, row);
		else if (format == TOP_JSON)
			print_json_row(p, row, shown == 0);
		else
			print_csv_row(p, row);
		shown++;
	}
}

/* Return how many columns the objects of the rows that are printed take, at most MOST. */
static size_t measure_objects(const struct printing *p)
{
	enum { LEAST = 6, MOST = 22 };
	size_t most = LEAST;
	uint64_t shown = 0, skip = p->view->skip;

	for (uint32_t i = 0; i < p->t->count && shown < p->view->rows; i++) {
		uint32_t row = p->t->order[i];
		if (!is_candidate(p, TOP_TABLE, row) || (skip > 0 && skip--))
			continue;
		size_t width = text_width(top_object(p->t, row));
		most = width > most ? width : most;
		shown++;
	}
	return most < MOST ? most : MOST;
}

size_t top_rows(struct top *t, const struct top_view *view, uint32_t **row)
{
	struct printing p = { .t = t, .view = view, .whole = (double)top_whole(t),
			      .bars = t->bars && t->bars->row ? t->bars : NULL };
	size_t count = 0;

	*row = mem_resize(*row, (t->count + (size_t)1) * sizeof(**row));
	for (uint32_t i = 0; i < t->count; i++)
		if (is_candidate(&p, TOP_TABLE, t->order[i]))
			(*row)[count++] = t->order[i];
	return count;
}

void top_print(struct top *t, const struct top_view *view, enum top_format format, FILE *out)
{
	struct printing p = { .t = t, .view = view, .out = out,
			      .whole = (double)top_whole(t),
			      .bars = t->bars && t->bars->row ? t->bars : NULL };

	if (t->how.calls) {
		p.callers = sort_calls(t, false);
		p.callees = sort_calls(t, true);
	}
	if (t->how.objects && format == TOP_TABLE && view->objects)
		p.objects = measure_objects(&p);
	if (p.bars)
		bars_keep_most(t->bars, view->bars);
	if (format != TOP_CSV)
		select_rows(&p);
	if (format == TOP_TABLE)
		print_table_head(&p);
	else if (format == TOP_JSON)
		print_json_head(&p);
	else
		fprintf(out, "%sflat,flat_share,%s,%s%sname\r\n",
			t->how.calls ? "of,relation," : "",
			t->how.calls ? "value,share" : "cum,cum_share",
			p.bars ? "flat_low,flat_high,flat_mark,cum_low,cum_high,cum_mark," : "",
			t->how.objects ? "object," : "");
	print_rows(&p, format);
	if (format == TOP_JSON)
		fputs("\n]}\n", out);
	if (format == TOP_TABLE && p.bars) {
		count_left_out(&p);
		bars_print_foot(p.bars, &p.left, top_row_kind(&t->how), out);
	}
	for (size_t i = 0; format == TOP_TABLE && i < view->ratios; i++)
		ratios_print_foot(&view->ratio[i], out);
	free(p.callers.order);
	free(p.callers.first);
	free(p.callees.order);
	free(p.callees.first);
}
