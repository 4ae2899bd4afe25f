/* SPDX-License-Identifier: Apache-2.0 */
/* The intervals of pmu-stat as lines, one for each unit, or as blocks of CSV or JSON. */
#include "base/arena.h"
#include "base/sort.h"
#include "base/terminal.h"
#include "base/text.h"
#include "results/stat-internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIME_WIDTH = 10, VALUE_COLUMNS = 12 };

static int width_of(const struct event *event)
{
	int width = (int)strlen(event->name);

	return width > VALUE_COLUMNS ? width : VALUE_COLUMNS;
}

/* Return the width of the names of units; 0: there are none. */
static int unit_width(const struct counting_run *r)
{
	size_t width = 0;

	for (size_t u = 0; r->unit && u < r->units; u++)
		if (text_width(r->unit[u]) > width)
			width = text_width(r->unit[u]);
	return (int)width;
}

static void print_titles(const struct stat_lines *l, const struct counting_run *r, FILE *out)
{
	fprintf(out, "%*s", TIME_WIDTH, "time");
	if (r->unit)
		fprintf(out, "  %-*s", unit_width(r), "of");
	for (size_t e = 0; e < l->events->count; e++)
		fprintf(out, "  %*s", width_of(&l->events->event[e]), l->events->event[e].name);
	fputc('\n', out);
}

static void print_unit(const struct stat_lines *l, const struct counting_run *r, size_t unit,
		       FILE *out)
{
	char value[STAT_CELL];

	fprintf(out, "%*.3f", TIME_WIDTH, (double)(r->start + r->wall) / 1e9);
	if (r->unit)
		fprintf(out, "  %-*s", unit_width(r), r->unit[unit]);
	for (size_t e = 0; e < l->events->count; e++) {
		const struct event *event = &l->events->event[e];
		const struct counting_value *v = &r->value[unit * r->events + e];
		bool is_scaled = counting_is_scaled(v);
		*value = '~';
		stat_format_value(value + is_scaled, STAT_CELL - is_scaled,
				  counting_scaled(v) * event->scale, event->unit);
		fprintf(out, "  %*s", width_of(event), value);
	}
	fputc('\n', out);
}

static bool has_run(const struct counting_run *r, size_t unit)
{
	for (size_t e = 0; e < r->events; e++)
		if (r->value[unit * r->events + e].enabled)
			return true;
	return false;
}

/*
 * Return the units that ran in the interval, their number in *COUNT; if BY_VALUE, those first that
 * have the most of the first event.  The caller frees.
 */
static struct sort_key *units_to_print(const struct counting_run *r, bool by_value, size_t *count)
{
	struct sort_key *key = mem_zeroed(2 * r->units, sizeof(*key)), *sorted;

	*count = 0;
	for (size_t u = 0; u < r->units; u++)
		if (r->units == 1 || has_run(r, u))
			key[(*count)++] = (struct sort_key){
				by_value ? UINT64_MAX - r->value[u * r->events].count : u, u };
	sorted = sort_keys(key, key + r->units, *count);
	memmove(key, sorted, *count * sizeof(*key));
	return key;
}

static void print_block(const struct stat_lines *l, const struct counting_run *r, FILE *out)
{
	size_t count;
	struct sort_key *unit = units_to_print(r, l->is_live && l->by_value, &count);

	if (l->printed == 0 || l->is_live)
		print_titles(l, r, out);
	for (size_t i = 0; i < count; i++)
		print_unit(l, r, unit[i].item, out);
	free(unit);
}

void stat_erase_lines(struct stat_lines *l)
{
	if (l->is_live && l->printed)
		printf("\033[%zuA\033[J", l->printed);
	l->printed = 0;
}

/* Draw the interval in place of the one before, as much of it as the terminal has room for. */
static void draw_again(struct stat_lines *l, const struct counting_run *r)
{
	size_t size, columns, lines, drawn = 0;
	char *text = NULL;
	FILE *block = open_memstream(&text, &size);

	if (!block)
		return;
	print_block(l, r, block);
	fclose(block);
	terminal_size(STDOUT_FILENO, &columns, &lines);
	stat_erase_lines(l);
	for (char *line = text, *end; *line && drawn + 1 < (lines ? lines : 24); line = end + 1) {
		end = strchr(line, '\n');
		size_t length = (size_t)(end - line);
		const char *fits = columns ? text_fitting(line, length, columns - 1)
					   : line + length;
		printf("%.*s\n", (int)(fits - line), line);
		drawn++;
	}
	l->printed = drawn;
	free(text);
}

bool stat_print_interval(void *lines, const struct counting_run *since)
{
	struct stat_lines *l = lines;
	struct stat_heading heading = *l->heading;
	struct counting_rows rows = { 0 };

	heading.interval = since;
	heading.runs = 1;
	if (l->format != STAT_TEXT) {
		counting_rows_add_events(&rows, l->events, since, 1);
		stat_print(l->format, &rows, &heading);
		counting_rows_release(&rows);
	} else if (l->is_live) {
		draw_again(l, since);
	} else {
		print_block(l, since, stdout);
		l->printed++;
	}
	return fflush(stdout) == 0;
}
