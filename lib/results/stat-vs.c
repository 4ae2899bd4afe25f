/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of pmu-stat --vs. */
#include "results/stat-vs.h"
#include "base/arena.h"
#include "base/text.h"
#include "counting/outlying-runs.h"
#include "record/words.h"
#include "results/stat-internal.h"
#include "show/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum vs_column { BASE, NEW, CHANGE, INTERVAL, CALLED, COLUMNS };

enum { CELL = VALUE_SIZE + 32 };

/* A row as text. */
struct vs_cells {
	char text[COLUMNS][CELL];
};

/* Return how many digits after the point tell apart what an interval of HALF per cent can. */
static int digits_for(double half)
{
	return half >= 10 ? 0 : half >= 1 ? 1 : half >= 0.1 ? 2 : half >= 0.01 ? 3 : 4;
}

static void format_change(struct vs_cells *c, const struct comparison_row *row)
{
	double half = 50 * (row->high - row->low);
	int digits = digits_for(half);

	if (!row->is_tested || !isfinite(row->change))
		return;
	if (row->change == 0)
		snprintf(c->text[CHANGE], CELL, "0 %%");
	else
		snprintf(c->text[CHANGE], CELL, "%+.*f %%", row->is_exact ? 4 : digits,
			 100 * row->change);
	if (row->is_exact)
		snprintf(c->text[INTERVAL], CELL, "exactly");
	else
		snprintf(c->text[INTERVAL], CELL, "[%+.*f, %+.*f]", digits, 100 * row->low, digits,
			 100 * row->high);
}

static void format_called(struct vs_cells *c, const struct comparison_row *row)
{
	const char *called = row->is_called ? "yes" : "no";

	if (row->is_tested)
		snprintf(c->text[CALLED], CELL, "%s%s", called,
			 row->ranks != RANKS_DISAGREE ? ""
			 : row->is_called ? " (ranks: no)" : " (ranks: yes)");
}

/* Write the mean of ROW to TEXT, marked if it is scaled. */
static void format_mean(char text[CELL], const struct counting_row *row)
{
	bool is_marked = row->is_scaled && !isnan(row->mean);

	*text = '~';
	stat_format_value(text + is_marked, CELL - is_marked, row->mean, row->unit);
}

static void format_row(struct vs_cells *c, const struct comparison_row *row)
{
	for (int column = CHANGE; column < COLUMNS; column++)
		snprintf(c->text[column], CELL, "-");
	format_mean(c->text[BASE], row->base);
	format_mean(c->text[NEW], row->after);
	format_change(c, row);
	format_called(c, row);
}

static void print_table(const struct comparison *c, const char *per, FILE *out)
{
	static const char *const titles[COLUMNS] = {
		[BASE] = "base", [NEW] = "new", [CHANGE] = "change",
		[INTERVAL] = "95 % interval", [CALLED] = "more than chance",
	};
	struct vs_cells *cells = mem_zeroed(c->rows + 1, sizeof(*cells));
	size_t width[COLUMNS] = { 0 };

	for (int column = 0; column < COLUMNS; column++)
		snprintf(cells[0].text[column], CELL, "%s", titles[column]);
	for (size_t i = 0; i < c->rows; i++)
		format_row(&cells[i + 1], &c->row[i]);
	for (size_t i = 0; i <= c->rows; i++)
		for (int column = 0; column < COLUMNS; column++)
			if (strlen(cells[i].text[column]) > width[column])
				width[column] = strlen(cells[i].text[column]);
	for (size_t i = 0; i <= c->rows; i++) {
		for (int column = 0; column < COLUMNS; column++)
			fprintf(out, "%*s  ", column == CALLED ? -(int)width[column]
							       : (int)width[column],
				cells[i].text[column]);
		fputs(i ? c->row[i - 1].after->name : "event", out);
		if (i == 0 && per)
			fprintf(out, ", values per %s", per);
		fputc('\n', out);
	}
	free(cells);
}

static void print_side(const char *name, const struct stat_side *side, FILE *out)
{
	char *text = text_in_one_line(side->text);

	fprintf(out, "%s %s (%zu run%s", name, text, side->runs, side->runs == 1 ? "" : "s");
	if (side->failed)
		fprintf(out, ", %zu failed", side->failed);
	if (side->file)
		fprintf(out, ", from '%s'", side->file);
	if (side->has_shell)
		fputs("; a shell runs it, and is counted, too", out);
	fputs(")\n", out);
	free(text);
}

/* Return how many rows of VS are tested.  Set *FEW to whether the rank test has too few runs. */
static size_t count_tests(const struct stat_vs *vs, bool *few, bool *scaled)
{
	size_t tests = 0;

	*few = *scaled = false;
	for (size_t i = 0; i + 1 < vs->sides; i++)
		for (size_t k = 0; k < vs->comparison[i].rows; k++) {
			const struct comparison_row *row = &vs->comparison[i].row[k];
			tests += row->is_tested;
			*few |= row->is_tested && row->ranks == RANKS_TOO_FEW;
			*scaled |= row->base->is_scaled || row->after->is_scaled;
		}
	return tests;
}

static void print_notes(const struct stat_vs *vs, FILE *out)
{
	bool few, scaled;
	size_t tests = count_tests(vs, &few, &scaled);

	if (tests)
		fprintf(out, "more than chance: at a false discovery rate of %g %%, with %zu "
			"row%s\n", 100 * vs->fdr, tests, tests == 1 ? "" : "s");
	else
		fputs("one run says nothing about chance: make several, such as -n 10\n", out);
	if (few)
		fputs("the rank test cannot confirm a change with so few runs: make more, such as "
		      "-n 10\n", out);
	if (vs->side[0].file)
		fputs("the base was counted earlier, not in turns: a machine that was faster or "
		      "slower then looks like a change\n", out);
	if (scaled)
		fputs("~: scaled, because the event was not counted all the time\n", out);
}

/* Print the outliers of SIDE, a line for each run that has some. */
static void print_outliers(const struct stat_side *side, const char *name, bool *any, FILE *out)
{
	enum { LINES = 10 };
	struct outlying_value *found;
	size_t count = outlying_runs_find(side->rows, &found), lines = 0;
	char value[CELL], median[CELL];

	for (size_t i = 0; i < count; i++) {
		const struct outlying_value *o = &found[i];
		bool starts = i == 0 || found[i - 1].run != o->run;
		lines += starts;
		if (lines > LINES)
			continue;
		if (!*any)
			fputs("outliers, which count as all other runs do:", out);
		*any = true;
		stat_format_value(value, sizeof(value), o->value, o->row->unit);
		stat_format_value(median, sizeof(median), o->median, o->row->unit);
		if (starts)
			fprintf(out, "\n  run %zu of %s:", o->run + 1, name);
		fprintf(out, "%s %s %s (median %s)", starts ? "" : ",", o->row->name, value,
			median);
	}
	if (lines > LINES)
		fprintf(out, "\n  and %zu more runs of %s", lines - LINES, name);
	free(found);
}

/* Write what side INDEX is called to NAME. */
static const char *name_side(const struct stat_vs *vs, size_t index, char name[CELL])
{
	if (index == 0 || vs->sides == 2)
		snprintf(name, CELL, "%s", index ? "new" : "base");
	else
		snprintf(name, CELL, "new %zu", index);
	return name;
}

void stat_vs_print_text(const struct stat_vs *vs)
{
	FILE *out = stdout;
	char name[CELL], titled[CELL + 2];
	bool any = false;

	for (size_t i = 0; i < vs->sides; i++) {
		snprintf(titled, sizeof(titled), "%s:", name_side(vs, i, name));
		print_side(titled, &vs->side[i], out);
		if (i)
			print_table(&vs->comparison[i - 1], vs->per, out);
	}
	print_notes(vs, out);
	for (size_t i = 0; i < vs->sides; i++)
		print_outliers(&vs->side[i], name_side(vs, i, name), &any, out);
	if (any)
		fputc('\n', out);
}
