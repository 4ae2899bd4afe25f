/* SPDX-License-Identifier: Apache-2.0 */
#include "results/stat-bench.h"
#include "base/arena.h"
#include "counting/bench-line.h"
#include "linux/cpus.h"
#include "record/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* Go's name of a machine, by uname's. */
static const struct { const char *ours, *go; } machines[] = {
	{ "x86_64", "amd64" }, { "aarch64", "arm64" }, { "i686", "386" }, { "armv7l", "arm" },
};

/* Print goos, goarch and cpu to OUT, as Go does before its benchmarks. */
static void write_machine(FILE *out)
{
	char model[256];
	struct utsname name;

	if (uname(&name) == 0) {
		const char *machine = name.machine;
		for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
			if (!strcmp(machine, machines[i].ours))
				machine = machines[i].go;
		fprintf(out, "goos: linux\ngoarch: %s\n", machine);
	}
	if (cpus_model(model, sizeof(model)))
		fprintf(out, "cpu: %s\n", model);
}

/* Set '-' for what would end a field of the line in TEXT.  Return TEXT. */
static char *one_word(char *text)
{
	for (char *at = text; *at; at++)
		if (isspace((unsigned char)*at))
			*at = '-';
	return text;
}

/* Return the unit of EVENT's values per UNIT: "task-clock-ns/op".  The caller frees. */
static char *unit_of(const struct event *event, const char *unit)
{
	bool is_time = !strcmp(event->unit, UNIT_TIME);
	bool is_count = !strcmp(event->unit, UNIT_COUNT);
	char *text;

	if (asprintf(&text, "%s%s%s/%s", event->name, is_count ? "" : "-",
		     is_count ? "" : is_time ? "ns" : event->unit, unit) < 0)
		abort();
	return one_word(text);
}

/* Write VALUE to OUT: all digits before the point, and six digits at least. */
static void write_value(double value, FILE *out)
{
	value += 0.0;	/* not "-0" */
	fprintf(out, fabs(value) >= 1e5 ? "\t%10.0f " : "\t%10.6g ", value);
}

/*
 * Write what ITEM counted of event number I, in UNIT, to OUT.  A line may have one value of a unit,
 * so not if the benchmark itself reports the unit.
 */
static void write_count(const struct bench_item *item, size_t i, const char *unit, FILE *out,
			struct report *report)
{
	if (bench_line_has(item->metrics, unit)) {
		report_once(report, "a benchmark that reports '%s' itself, as '%s' does, keeps its "
			    "own value: the count is left out", unit, item->name);
	} else if (!isnan(item->per_op[i])) {
		write_value(item->per_op[i], out);
		fputs(unit, out);
	}
}

/* Print ITEM, which counted EVENTS, to OUT: a line, with values per UNIT. */
static void write_item(const struct bench_item *item, const struct event_list *events,
		       const char *unit, FILE *out, struct report *report)
{
	fprintf(out, "%s\t%8" PRIu64, item->name, item->iterations);
	if (!isnan(item->nanoseconds)) {
		write_value(item->nanoseconds, out);
		fprintf(out, "ns/%s", unit);
	}
	if (*item->metrics)
		fprintf(out, "\t%s", item->metrics);
	for (size_t i = 0; i < events->count; i++) {
		char *whole = unit_of(&events->event[i], unit);
		write_count(item, i, whole, out, report);
		free(whole);
	}
	fputc('\n', out);
	fflush(out);
}

/*
 * Return the name of a benchmark for PROGRAM.  The caller frees.  A reader of the format would take
 * "-2" at the end for the number of threads, so that becomes "_2".
 */
static char *name_of(const char *program)
{
	const char *slash = strrchr(program, '/');
	char *name;

	if (asprintf(&name, "Benchmark%s", slash ? slash + 1 : program) < 0)
		abort();
	char *first = name + strlen("Benchmark");
	*first = (char)toupper((unsigned char)*first);
	char *dash = strrchr(name, '-');
	if (dash && dash[1] && !dash[1 + strspn(dash + 1, "0123456789")])
		*dash = '_';
	return one_word(name);
}

/* Return N as a number of iterations, which is a whole number above 0 in the format. */
static uint64_t whole_number(double n)
{
	return (uint64_t)round(fmin(fmax(n, 1), 0x1p63));
}

/* Print RUN of a command to OUT: a line, with the costs of one of N UNITS. */
static void write_run(const struct counting_run *run, const struct event_list *events,
		      const char *name, const char *unit, double n, FILE *out)
{
	double *per_op = mem_zeroed(events->count + 1, sizeof(*per_op));

	for (size_t i = 0; i < events->count; i++)
		per_op[i] = counting_scaled(&run->value[i]) * events->event[i].scale / n;
	const struct bench_item item = {
		.name = name, .iterations = whole_number(n), .per_op = per_op,
		.nanoseconds = (double)run->wall / n, .metrics = "",
	};
	write_item(&item, events, unit, out, NULL);	/* without metrics: nothing to report */
	free(per_op);
}

void stat_bench_runs(const struct counting_runs *runs, const struct event_list *events,
		     const char *command, const char *unit, double n, FILE *out)
{
	char *name = name_of(command);

	write_machine(out);
	for (size_t i = 0; i < runs->count; i++)
		if (runs->run[i].status == 0 && !runs->run[i].is_cut)
			write_run(&runs->run[i], events, name, unit, n, out);
	free(name);
}

int stat_bench_binary(struct counting *counting, char *const *command, FILE *out,
		      struct report *report)
{
	struct bench *b = bench_open(counting, command, report);
	struct bench_item item;

	while (bench_next(b, &item)) {
		if (item.text)
			fprintf(out, "%s\n", item.text);
		else
			write_item(&item, counting->events, "op", out, report);
	}
	return bench_close(b);
}
