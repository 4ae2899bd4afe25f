/* SPDX-License-Identifier: Apache-2.0 */
#include "show/annotate-print.h"
#include "base/text.h"
#include "show/internal.h"
#include "show/value.h"

#include <inttypes.h>
#include <string.h>

enum {
	COST = 17,		/* columns of a value and its share */
	BAR = 6,		/* columns that a bar takes beyond the space that is there anyway */
	PLACE = 7,		/* columns of a line's number */
	CODE_PLACE = 12,	/* columns of an address */
};

struct annotate_text {
	struct annotate *a;
	const struct annotate_view *view;
	FILE *out;
	struct bars_left left;
};

static void print_cost(struct annotate_text *p, uint32_t row, enum bars_of kind)
{
	const struct annotate *a = p->a;

	if (row == 0 || a->row[row].value[kind] == 0) {
		fprintf(p->out, "%8s%*s", ".", COST - 8 + (a->has_bars ? BAR : 0), "");
		return;
	}
	value_print((double)a->row[row].value[kind], p->view->unit, p->out);
	fprintf(p->out, " %6.2f%%", 100 * annotate_share(a, row, kind));
	if (!a->has_bars) {
		fputc(' ', p->out);
		return;
	}
	const struct share_bar *bar = &a->bars.row[row].bar[kind];
	bars_print_half(&a->bars, bar, p->view->bars, p->out);
	p->left.any_mark |= bars_marks(bar, p->view->bars);
}

/* Print the costs of ROW, which come before the rest of its line.  ROW 0 has none. */
static void print_costs(struct annotate_text *p, uint32_t row)
{
	print_cost(p, row, BARS_FLAT);
	print_cost(p, row, BARS_CUMULATIVE);
	for (size_t i = 0; i < p->view->ratios; i++) {
		struct ratio none = { .is_known = false }, r = none;
		if (row)
			r = ratios_of_row(&p->view->ratio[i], row, BARS_FLAT);
		if (r.is_known || row)
			ratios_print(&p->view->ratio[i], &r, p->out);
		else
			fprintf(p->out, "%*s", RATIO_COLUMNS, "");
	}
}

static size_t columns_before(const struct annotate_text *p)
{
	return 2 * (COST + (p->a->has_bars ? BAR : 0)) +
	       ratios_widths(p->view->ratio, p->view->ratios);
}

/* Print TEXT at the end of a line that has USED columns. */
static void print_text(const struct annotate_text *p, const char *text, size_t used)
{
	enum { LEAST = 20 };	/* so that 80 columns are enough */
	size_t columns = p->view->columns, size = strlen(text);

	if (columns)
		size = (size_t)(text_fitting(text, size, columns > used + LEAST ? columns - used
									      : LEAST) - text);
	fprintf(p->out, "%.*s\n", (int)size, text);
}

static void print_function(void *context, const struct annotate_function *f)
{
	struct annotate_text *p = context;

	fputc('\n', p->out);
	print_costs(p, f->row);
	fprintf(p->out, " %s\n", *f->name ? f->name : "?");
}

static void print_begin(void *context, const char *file, bool is_code)
{
	struct annotate_text *p = context;

	fprintf(p->out, "%*s%*s %s\n", (int)columns_before(p), "", is_code ? CODE_PLACE : PLACE,
		is_code ? "in" : "from", file);
}

static void print_line(void *context, const struct annotate_line *l)
{
	struct annotate_text *p = context;
	char mark = l->is_hot ? '>' : ' ';

	print_costs(p, l->row);
	if (l->is_code)
		fprintf(p->out, " %c%*" PRIx64 ": ", mark, CODE_PLACE - 2, l->number);
	else if (l->file)
		fprintf(p->out, "   %s:%" PRIu64 " ", l->file, l->number);
	else if (l->number)
		fprintf(p->out, " %c%*" PRId64 ": ", mark, PLACE - 2, (int64_t)l->number);
	else
		fprintf(p->out, " %c%*s: ", mark, PLACE - 2, "?");
	print_text(p, l->text, columns_before(p) + (l->is_code ? CODE_PLACE + 2 : PLACE + 2));
}

static void print_gap(void *context)
{
	struct annotate_text *p = context;

	fprintf(p->out, "%*s%*s\n", (int)columns_before(p), "", PLACE + 1, "...");
}

static void print_note(void *context, const char *text)
{
	struct annotate_text *p = context;

	fprintf(p->out, "%*s%*s (%s)\n", (int)columns_before(p), "", PLACE, "", text);
}

static void print_end(void *context)
{
	(void)context;
}

static void print_head(struct annotate_text *p)
{
	const struct annotate *a = p->a;
	const char *half = a->has_bars ? "    +/-" : " ";

	fprintf(p->out, "%s (%s): ", p->view->type, p->view->unit);
	value_print((double)a->total, p->view->unit, p->out);
	fprintf(p->out, " in all; %" PRIu32 " of %" PRIu32 " functions that match\n",
		a->functions, a->matches);
	if (a->has_bars)
		bars_print_head(&a->bars, p->out);
	fprintf(p->out, "    flat   flat%%%s     cum    cum%%%s", half,
		a->has_bars || p->view->ratios ? half : "");
	for (size_t i = 0; i < p->view->ratios; i++)
		fprintf(p->out, " %-*.*s", RATIO_COLUMNS - 1, RATIO_COLUMNS - 1,
			p->view->ratio[i].name);
	fputc('\n', p->out);
}

void annotate_print(struct annotate *a, const struct annotate_view *view, FILE *out)
{
	struct annotate_text p = { .a = a, .view = view, .out = out };
	const struct annotate_sink sink = {
		.context = &p, .function = print_function, .begin = print_begin,
		.line = print_line, .gap = print_gap, .note = print_note, .end = print_end };

	print_head(&p);
	annotate_show(a, &sink);
	fputc('\n', out);
	if (a->has_bars)
		bars_print_foot(&a->bars, &p.left, "row", out);
	for (size_t i = 0; i < view->ratios; i++)
		ratios_print_foot(&view->ratio[i], out);
}
