/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-top - show the most expensive functions of a profile.
 *
 * Reads a pprof profile from FILE or stdin, and writes a table to stdout: a
 * line per function, with what it costs itself (flat) and with what it calls
 * (cum).
 */
#include "base/command.h"
#include "show/top.h"

#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool by_cumulative;
static uint64_t rows = 20;
static const char *type;

static const struct command_option options[] = {
	{ 0, "cum", NULL, "sort by cumulative cost: functions with all that they call",
	  .flag = &by_cumulative },
	{ 'n', "rows", "COUNT", "show COUNT functions", .count = &rows },
	{ 't', "type", "TYPE", "show this sample type, such as samples", .text = &type },
	{ 0, "sample-index", "TYPE", "the same, as go tool pprof calls it", .text = &type },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-top",
	.purpose = "show the most expensive functions of a profile",
	.operands = "[FILE]",
	.options = options,
	.reads_files = true,
};

/* The index of the sample type asked for: TYPE by name, or the profile's default, or the last. */
static size_t choose_type(const struct decoded *d)
{
	for (size_t i = 0; i < d->types; i++)
		if (type ? !strcmp(decoded_string(d, d->type[i].type), type)
			      : d->default_type && d->type[i].type == d->default_type)
			return i;
	if (type) {
		fprintf(stderr, "pmu-top: the profile has these sample types:");
		for (size_t i = 0; i < d->types; i++)
			fprintf(stderr, " %s", decoded_string(d, d->type[i].type));
		fputc('\n', stderr);
		command_misused(&command, "the profile has no sample type '%s'", type);
	}
	return d->types - 1;
}

/* A value in its unit, as people read it, in 8 columns. */
static void print_value(int64_t value, const char *unit)
{
	bool is_time = !strcmp(unit, "nanoseconds");
	double v = (double)value, size = v < 0 ? -v : v;

	if (is_time && size >= 1e9)
		printf("%7.2fs", v / 1e9);
	else if (is_time)
		printf("%6.1fms", v / 1e6);
	else if (size >= 1e10)
		printf("%7.2fG", v / 1e9);
	else if (size >= 1e7)
		printf("%7.2fM", v / 1e6);
	else
		printf("%8" PRId64, value);
}

/* How many columns names may take: those that a terminal has left; 0: all that they need. */
static size_t columns_for_names(void)
{
	enum { BEFORE_NAME = 36, LEAST = 20 };
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ||
	    size.ws_col == 0)
		return 0;
	return size.ws_col > BEFORE_NAME + LEAST ? size.ws_col - BEFORE_NAME : LEAST;
}

/* Shorten a name that is too long in its middle: functions differ at both ends. */
static void print_name(const char *name, size_t columns)
{
	size_t length = strlen(name), head = columns > 3 ? (columns - 3) / 2 : 0;

	if (columns == 0 || length <= columns)
		printf("%s\n", name);
	else
		printf("%.*s...%s\n", (int)head, name, name + length - (columns - 3 - head));
}

/* The first row shown whose object has no names; NULL: each has, or nobody knows the object. */
static const struct top_row *nameless_row(const struct top *top)
{
	for (size_t i = 0; i < top->rows && i < rows; i++)
		if (top->row[i].addresses > 0 && strncmp(top->row[i].name, "[unknown", 8))
			return &top->row[i];
	return NULL;
}

/* What to do where the table says less than it could. */
static void advise(const struct decoded *d, const struct top *top, struct report *report)
{
	const struct top_row *nameless = nameless_row(top);

	if (d->samples == 0)
		report_note(report, "the profile has no samples: what was profiled did nothing "
			    "that the event counts, or ended too soon, or no sample was selected");
	else if (!top->has_functions)
		report_note(report, "the profile has addresses only: put pmu-symbolize before "
			    "pmu-topprof");
	else if (nameless && !strncmp(nameless->name, "[anon: ", 7))
		report_note(report, "%s have no names: the program made this code while it ran; "
			    "pmu-symbolize says what its compiler needs", nameless->name);
	else if (nameless)
		report_note(report, "%s have no names: install the debug package of that file; "
			    "pmu-symbolize -v says what was missing", nameless->name);
}

static void print_table(const struct decoded *d, size_t index, struct report *report)
{
	const char *unit = decoded_string(d, d->type[index].unit);
	struct top top = top_of(d, index, by_cumulative);
	double percent = top.whole ? 100 / (double)top.whole : 0;
	size_t columns = columns_for_names();

	printf("%s (%s): ", decoded_string(d, d->type[index].type), unit);
	print_value(top.total, unit);
	if (top.is_difference)
		printf(", %+.2f%% of the base,", percent * (double)top.total);
	printf(" in %zu functions\n    flat   flat%%      cum    cum%%\n", top.rows);
	for (size_t i = 0; i < top.rows && i < rows; i++) {
		const struct top_row *row = &top.row[i];
		print_value(row->flat, unit);
		printf(" %6.2f%% ", percent * (double)row->flat);
		print_value(row->cumulative, unit);
		printf(" %6.2f%%  ", percent * (double)row->cumulative);
		print_name(row->name, columns);
	}
	fflush(stdout);
	advise(d, &top, report);
	top_release(&top);
}

int main(int argc, char **argv)
{
	struct report report;

	command_begin(&command, &report, argc, argv);
	const char *input = command_input(&command);
	command_spare_inputs(&command, NULL, &input, 1);
	command_on_signals(SIGNALS_END_BUT_ONE);
	struct decoded *d = decoded_read(input, command_input_ended, &report);
	if (d)
		print_table(d, choose_type(d), &report);
	decoded_free(d);
	return command_end(&report);
}
