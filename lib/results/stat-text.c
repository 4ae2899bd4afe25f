/* SPDX-License-Identifier: Apache-2.0 */
/* What pmu-stat counted, as a table. */
#include "base/arena.h"
#include "base/text.h"
#include "base/units.h"
#include "record/words.h"
#include "results/stat-internal.h"
#include "show/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { MEAN, INTERVAL, MIN, MAX, COUNTED, COLUMNS };

static const char *const titles[COLUMNS] = {
	[MEAN] = "mean", [INTERVAL] = "+-", [MIN] = "min", [MAX] = "max", [COUNTED] = "counted",
};

/* A row as text. */
struct stat_cells {
	char text[COLUMNS][STAT_CELL];
};

/* Write NS, a time, to TEXT, in four digits or more; less than 1 ns in three. */
static void format_time(char *text, size_t size, double ns)
{
	static const struct { double by; const char *suffix; } scales[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" },
	};
	size_t i = 0;

	while (i < 3 && ns < scales[i].by * 0.99995)
		i++;
	double value = ns / scales[i].by;
	bool is_whole = i == 3 && value == floor(value);
	int places = value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;

	if (!is_whole && fabs(value) < 1)
		snprintf(text, size, "%.3gns", value);
	else
		snprintf(text, size, "%.*f%s", is_whole ? 0 : places, value,
			 ns == 0 ? "" : scales[i].suffix);
}

void stat_format_value(char *text, size_t size, double value, const char *unit)
{
	char few[VALUE_SIZE], all[UNITS_SIZE];

	if (isnan(value)) {
		snprintf(text, size, "-");
	} else if (!strcmp(unit, UNIT_TIME)) {
		format_time(text, size, value);
	} else if (!strcmp(unit, UNIT_COUNT) && value >= 1000 && value < 1e18) {
		units_format_grouped(all, (uint64_t)llround(value));
		snprintf(text, size, "%s", all);
	} else if (!*unit || !strcmp(unit, "%")) {	/* calculated */
		snprintf(text, size, *unit ? "%.1f" : "%.4g", value);
	} else {
		value_format(few, value, unit);
		snprintf(text, size, "%s", few);
	}
}

/* Write the interval of R, a share of its mean, to TEXT. */
static void format_interval(char text[STAT_CELL], const struct counting_row *r)
{
	double share = 100 * r->interval / fabs(r->mean);

	if (isnan(r->interval))
		snprintf(text, STAT_CELL, "-");
	else if (r->interval == 0 || (r->mean == 0 && r->min == r->max))
		snprintf(text, STAT_CELL, "equal");
	else if (share >= 1000 || !isfinite(share))
		snprintf(text, STAT_CELL, ">999 %%");
	else if (share < 0.001)
		snprintf(text, STAT_CELL, "<0.001 %%");
	else
		snprintf(text, STAT_CELL, "%.*f %%", share < 0.1 ? 3 : share < 10 ? 2 : 0, share);
}

static void format_row(struct stat_cells *c, const struct counting_row *r)
{
	bool is_marked = r->is_scaled && !isnan(r->mean);

	*c->text[MEAN] = '~';
	stat_format_value(c->text[MEAN] + is_marked, STAT_CELL - is_marked, r->mean, r->unit);
	format_interval(c->text[INTERVAL], r);
	stat_format_value(c->text[MIN], STAT_CELL, r->min, r->unit);
	stat_format_value(c->text[MAX], STAT_CELL, r->max, r->unit);
	if (r->kind == COUNTING_EVENT)
		snprintf(c->text[COUNTED], STAT_CELL, "%.0f %%", 100 * r->running);
}

/* Print what the table is about. */
static void print_heading(const struct stat_heading *h, FILE *out)
{
	char wall[STAT_CELL], *quoted = words_quoted(h->command.count, h->command.item);
	char *words = text_in_one_line(quoted);

	format_time(wall, sizeof(wall), (double)h->wall);
	if (h->target && h->runs == 1)
		fprintf(out, "%s of %s", wall, h->target);
	else if (h->target)
		fprintf(out, "%zu runs of %s", h->runs, h->target);
	else if (h->stopped && h->runs == 1)
		fprintf(out, "part of 1 run (stopped after %s) of: %s", wall, words);
	else if (h->stopped)
		fprintf(out, "%zu runs (%zu stopped before the end) of: %s", h->runs, h->stopped,
			words);
	else
		fprintf(out, "%zu run%s of: %s", h->runs, h->runs == 1 ? "" : "s", words);
	if (h->per)
		fprintf(out, ", values per %s", h->per);
	fputc('\n', out);
	free(words);
	free(quoted);
}

/* Print the name of row R; NULL: the title of the column. */
static void print_name(const struct counting_row *r, FILE *out)
{
	bool has_unit = r && strcmp(r->unit, UNIT_COUNT) && strcmp(r->unit, UNIT_TIME);

	fprintf(out, "%s", r ? r->name : "event");
	if (has_unit && *r->unit)
		fprintf(out, ", %s", r->unit);
	fputc('\n', out);
}

/* Print line I of the table: its title, or a row. */
static void print_line(const struct counting_rows *rows, const struct stat_cells *cells,
		       const size_t width[COLUMNS], size_t of_width, size_t i, FILE *out)
{
	const struct counting_row *r = i ? &rows->row[i - 1] : NULL;

	if (of_width)
		fprintf(out, "%-*s  ", (int)of_width, !r ? "" : r->of ? r->of : "all");
	for (int c = 0; c < COLUMNS; c++)
		fprintf(out, "%*s  ", (int)width[c], cells[i].text[c]);
	print_name(r, out);
}

void stat_print_text(const struct counting_rows *rows, const struct stat_heading *heading,
		     FILE *out)
{
	struct stat_cells *cells = mem_zeroed(rows->count + 1, sizeof(*cells));
	size_t width[COLUMNS] = { 0 }, of_width = 0;

	for (int c = 0; c < COLUMNS; c++)
		snprintf(cells[0].text[c], STAT_CELL, "%s", titles[c]);
	for (size_t i = 0; i < rows->count; i++) {
		const char *of = rows->row[i].of;
		if (of && strlen(of) > of_width)
			of_width = strlen(of);
		format_row(&cells[i + 1], &rows->row[i]);
	}
	for (size_t i = 0; i <= rows->count; i++)
		for (int c = 0; c < COLUMNS; c++)
			if (strlen(cells[i].text[c]) > width[c])
				width[c] = strlen(cells[i].text[c]);
	print_heading(heading, out);
	for (size_t i = 0; i <= rows->count; i++)
		print_line(rows, cells, width, of_width, i, out);
	free(cells);
}
