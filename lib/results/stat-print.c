/* SPDX-License-Identifier: Apache-2.0 */
/* What pmu-stat counted, as CSV or JSON. */
#include "base/json.h"
#include "counting/counting-machine.h"
#include "show/csv.h"
#include "results/stat-internal.h"

#include <inttypes.h>
#include <math.h>

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Print a number as a field of CSV, after a comma; nothing if it is unknown. */
static void print_csv_number(double number)
{
	putchar(',');
	if (isfinite(number))
		printf("%.15g", number);
}

void stat_print_csv_unit(const struct counting_row *r, const char *per)
{
	char unit[256];

	if (per && r->kind != COUNTING_DERIVED)
		snprintf(unit, sizeof(unit), "%s/%s", r->unit, per);
	else
		snprintf(unit, sizeof(unit), "%s", r->unit);
	csv_text(unit, stdout);
}

static void print_csv(const struct counting_rows *rows, const struct stat_heading *h)
{
	const struct counting_run *interval = h->interval;

	if (!interval || interval->start == 0)
		printf("%sof,event,unit,mean,low,high,min,max,runs,running,scaled,stopped\r\n",
		       interval ? "start,seconds," : "");
	for (size_t i = 0; i < rows->count; i++) {
		const struct counting_row *r = &rows->row[i];
		if (interval)
			printf("%.9f,%.9f,", seconds(interval->start), seconds(interval->wall));
		csv_text(r->of ? r->of : "", stdout);
		putchar(',');
		csv_text(r->name, stdout);
		putchar(',');
		stat_print_csv_unit(r, h->per);
		print_csv_number(r->mean);
		print_csv_number(r->mean - r->interval);
		print_csv_number(r->mean + r->interval);
		print_csv_number(r->min);
		print_csv_number(r->max);
		printf(",%zu,%.6f,%s,%zu\r\n", r->runs, r->running, r->is_scaled ? "yes" : "no",
		       h->stopped);
	}
}

void stat_print_json_number(const char *key, double number)
{
	json_key(key, false);
	if (isfinite(number))
		printf("%.15g", number);
	else
		printf("null");
}

void stat_print_json_row(const struct counting_row *r, size_t runs)
{
	static const char *const kinds[] = { [COUNTING_EVENT] = "event", [COUNTING_TIME] = "time",
					     [COUNTING_DERIVED] = "derived" };

	putchar('{');
	json_key("name", true);
	json_string(r->name);
	if (r->of)
		json_text("of", r->of);
	json_text("kind", kinds[r->kind]);
	json_text("unit", r->unit);
	stat_print_json_number("mean", r->mean);
	stat_print_json_number("low", r->mean - r->interval);
	stat_print_json_number("high", r->mean + r->interval);
	stat_print_json_number("min", r->min);
	stat_print_json_number("max", r->max);
	stat_print_json_number("running", r->running);
	json_key("scaled", false);
	printf("%s", r->is_scaled ? "true" : "false");
	json_key("values", false);
	for (size_t i = 0; i < runs; i++)
		if (isfinite(r->value[i]))
			printf("%s%.15g", i ? ", " : "[", r->value[i]);
		else
			printf("%snull", i ? ", " : "[");
	printf("%s]}", runs ? "" : "[");
}

void stat_print_json_machine(void)
{
	struct counting_machine machine;

	counting_machine_read(&machine);
	json_key("machine", true);
	putchar('{');
	json_key("name", true);
	json_string(machine.name);
	json_text("kernel", machine.kernel);
	json_text("cpu", machine.cpu);
	putchar('}');
}

void stat_print_json_per(const char *unit, double number)
{
	if (!unit)
		return;
	json_key("per", false);
	putchar('{');
	json_key("unit", true);
	json_string(unit);
	stat_print_json_number("number", number);
	putchar('}');
}

static void print_json(const struct counting_rows *rows, const struct stat_heading *h)
{
	putchar('{');
	stat_print_json_machine();
	json_key("command", false);
	for (size_t i = 0; i < h->command.count; i++) {
		printf(i ? ", " : "[");
		json_string(h->command.item[i]);
	}
	printf("%s]", h->command.count ? "" : "[");
	json_text("target", h->target ? h->target : "command");
	if (h->interval) {
		stat_print_json_number("start", seconds(h->interval->start));
		stat_print_json_number("seconds", seconds(h->interval->wall));
	}
	stat_print_json_per(h->per, h->per_number);
	printf(", \"runs\": %zu, \"failed\": %zu, \"stopped\": %zu, \"rows\": [", h->runs,
	       h->failed, h->stopped);
	for (size_t i = 0; i < rows->count; i++) {
		printf(h->interval ? "%s" : "%s\n", i ? ", " : "");
		stat_print_json_row(&rows->row[i], rows->runs);
	}
	printf("]}\n");
}

void stat_print(enum stat_format format, const struct counting_rows *rows,
		const struct stat_heading *heading)
{
	if (format == STAT_JSON)
		print_json(rows, heading);
	else if (format == STAT_CSV)
		print_csv(rows, heading);
	else
		stat_print_text(rows, heading, stdout);
}
