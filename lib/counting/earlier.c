/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/earlier.h"
#include "base/arena.h"
#include "base/json-reader.h"
#include "base/regular.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	LARGEST = 16 << 20,		/* bytes of a file */
	MOST_ROWS = 10000, MOST_RUNS = 100000,
	LONGEST_NAME = 1000, LONGEST_NUMBER = 64, LONGEST_KEY = 32,
};

/* Stop: what was read last is wrong, because of WHY.  Return false. */
static bool refuse(struct json_reader *r, const char *why)
{
	if (!r->why)
		r->why = why;
	return false;
}

/* Read a text that is shown, to TEXT; what does not fit is cut. */
static void read_shown(struct json_reader *r, char *text, size_t size)
{
	if (json_peek(r) != '"')
		refuse(r, "not a text");
	else if (json_read_text(r, text, size))
		text_make_safe(text);
}

/* Read the name or unit of a row, to be freed. */
static char *read_name(struct json_reader *r)
{
	char text[LONGEST_NAME];

	*text = '\0';
	read_shown(r, text, sizeof(text));
	if (strlen(text) + 1 == sizeof(text))
		refuse(r, "a name that is too long");
	return mem_text(text);
}

/* Read a number, or null: NAN. */
static double read_number(struct json_reader *r)
{
	char text[LONGEST_NUMBER], *end, first = json_peek(r);

	if (first != 'n' && first != '-' && (first < '0' || first > '9'))
		return refuse(r, "not a number");
	if (!json_read_text(r, text, sizeof(text)) || first == 'n')
		return NAN;
	double number = strtod(text, &end);
	if (*end || strlen(text) + 1 == sizeof(text) || !(fabs(number) < 1e300))
		refuse(r, "a number that is too large or too long");
	return number;
}

static uint64_t read_count(struct json_reader *r)
{
	double number = read_number(r);

	if (!r->why && !(number >= 0 && number <= MOST_RUNS && number == floor(number)))
		refuse(r, "not a number of runs");
	return r->why ? 0 : (uint64_t)number;
}

/* Read the values of ROW.  Return how many there are. */
static size_t read_values(struct json_reader *r, struct counting_row *row)
{
	size_t count = 0;

	for (bool more = json_enter(r, '['); more && json_next(r, ']'); count++) {
		if (count == MOST_RUNS)
			return refuse(r, "too many values");
		row->value = array_grow(row->value, count, sizeof(*row->value));
		row->value[count] = read_number(r);
	}
	return count;
}

static enum counting_kind read_kind(struct json_reader *r)
{
	char text[LONGEST_KEY];

	*text = '\0';
	read_shown(r, text, sizeof(text));
	if (strcmp(text, "event") && strcmp(text, "time") && strcmp(text, "derived"))
		refuse(r, "a row that is not an event, a time or derived");
	return *text == 'e' ? COUNTING_EVENT : *text == 't' ? COUNTING_TIME : COUNTING_DERIVED;
}

static bool read_flag(struct json_reader *r)
{
	char first = json_peek(r);

	if (first != 't' && first != 'f')
		return refuse(r, "not true or false");
	return json_skip(r) && first == 't';
}

/* Read the members of ROW.  Set *VALUES to the number of its values. */
static void read_members(struct json_reader *r, struct counting_row *row, size_t *values)
{
	char key[LONGEST_KEY];

	for (bool more = json_enter(r, '{'); more && json_next(r, '}');) {
		if (!json_read_key(r, key, sizeof(key)))
			return;
		if (!strcmp(key, "name") && !row->name)
			row->name = read_name(r);
		else if (!strcmp(key, "unit") && !row->unit)
			row->unit = read_name(r);
		else if (!strcmp(key, "kind"))
			row->kind = read_kind(r);
		else if (!strcmp(key, "scaled"))
			row->is_scaled = read_flag(r);
		else if (!strcmp(key, "running"))
			row->running = read_number(r);
		else if (!strcmp(key, "values") && !row->value)
			*values = read_values(r, row);
		else
			json_skip(r);
	}
}

/* Add the row that follows to ROWS. */
static void read_row(struct json_reader *r, struct counting_rows *rows)
{
	struct counting_row row = { .running = 1 };
	size_t values = 0;

	read_members(r, &row, &values);
	if (!r->why && (!row.name || !row.unit || !row.value))
		refuse(r, "a row without a name, a unit or values");
	else if (!r->why && rows->count && values != rows->runs)
		refuse(r, "a row with more or fewer values than the row before it");
	else if (!r->why && counting_rows_find(rows, row.name))
		refuse(r, "a second row with the same name");
	else if (!r->why && rows->count == MOST_ROWS)
		refuse(r, "too many rows");
	if (r->why) {
		free(row.name);
		free(row.unit);
		free(row.value);
		return;
	}
	rows->runs = values;
	counting_row_complete(&row, values);
	rows->row = array_grow(rows->row, rows->count, sizeof(*rows->row));
	rows->row[rows->count++] = row;
}

static void read_machine(struct json_reader *r, struct counting_machine *m)
{
	char key[LONGEST_KEY];

	for (bool more = json_enter(r, '{'); more && json_next(r, '}');) {
		if (!json_read_key(r, key, sizeof(key)))
			return;
		if (!strcmp(key, "name"))
			read_shown(r, m->name, sizeof(m->name));
		else if (!strcmp(key, "kernel"))
			read_shown(r, m->kernel, sizeof(m->kernel));
		else if (!strcmp(key, "cpu"))
			read_shown(r, m->cpu, sizeof(m->cpu));
		else
			json_skip(r);
	}
}

/* Read the unit of "per" to UNIT. */
static void read_per(struct json_reader *r, char *unit, size_t size)
{
	char key[LONGEST_KEY];

	for (bool more = json_enter(r, '{'); more && json_next(r, '}');) {
		if (!json_read_key(r, key, sizeof(key)))
			return;
		if (!strcmp(key, "unit"))
			read_shown(r, unit, size);
		else
			json_skip(r);
	}
}

/* Read a command, a text or an array of words, to TEXT. */
static void read_words(struct json_reader *r, char *text, size_t size)
{
	size_t used = 0;

	if (json_peek(r) != '[') {
		read_shown(r, text, size);
		return;
	}
	*text = '\0';
	for (bool more = json_enter(r, '['); more && json_next(r, ']'); used = strlen(text)) {
		if (used && used + 2 < size)
			text[used++] = ' ';
		read_shown(r, text + used, size - used);
	}
}

/* Read what was counted of one command.  INSIDE: it is an element of "commands". */
static void read_command(struct json_reader *r, struct earlier *e, bool inside)
{
	char key[LONGEST_KEY];

	for (bool more = json_enter(r, '{'); more && json_next(r, '}');) {
		if (!json_read_key(r, key, sizeof(key)))
			return;
		if (!strcmp(key, "command")) {
			read_words(r, e->command, sizeof(e->command));
		} else if (!strcmp(key, "runs")) {
			e->runs = read_count(r);
		} else if (!strcmp(key, "failed")) {
			e->failed = read_count(r);
		} else if (!strcmp(key, "target") && !inside) {
			read_shown(r, e->target, sizeof(e->target));
		} else if (!strcmp(key, "stopped")) {
			e->stopped = read_count(r);
		} else if (!strcmp(key, "machine") && !inside) {
			read_machine(r, &e->machine);
		} else if (!strcmp(key, "per") && !inside) {
			read_per(r, e->per, sizeof(e->per));
		} else if (!strcmp(key, "rows")) {
			counting_rows_release(&e->rows);
			for (bool rows = json_enter(r, '['); rows && json_next(r, ']');)
				read_row(r, &e->rows);
		} else if (!strcmp(key, "commands") && !inside) {
			for (bool next = json_enter(r, '['); next && json_next(r, ']');)
				read_command(r, e, true);
		} else {
			json_skip(r);
		}
	}
}

bool earlier_parse(struct earlier *e, const char *file, const char *text, size_t size,
		   struct report *report)
{
	struct json_reader r = { .at = text, .end = text + size };

	*e = (struct earlier){ .runs = 0 };
	if (size == 0) {
		report_error(report, "'%s' is empty", file);
		return false;
	}
	if (json_peek(&r) != '{') {
		report_error(report, "'%s' is not JSON of pmu-stat", file);
		return false;
	}
	read_command(&r, e, false);
	if (!json_ended(&r))
		report_damage(report, (struct report_place){ file, (uint64_t)(r.at - text) },
			      "not what pmu-stat wrote: %s", r.why ? r.why : "not an object");
	else if (!e->rows.count)
		report_error(report, "'%s' has no counts of pmu-stat", file);
	else if (*e->target && strcmp(e->target, "command"))
		report_error(report, "'%s' counted %s, not a command", file, e->target);
	else if (e->stopped)
		report_error(report, "'%s' has runs that were stopped before their end", file);
	else
		return true;
	return false;
}

bool earlier_read(struct earlier *e, const char *file, struct report *report)
{
	size_t size;
	char *text = regular_read(file, LARGEST, &size);

	*e = (struct earlier){ .runs = 0 };
	if (!text) {
		if (errno == ENOTSUP)
			report_error(report, "cannot read '%s': not a regular file", file);
		else
			report_failure(report, "cannot read '%s'", file);
		return false;
	}
	bool good = earlier_parse(e, file, text, size, report);
	free(text);
	return good;
}

void earlier_release(struct earlier *e)
{
	counting_rows_release(&e->rows);
}
