/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-top - show the most expensive functions of a profile.
 *
 * Reads a pprof profile from FILE or stdin, and writes a table to stdout: a
 * line per function, with what it costs itself (flat) and with what it calls
 * (cum).
 */
#include "base/command.h"
#include "profile/top.h"

#include <inttypes.h>

static bool by_cumulative;
static const char *rows_text, *type_text;

static const struct command_option options[] = {
	{ 'c', "cum", NULL, "sort by what functions cost with all they call",
	  &by_cumulative, NULL },
	{ 'n', "rows", "COUNT", "show COUNT functions (20)", &rows_text, NULL },
	{ 't', "type", "TYPE", "sum up this sample type, such as samples", &type_text, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-top",
	.purpose = "show the most expensive functions of a profile",
	.operands = "[FILE]",
	.options = options,
};

/* The index of the sample type asked for: TYPE by name, or the profile's default, or the last. */
static size_t choose_type(const Perftools__Profiles__Profile *p)
{
	for (size_t i = 0; i < p->n_sample_type; i++)
		if (type_text ? !strcmp(profile_string(p, p->sample_type[i]->type), type_text)
			      : p->default_sample_type &&
				p->sample_type[i]->type == p->default_sample_type)
			return i;
	if (type_text) {
		fprintf(stderr, "pmu-top: the profile has these sample types:");
		for (size_t i = 0; i < p->n_sample_type; i++)
			fprintf(stderr, " %s", profile_string(p, p->sample_type[i]->type));
		fputc('\n', stderr);
		command_misused(&command, "the profile has no sample type '%s'", type_text);
	}
	return p->n_sample_type - 1;
}

/* A value in its unit, as people read it, in 8 columns. */
static void print_value(int64_t value, const char *unit)
{
	bool is_time = !strcmp(unit, "nanoseconds");
	double v = (double)value;

	if (is_time && v >= 1e9)
		printf("%7.2fs", v / 1e9);
	else if (is_time)
		printf("%6.1fms", v / 1e6);
	else if (v >= 1e10)
		printf("%7.2fG", v / 1e9);
	else if (v >= 1e7)
		printf("%7.2fM", v / 1e6);
	else
		printf("%8" PRId64, value);
}

static void print_table(const Perftools__Profiles__Profile *p, size_t type, uint64_t rows)
{
	const char *unit = profile_string(p, p->sample_type[type]->unit);
	struct top top = top_of(p, type, by_cumulative);
	double percent = top.total ? 100 / (double)top.total : 0;

	printf("%s (%s): ", profile_string(p, p->sample_type[type]->type), unit);
	print_value(top.total, unit);
	printf(" in %zu functions\n    flat   flat%%      cum    cum%%\n", top.rows);
	for (size_t i = 0; i < top.rows && i < rows; i++) {
		const struct top_row *row = &top.row[i];
		print_value(row->flat, unit);
		printf(" %6.2f%% ", percent * (double)row->flat);
		print_value(row->cumulative, unit);
		printf(" %6.2f%%  %s\n", percent * (double)row->cumulative, row->name);
	}
	top_release(&top);
}

int main(int argc, char **argv)
{
	struct report report;
	uint64_t rows = 20;

	int first = command_begin(&command, &report, argc, argv);
	if (rows_text)
		rows = command_count(&command, "rows", rows_text, 0, UINT64_MAX);

	Perftools__Profiles__Profile *p =
		profile_read(command_input(&command, argc, argv, first), &report);
	if (p)
		print_table(p, choose_type(p), rows);
	profile_free(p);
	return command_end(&report);
}
