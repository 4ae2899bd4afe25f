/* SPDX-License-Identifier: Apache-2.0 */
#include "show/internal.h"

void ratios_print(const struct ratio *r, FILE *out)
{
	char text[80];

	if (r->is_known && r->is_exact)
		snprintf(text, sizeof(text), "%.3g", r->value);
	else if (r->is_known)
		snprintf(text, sizeof(text), "%.3g [%.3g, %.3g]", r->value, r->low, r->high);
	else
		snprintf(text, sizeof(text), "-");
	fprintf(out, " %-*s", RATIO_COLUMNS - 1, text);
}

void ratios_print_foot(const struct ratio_column *c, FILE *out)
{
	fprintf(out, "%s of all:", c->name);
	ratios_print(&c->total, out);
	if (c->of[0])
		fprintf(out, " of %s/%s", c->of[0], c->of[1]);
	fputc('\n', out);
	if (c->is_group && c->total.is_exact && c->bars[1].spans < 5)
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
