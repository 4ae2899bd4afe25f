/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/ratios.h"
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static struct ratio_event event_of(struct ratio_column *c, int which, uint32_t row,
				   enum bars_of kind)
{
	struct bars *b = &c->bars[which];
	struct ratio_event e = { .period = b->whole.total / b->taken };

	if (row) {
		struct share_part part = bars_part(b, row, kind);
		e.weight = part.weight;
		e.total = part.total;
		e.samples = part.samples;
	} else {
		memset(b->scratch[kind], 0, b->blocks * sizeof(double));
		e.weight = b->scratch[kind];
	}
	return e;
}

static struct ratio compute(const struct ratio_column *c, const struct ratio_event *a,
			    const struct ratio_event *b, bool is_total)
{
	const struct share_whole *w = &c->bars[1].whole;
	struct ratio r = c->is_group ? ratio_of_group(w, a, b, is_total)
				   : ratio_of_events(w, a, b);

	r.value *= c->factor;
	r.low *= c->factor;
	r.high *= c->factor;
	return r;
}

bool ratios_add_counted(struct ratio_column *c, size_t a, size_t b, ratios_counter *count,
			void *context)
{
	const size_t type[2] = { a, b };

	for (int i = 0; i < 2; i++) {
		count(context, type[i], &c->bars[i]);
		if (c->bars[i].why_not)
			return false;
	}
	c->is_group = c->bars[0].is_group && c->bars[1].is_group;
	struct ratio_event all[2];
	for (int i = 0; i < 2; i++)
		all[i] = (struct ratio_event){ .weight = c->bars[i].weight,
			.total = c->bars[i].whole.total, .samples = c->bars[i].taken,
			.period = c->bars[i].whole.total / c->bars[i].taken };
	c->total = compute(c, &all[0], &all[1], true);
	return true;
}

/* Makes the tops of a ratio. */
struct tops {
	struct ratio_column *column;
	const struct decoded *d;
	const struct top_how *how;
};

static void count_top(void *context, size_t type, struct bars *bars)
{
	const struct tops *t = context;
	struct top *top = &t->column->top[bars == &t->column->bars[1]];

	*top = (struct top){ .how = *t->how };
	top->how.calls = false;
	top_add_with_bars(top, t->d, type, bars, NULL);
}

bool ratios_add(struct ratio_column *c, const struct decoded *d, size_t a, size_t b,
		const struct top_how *how)
{
	struct tops tops = { .column = c, .d = d, .how = how };

	return ratios_add_counted(c, a, b, count_top, &tops);
}

struct ratio ratios_of_row(struct ratio_column *c, uint32_t row, enum bars_of kind)
{
	struct ratio_event a = event_of(c, 0, row, kind), b = event_of(c, 1, row, kind);

	return compute(c, &a, &b, false);
}

static uint32_t row_named(struct top *t, const char *name)
{
	uint32_t row = intern_text(&t->names, name);

	return row < t->rows ? row : 0;
}

struct ratio ratios_of(struct ratio_column *c, const char *name, enum bars_of kind)
{
	struct ratio share[TOPDOWN_SHARES];

	if (c->topdown) {
		topdown_rows_of(c->topdown, name, kind, share);
		return share[c->share];
	}
	struct ratio_event a = event_of(c, 0, row_named(&c->top[0], name), kind);
	struct ratio_event b = event_of(c, 1, row_named(&c->top[1], name), kind);

	return compute(c, &a, &b, false);
}

const char *ratios_wrong(const struct word_list *requests, bool has_topdown)
{
	struct ratio_request unused;

	for (size_t i = 0; i < requests->count; i++)
		if (!(has_topdown && !strcmp(requests->item[i], RATIOS_TOPDOWN)) &&
		    !ratio_request_parse(requests->item[i], &unused))
			return requests->item[i];
	return NULL;
}

static void release_column(struct ratio_column *c)
{
	if (c->share == 0)
		topdown_rows_free(c->topdown);
	for (int i = 0; i < 2; i++) {
		top_release(&c->top[i]);
		bars_release(&c->bars[i]);
	}
}

/* Add the columns of RATIOS_TOPDOWN.  Return false (reported) if D lacks a sample type. */
static bool add_topdown(struct ratio_columns *columns, const struct decoded *d,
			const struct top_how *how, struct report *report)
{
	struct topdown_rows *rows = topdown_rows_new(d, how, report);

	for (int i = 0; rows && i < TOPDOWN_SHARES; i++)
		columns->column[columns->count++] = (struct ratio_column){
			.name = topdown_share_name[i], .is_group = true, .total = rows->total[i],
			.topdown = rows, .share = (enum topdown_share)i };
	return rows;
}

bool ratios_make(struct ratio_columns *columns, const struct word_list *requests,
		 const struct decoded *d, ratios_adder *add, void *context,
		 const struct top_how *how, struct report *report)
{
	struct ratio_request r;
	struct ratio_types types;

	columns->column = mem_zeroed(requests->count * TOPDOWN_SHARES + 1,
				     sizeof(*columns->column));
	for (size_t i = 0; i < requests->count; i++) {
		if (!strcmp(requests->item[i], RATIOS_TOPDOWN)) {
			if (!add_topdown(columns, d, how, report))
				return false;
			continue;
		}
		ratio_request_parse(requests->item[i], &r);
		if (!ratio_request_find(&r, d, &types, report))
			return false;
		struct ratio_column *c = &columns->column[columns->count];
		*c = (struct ratio_column){ .name = r.name, .factor = r.factor };
		if (r.known) {
			c->of[0] = decoded_string(d, d->type[types.a].type);
			c->of[1] = decoded_string(d, d->type[types.b].type);
		}
		if (add(context, d, c, types.a, types.b)) {
			columns->count++;
			continue;
		}
		report_error(report, "no ratio '%s': %s", requests->item[i],
			     c->bars[0].why_not ? c->bars[0].why_not : c->bars[1].why_not);
		release_column(c);
	}
	return true;
}

void ratios_release(struct ratio_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		release_column(&columns->column[i]);
	free(columns->column);
	*columns = (struct ratio_columns){ .count = 0 };
}
