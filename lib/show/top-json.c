/* SPDX-License-Identifier: Apache-2.0 */
/* A top as one JSON object. */
#include "base/json.h"
#include "show/internal.h"
#include "show/top-print-internal.h"

#include <inttypes.h>

static void print_json_object(const struct top_printing *p, uint32_t row)
{
	if (!p->t->how.objects)
		return;
	json_text("object", top_object(p->t, row));
}

static void print_json_calls(const struct top_printing *p, const char *key,
			     const struct sorted_calls *s, uint32_t row)
{
	uint32_t shown = top_calls_shown(p, s, row);

	json_key(key, false);
	fputc('[', p->out);
	for (uint32_t i = 0; i < shown; i++) {
		uint32_t call = s->order[s->first[row] + i];
		fprintf(p->out, "%s{", i ? ", " : "");
		json_key("name", true);
		json_string(top_name_at_other_end(s, call));
		print_json_object(p, top_other_end(s, call));
		fprintf(p->out, ", \"value\": %" PRId64 ", \"share\": %.6f}",
			s->t->call[call].value, top_share_of_call(s, row, call));
	}
	fputc(']', p->out);
}

void top_json_head(struct top_printing *p)
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
static void print_json_change(const struct top_printing *p, uint32_t row)
{
	const struct diff_row *d = p->view->diff
		? diff_find(p->view->diff, p->t->names.text[row]) : NULL;

	if (!d)
		return;
	fprintf(p->out, ", \"base_share\": %.6f, \"after_share\": %.6f, \"change\": %.6f",
		d->base, d->after, d->after - d->base);
	json_text("verdict", diff_verdict_name[d->verdict]);
}

void top_json_row(struct top_printing *p, uint32_t row, bool is_first)
{
	const struct top_row *r = &p->t->row[row];

	fprintf(p->out, "%s\n{", is_first ? "" : ",");
	json_key("name", true);
	json_string(r->name);
	print_json_object(p, row);
	fprintf(p->out, ", \"flat\": %" PRId64 ", \"flat_share\": %.6f, \"cum\": %" PRId64
		", \"cum_share\": %.6f", r->flat, top_share(p, row, BARS_FLAT), r->cumulative,
		top_share(p, row, BARS_CUMULATIVE));
	print_json_change(p, row);
	if (p->bars) {
		json_key("flat_bar", false);
		bars_print_json(p->bars, &p->bars->row[row].bar[BARS_FLAT]);
		json_key("cum_bar", false);
		bars_print_json(p->bars, &p->bars->row[row].bar[BARS_CUMULATIVE]);
	}
	for (size_t i = 0; i < p->view->ratios; i++) {
		struct ratio ratio = top_ratio_in(p, row, i);
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

void top_json_foot(struct top_printing *p)
{
	fputs("\n]}\n", p->out);
}
