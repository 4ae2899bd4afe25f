/* SPDX-License-Identifier: Apache-2.0 */
/* A top as CSV, RFC 4180. */
#include "show/csv.h"
#include "show/internal.h"
#include "show/top-print-internal.h"

#include <inttypes.h>

static void print_csv_object(const struct top_printing *p, uint32_t row)
{
	if (!p->t->how.objects)
		return;
	csv_text(top_object(p->t, row), p->out);
	fputc(',', p->out);
}

static void print_csv_calls(const struct top_printing *p, const char *relation,
			    const struct sorted_calls *s, uint32_t row)
{
	uint32_t shown = top_calls_shown(p, s, row);

	for (uint32_t i = 0; i < shown; i++) {
		uint32_t call = s->order[s->first[row] + i];
		csv_text(s->t->row[row].name, p->out);
		fprintf(p->out, ",%s,,,%" PRId64 ",%.6f,", relation, s->t->call[call].value,
			top_share_of_call(s, row, call));
		fputs(p->bars ? ",,,,,," : "", p->out);
		for (size_t k = 0; k < p->view->ratios; k++)
			fputs(",,,", p->out);
		print_csv_object(p, top_other_end(s, call));
		csv_text(top_name_at_other_end(s, call), p->out);
		fputs("\r\n", p->out);
	}
}

/* The three fields of a ratio. */
static void print_csv_ratio_head(const struct ratio_column *c, FILE *out)
{
	static const char *const end[] = { "", "_low", "_high" };
	char name[512];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%.500s%s", c->name, end[i]);
		csv_text(name, out);
		fputc(',', out);
	}
}

void top_csv_head(struct top_printing *p)
{
	const struct top_how *how = &p->t->how;

	fprintf(p->out, "%sflat,flat_share,%s,%s", how->calls ? "of,relation," : "",
		how->calls ? "value,share" : "cum,cum_share",
		p->bars ? "flat_low,flat_high,flat_mark,cum_low,cum_high,cum_mark," : "");
	for (size_t i = 0; i < p->view->ratios; i++)
		print_csv_ratio_head(&p->view->ratio[i], p->out);
	fprintf(p->out, "%sname\r\n", how->objects ? "object," : "");
}

void top_csv_row(struct top_printing *p, uint32_t row, bool is_first)
{
	const struct top_row *r = &p->t->row[row];

	(void)is_first;
	if (p->t->how.calls) {
		print_csv_calls(p, "caller", &p->callers, row);
		csv_text(r->name, p->out);
		fputs(",self,", p->out);
	}
	fprintf(p->out, "%" PRId64 ",%.6f,%" PRId64 ",%.6f,", r->flat,
		top_share(p, row, BARS_FLAT), r->cumulative, top_share(p, row, BARS_CUMULATIVE));
	for (int kind = 0; p->bars && kind < BARS_KINDS; kind++)
		bars_print_csv(p->bars, &p->bars->row[row].bar[kind], p->view->bars, p->out);
	for (size_t i = 0; i < p->view->ratios; i++) {
		struct ratio ratio = top_ratio_in(p, row, i);
		ratios_print_csv(&ratio, p->out);
	}
	print_csv_object(p, row);
	csv_text(r->name, p->out);
	fputs("\r\n", p->out);
	if (p->t->how.calls)
		print_csv_calls(p, "callee", &p->callees, row);
}
