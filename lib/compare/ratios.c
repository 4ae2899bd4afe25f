/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/ratios.h"
#include "base/arena.h"
#include "pprof/sample-type.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char ratios_form[] = "A/B, A/B*NUMBER or A/B*NUMBER=NAME of two sample types";

/* A text of the form "A/B", "A/B*1000" or "A/B*1000=NAME", parsed. */
struct ratio_request {
	char a[200], b[200];	/* sample types */
	double factor;
	const char *name;	/* in the text; all of it if it has no "=" */
};

/* Parse TEXT into R.  Return false if TEXT is not a ratio. */
static bool parse(const char *text, struct ratio_request *r)
{
	/* an event's name may contain a slash; the names of its types do not start with one */
	const char *name = strrchr(text, '='), *times = strrchr(text, '*');
	size_t length = name ? (size_t)(name - text) : strlen(text);
	char *end;

	*r = (struct ratio_request){ .factor = 1, .name = name ? name + 1 : text };
	if (times && times < text + length) {
		r->factor = strtod(times + 1, &end);
		if (end != text + length || end == times + 1 || !(r->factor > 0) ||
		    isinf(r->factor))
			return false;
		length = (size_t)(times - text);
	}
	const char *slash = memchr(text, '/', length);
	size_t of_a = slash ? (size_t)(slash - text) : 0;
	if (!slash || of_a == 0 || of_a >= sizeof(r->a) || length - of_a - 1 == 0 ||
	    length - of_a - 1 >= sizeof(r->b))
		return false;
	snprintf(r->a, sizeof(r->a), "%.*s", (int)of_a, text);
	snprintf(r->b, sizeof(r->b), "%.*s", (int)(length - of_a - 1), slash + 1);
	return *r->name;
}

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
	struct ratio_event a = event_of(c, 0, row_named(&c->top[0], name), kind);
	struct ratio_event b = event_of(c, 1, row_named(&c->top[1], name), kind);

	return compute(c, &a, &b, false);
}

const char *ratios_wrong(const struct word_list *requests)
{
	struct ratio_request unused;

	for (size_t i = 0; i < requests->count; i++)
		if (!parse(requests->item[i], &unused))
			return requests->item[i];
	return NULL;
}

static void release_column(struct ratio_column *c)
{
	for (int i = 0; i < 2; i++) {
		top_release(&c->top[i]);
		bars_release(&c->bars[i]);
	}
}

bool ratios_make(struct ratio_columns *columns, const struct word_list *requests,
		 const struct decoded *d, ratios_adder *add, void *context,
		 struct report *report)
{
	struct ratio_request r;

	columns->column = mem_zeroed(requests->count + 1, sizeof(*columns->column));
	for (size_t i = 0; i < requests->count; i++) {
		parse(requests->item[i], &r);
		uint32_t a = sample_type_find(d, r.a, NULL, report);
		uint32_t b = a == TABLE_NONE ? a : sample_type_find(d, r.b, NULL, report);
		if (b == TABLE_NONE)
			return false;
		struct ratio_column *c = &columns->column[columns->count];
		*c = (struct ratio_column){ .name = r.name, .factor = r.factor };
		if (add(context, d, c, a, b)) {
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
