/* SPDX-License-Identifier: Apache-2.0 */
/* What pmu-stat counted, as a table. */
#include "base/arena.h"
#include "base/units.h"
#include "record/words.h"
#include "show/stat-print.h"
#include "show/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { MEAN, INTERVAL, MIN, MAX, COUNTED, COLUMNS };

static const char *const titles[COLUMNS] = {
	[MEAN] = "mean", [INTERVAL] = "+-", [MIN] = "min", [MAX] = "max", [COUNTED] = "counted",
};

/* A row as text. */
struct cells {
	char text[COLUMNS][VALUE_SIZE + 2];
};

void stat_format_value(char *text, size_t size, double value, const char *unit)
{
	char few[VALUE_SIZE], all[UNITS_SIZE];

	if (isnan(value)) {
		snprintf(text, size, "-");
	} else if (!strcmp(unit, UNIT_COUNT) && value >= 1000 && value < 1e18) {
		units_format_grouped(all, (uint64_t)llround(value));
		snprintf(text, size, "%s", all);
	} else {
		value_format(few, value, unit);
		snprintf(text, size, "%s", few);
	}
}

/* Write the interval of R, a share of its mean, to TEXT. */
static void format_interval(char *text, size_t size, const struct counting_row *r)
{
	double share = 100 * r->interval / fabs(r->mean);

	if (isnan(r->interval))
		snprintf(text, size, "-");
	else if (r->interval == 0)
		snprintf(text, size, "0 %%");
	else if (share >= 1000 || !isfinite(share))
		snprintf(text, size, ">999 %%");
	else if (share < 0.001)
		snprintf(text, size, "<0.001 %%");
	else
		snprintf(text, size, "%.*f %%", share < 0.1 ? 3 : share < 10 ? 2 : 0, share);
}

static void format_row(struct cells *c, const struct counting_row *r)
{
	char *mean = c->text[MEAN];
	size_t size = sizeof(c->text[MEAN]);
	bool is_marked = r->is_scaled && !isnan(r->mean);

	*mean = '~';
	stat_format_value(mean + is_marked, size - is_marked, r->mean, r->unit);
	format_interval(c->text[INTERVAL], size, r);
	stat_format_value(c->text[MIN], size, r->min, r->unit);
	stat_format_value(c->text[MAX], size, r->max, r->unit);
	if (r->kind == COUNTING_EVENT)
		snprintf(c->text[COUNTED], size, "%.0f %%", 100 * r->running);
}

void stat_print_text(const struct counting_rows *rows, const struct stat_heading *heading,
		     FILE *out)
{
	struct cells *cells = mem_zeroed(rows->count + 1, sizeof(*cells));
	size_t width[COLUMNS] = { 0 };

	for (int c = 0; c < COLUMNS; c++)
		snprintf(cells[0].text[c], sizeof(cells[0].text[c]), "%s", titles[c]);
	for (size_t i = 0; i < rows->count; i++)
		format_row(&cells[i + 1], &rows->row[i]);
	for (size_t i = 0; i <= rows->count; i++)
		for (int c = 0; c < COLUMNS; c++)
			if (strlen(cells[i].text[c]) > width[c])
				width[c] = strlen(cells[i].text[c]);
	fprintf(out, "%zu %s%s%s\n", heading->runs, heading->of,
		heading->per ? ", values per " : "", heading->per ? heading->per : "");
	for (size_t i = 0; i <= rows->count; i++) {
		const struct counting_row *r = i ? &rows->row[i - 1] : NULL;
		for (int c = 0; c < COLUMNS; c++)
			fprintf(out, "%*s  ", (int)width[c], cells[i].text[c]);
		bool has_unit = r && strcmp(r->unit, UNIT_COUNT) && strcmp(r->unit, UNIT_TIME);
		fprintf(out, "%s", r ? r->name : "event");
		if (has_unit)
			fprintf(out, ", %s", r->unit);
		fputc('\n', out);
	}
	free(cells);
}
