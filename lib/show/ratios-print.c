/* SPDX-License-Identifier: Apache-2.0 */
#include "show/internal.h"

#include <math.h>

enum { SHARE_COLUMNS = 16 };

int ratios_width(const struct ratio_column *c)
{
	return c->topdown ? SHARE_COLUMNS : RATIO_COLUMNS;
}

size_t ratios_widths(const struct ratio_column *c, size_t count)
{
	size_t width = 0;

	for (size_t i = 0; i < count; i++)
		width += (size_t)ratios_width(&c[i]);
	return width;
}

void ratios_print(const struct ratio_column *c, const struct ratio *r, FILE *out)
{
	char text[80];
	double half = fmax(r->high - r->value, r->value - r->low);

	if (!r->is_known)
		snprintf(text, sizeof(text), "-");
	else if (c->topdown && r->is_exact)
		snprintf(text, sizeof(text), "%.1f%%", 100 * r->value);
	else if (c->topdown)
		snprintf(text, sizeof(text), "%.1f%% +/-%.1f", 100 * r->value, 100 * half);
	else if (r->is_exact)
		snprintf(text, sizeof(text), "%.3g", r->value);
	else
		snprintf(text, sizeof(text), "%.3g [%.3g, %.3g]", r->value, r->low, r->high);
	fprintf(out, " %-*s", ratios_width(c) - 1, text);
}

void ratios_print_csv(const struct ratio *r, FILE *out)
{
	if (r->is_known)
		fprintf(out, "%.9g,%.9g,%.9g,", r->value, r->low, r->high);
	else
		fputs(",,,", out);
}

/* Return how many spans of time the rows of C are divided into. */
static uint32_t spans_of(const struct ratio_column *c)
{
	const struct topdown_rows *t = c->topdown;

	return t ? t->bars[topdown_events[t->kind].first].spans : c->bars[1].spans;
}

void ratios_print_foot(const struct ratio_column *c, FILE *out)
{
	fprintf(out, "%s of all:", c->name);
	ratios_print(c, &c->total, out);
	if (c->of[0])
		fprintf(out, " of %s/%s", c->of[0], c->of[1]);
	fputc('\n', out);
	if (c->topdown && c->share + 1 < TOPDOWN_SHARES)
		return;
	if (c->is_group && c->total.is_exact && spans_of(c) < 5)
		fputs("a function's ratio of a group needs 5 spans of time or more: a longer "
		      "recording, or pmu-topprof --slices.\n", out);
	if (c->is_group)
		fputs("counted between samples: a function's ratio is mixed with what ran in the "
		      "PERIOD before its samples; right for functions that run on for many "
		      "periods.\n", out);
}

void ratios_print_json(const struct ratio *r)
{
	if (r->is_known)
		printf("{\"value\": %.9g, \"low\": %.9g, \"high\": %.9g}", r->value, r->low,
		       r->high);
	else
		printf("null");
}
