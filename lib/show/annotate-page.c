/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of an annotation: tables, without a script.  A policy in the page forbids all scripts
 * and requests, and all styles but its own.
 */
#include "base/text.h"
#include "show/annotate-print.h"
#include "show/internal.h"
#include "show/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { HEATS = 9 };		/* colours of rows, from 1 on; see annotate.css */

struct annotate_page {
	struct annotate *a;
	const struct annotate_view *view;
	FILE *out;
	struct bars_left left;
};

/* Print TEXT, which is safe for a terminal, as text of HTML. */
static void print_markup(const char *text, FILE *out)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
}

static void print_cost(struct annotate_page *p, uint32_t row, enum bars_of kind)
{
	const struct annotate *a = p->a;

	if (row == 0 || a->row[row].value[kind] == 0) {
		fputs(a->has_bars ? "<td><td><td>" : "<td><td>", p->out);
		return;
	}
	fputs("<td>", p->out);
	value_print((double)a->row[row].value[kind], p->view->unit, p->out);
	fprintf(p->out, "<td>%.2f%%", 100 * annotate_share(a, row, kind));
	if (!a->has_bars)
		return;
	const struct share_bar *bar = &a->bars.row[row].bar[kind];
	fputs("<td>", p->out);
	bars_print_half(&a->bars, bar, p->view->bars, p->out);
	p->left.any_mark |= bars_marks(bar, p->view->bars);
}

/* Return the colour of ROW, by the logarithm of its share in the program. */
static int heat_of(const struct annotate *a, uint32_t row)
{
	double share = row ? fabs(annotate_share(a, row, BARS_FLAT)) : 0;
	int heat = share > 0 ? HEATS + (int)lround(2.5 * log10(share)) : 0;

	return heat < 1 ? share > 0 : heat > HEATS ? HEATS : heat;
}

static void print_costs(struct annotate_page *p, uint32_t row, const char *class)
{
	fprintf(p->out, "<tr class=\"%s h%d\">", class, heat_of(p->a, row));
	print_cost(p, row, BARS_FLAT);
	print_cost(p, row, BARS_CUMULATIVE);
	for (size_t i = 0; i < p->view->ratios; i++) {
		fputs("<td>", p->out);
		if (row) {
			struct ratio r = ratios_of_row(&p->view->ratio[i], row, BARS_FLAT);
			ratios_print(&p->view->ratio[i], &r, p->out);
		}
	}
}

static void print_titles(struct annotate_page *p)
{
	const char *half = p->a->has_bars ? "<th>+/-" : "";

	fprintf(p->out, "<tr><th>flat<th>flat%%%s<th>cum<th>cum%%%s", half, half);
	for (size_t i = 0; i < p->view->ratios; i++) {
		fputs("<th>", p->out);
		print_markup(p->view->ratio[i].name, p->out);
	}
	fputs("<th><th>\n", p->out);
}

static void print_function(void *context, const struct annotate_function *f)
{
	struct annotate_page *p = context;

	fputs("<h2>", p->out);
	print_markup(*f->name ? f->name : "?", p->out);
	fputs("</h2>\n<table>", p->out);
	print_titles(p);
	print_costs(p, f->row, "all");
	fputs("<td><td>all of it\n</table>\n", p->out);
}

static void print_begin(void *context, const char *file, bool is_code)
{
	struct annotate_page *p = context;

	fprintf(p->out, "<h3>%s ", is_code ? "in" : "from");
	print_markup(file, p->out);
	fputs("</h3>\n<table>", p->out);
	print_titles(p);
}

static void print_line(void *context, const struct annotate_line *l)
{
	struct annotate_page *p = context;

	print_costs(p, l->row, l->is_code ? l->is_hot ? "code hot" : "code"
			       : l->file ? "of" : l->is_hot ? "source hot" : "source");
	if (l->is_code)
		fprintf(p->out, "<td>%" PRIx64, l->number);
	else if (l->number)
		fprintf(p->out, "<td>%" PRId64, (int64_t)l->number);
	else
		fputs("<td>?", p->out);
	fputs("<td>", p->out);
	if (l->file) {
		fputs("<i>", p->out);
		print_markup(l->file, p->out);
		fputs("</i> ", p->out);
	}
	print_markup(l->text, p->out);
	fputc('\n', p->out);
}

static void print_gap(void *context)
{
	struct annotate_page *p = context;

	fprintf(p->out, "<tr class=\"gap\"><td colspan=\"%zu\">...\n",
		(p->a->has_bars ? 8 : 6) + p->view->ratios);
}

static void print_note(void *context, const char *text)
{
	struct annotate_page *p = context;

	fprintf(p->out, "<tr class=\"note\"><td colspan=\"%zu\">",
		(p->a->has_bars ? 8 : 6) + p->view->ratios);
	print_markup(text, p->out);
	fputc('\n', p->out);
}

static void print_end(void *context)
{
	const struct annotate_page *p = context;

	fputs("</table>\n", p->out);
}

static void print_head(const struct annotate_page *p)
{
	fprintf(p->out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
		annotate_style.hash);
	fprintf(p->out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		"<meta name=\"generator\" content=\"%s\">"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<link rel=\"icon\" href=\"data:,\"><title>", p->view->tool);
	print_markup(p->view->title, p->out);
	fputs("</title>\n<style>", p->out);
	fwrite(annotate_style.text, 1, annotate_style.size, p->out);
	fputs("</style></head>\n<body><h1>", p->out);
	print_markup(p->view->title, p->out);
	fputs("</h1>\n<p>", p->out);
	print_markup(p->view->type, p->out);
	fputs(" (", p->out);
	print_markup(p->view->unit, p->out);
	fputs("): ", p->out);
	value_print((double)p->a->total, p->view->unit, p->out);
	fprintf(p->out, " in all; %" PRIu32 " of %" PRIu32 " functions that match.\n",
		p->a->functions, p->a->matches);
	if (p->a->has_bars)
		bars_print_head(&p->a->bars, p->out);
	fputs("</p>\n", p->out);
}

/* Print what comes after the tables, such as the names of the ratios. */
static void print_foot(struct annotate_page *p)
{
	char *text = NULL;
	size_t size = 0;
	FILE *foot = open_memstream(&text, &size);

	if (foot && p->a->has_bars)
		bars_print_foot(&p->a->bars, &p->left, "row", foot);
	for (size_t i = 0; foot && i < p->view->ratios; i++)
		ratios_print_foot(&p->view->ratio[i], foot);
	fputs("<pre>", p->out);
	if (foot && fclose(foot) == 0)
		print_markup(text, p->out);
	free(text);
	fputs("</pre></body></html>\n", p->out);
}

void annotate_print_page(struct annotate *a, const struct annotate_view *view, FILE *out)
{
	struct annotate_page p = { .a = a, .view = view, .out = out };
	const struct annotate_sink sink = {
		.context = &p, .function = print_function, .begin = print_begin,
		.line = print_line, .gap = print_gap, .note = print_note, .end = print_end };

	print_head(&p);
	annotate_show(a, &sink);
	print_foot(&p);
}
