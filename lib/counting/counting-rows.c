/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/counting-rows.h"
#include "base/arena.h"
#include "record/words.h"
#include "stats/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct counting_row *counting_rows_add(struct counting_rows *rows, enum counting_kind kind,
				       const char *name, const char *unit)
{
	rows->row = array_grow(rows->row, rows->count, sizeof(*rows->row));
	struct counting_row *row = &rows->row[rows->count++];
	*row = (struct counting_row){ .name = mem_text(name), .unit = mem_text(unit), .kind = kind,
				      .value = mem_zeroed(rows->runs, sizeof(*row->value)),
				      .running = 1 };
	for (size_t i = 0; i < rows->runs; i++)
		row->value[i] = NAN;
	return row;
}

double counting_row_step(const struct counting_row *row)
{
	bool is_whole = !strcmp(row->unit, UNIT_COUNT) || !strcmp(row->unit, UNIT_TIME);

	return is_whole ? 1 / (row->divisor > 0 ? row->divisor : 1) : 0;
}

void counting_row_complete(struct counting_row *row, size_t runs)
{
	row->runs = 0;
	row->mean = row->min = row->max = row->interval = NAN;
	double sum = 0, squares = 0;

	for (size_t i = 0; i < runs; i++) {
		double value = row->value[i];
		if (isnan(value))
			continue;
		row->min = row->runs ? fmin(row->min, value) : value;
		row->max = row->runs ? fmax(row->max, value) : value;
		sum += value;
		row->runs++;
	}
	if (row->runs)
		row->mean = sum / (double)row->runs;
	for (size_t i = 0; i < runs; i++)
		if (!isnan(row->value[i]))
			squares += (row->value[i] - row->mean) * (row->value[i] - row->mean);
	double n = (double)row->runs, step = counting_row_step(row);
	double variance = fmax(squares / (n - 1), step * step / 12);
	if (row->runs > 1)
		row->interval = stats_t_quantile(0.025, n - 1) * sqrt(variance / n);
}

/* Set ROW to what event E of a unit counted in the runs: it is value number AT of each run. */
static void set_event(struct counting_row *row, const struct event *event, size_t at,
		      const struct counting_run *run, size_t runs)
{
	double enabled = 0, running = 0;

	for (size_t i = 0; i < runs; i++) {
		if (at >= run[i].units * run[i].events)
			continue;
		const struct counting_value *v = &run[i].value[at];
		row->value[i] = counting_scaled(v) * event->scale;
		row->is_scaled |= counting_is_scaled(v);
		enabled += (double)v->enabled;
		running += (double)v->running;
	}
	row->running = enabled > 0 ? running / enabled : 1;
	counting_row_complete(row, runs);
}

void counting_rows_add_events(struct counting_rows *rows, const struct event_list *events,
			      const struct counting_run *run, size_t runs)
{
	rows->runs = runs;
	for (size_t unit = 0; unit < (runs ? run->units : 1); unit++) {
		if (runs && run->unit && !*run->unit[unit])
			continue;
		for (size_t e = 0; e < events->count; e++) {
			const struct event *event = &events->event[e];
			struct counting_row *row = counting_rows_add(rows, COUNTING_EVENT,
								     event->name, event->unit);
			row->of = runs && run->unit ? mem_text(run->unit[unit]) : NULL;
			set_event(row, event, unit * events->count + e, run, runs);
		}
	}
}

void counting_rows_add_times(struct counting_rows *rows, const struct counting_run *run,
			     size_t runs, bool is_command)
{
	static const char *const names[] = { COUNTING_WALL_TIME, "user-time", "system-time" };

	rows->runs = runs;
	for (size_t k = 0; k < (is_command ? 3 : 1); k++) {
		struct counting_row *row = counting_rows_add(rows, COUNTING_TIME, names[k],
							     UNIT_TIME);
		for (size_t i = 0; i < runs; i++)
			row->value[i] = (double)(k == 0 ? run[i].wall : k == 1 ? run[i].user
						 : run[i].system);
		counting_row_complete(row, runs);
	}
}

void counting_rows_divide(struct counting_rows *rows, double n)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct counting_row *row = &rows->row[i];
		row->divisor = n;
		for (size_t k = 0; k < rows->runs && row->kind != COUNTING_DERIVED; k++)
			row->value[k] /= n;
		counting_row_complete(row, rows->runs);
	}
}

const struct counting_row *counting_rows_find(const struct counting_rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!strcmp(rows->row[i].name, name))
			return &rows->row[i];
	return NULL;
}

const struct counting_row *counting_rows_similar(const struct counting_rows *rows,
						 const char *name)
{
	const struct counting_row *found = counting_rows_find(rows, name);
	size_t length = strlen(name), similar = 0;

	for (size_t i = 0; !found && i < rows->count; i++)
		similar += !strncmp(rows->row[i].name, name, length) &&
			   rows->row[i].name[length] == ':';
	for (size_t i = 0; similar == 1 && !found; i++)
		if (!strncmp(rows->row[i].name, name, length) &&
		    rows->row[i].name[length] == ':')
			found = &rows->row[i];
	return found;
}

void counting_rows_release(struct counting_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->row[i].of);
		free(rows->row[i].name);
		free(rows->row[i].unit);
		free(rows->row[i].value);
	}
	free(rows->row);
	*rows = (struct counting_rows){ .row = NULL };
}
