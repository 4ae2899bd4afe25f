/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-events - list, encode and test events.
 *
 * Reads the machine: /sys, /proc, the kernel's answers.  Writes text or JSON.
 */
#include "event/models.h"
#include "show/catalog-print.h"
#include "show/completion.h"
#include "show/doctor.h"
#include "show/encoding.h"
#include "show/screen.h"
#include "tool/command.h"

#include <limits.h>
#include <stdio.h>

static bool do_list, do_encode, do_check, do_doctor;
static bool details, json, all_models;
static int format, precise = -1, pid;
static const char *to_complete, *to_add, *pmu, *sysfs;
static struct event_options how;

enum { TO_TEXT, TO_JSON, TO_PERF };
static const char *const formats[] = {
	[TO_TEXT] = "text", [TO_JSON] = "json", [TO_PERF] = "perf", NULL
};

static const char *const levels[] = {
	"0", "1", "2", "3", [EVENT_PRECISE_MAX] = "max", NULL
};

/* One of these says what to do. */
#define MODES "list encode check doctor complete add-model"

static const struct command_option options[] = {
	{ 0, "list", NULL, "list events, or those that match a GLOB", SETS_FLAG(do_list),
	  .excludes = MODES },
	{ 0, "encode", NULL, "show how each EVENT is encoded", SETS_FLAG(do_encode),
	  .excludes = MODES },
	{ 0, "check", NULL, "test whether each EVENT can be opened here", SETS_FLAG(do_check),
	  .excludes = MODES },
	{ 0, "doctor", NULL, "examine whether this machine can profile", SETS_FLAG(do_doctor),
	  .excludes = MODES },
	{ 0, "complete", "TEXT", "print events that start with TEXT", SETS_TEXT(to_complete),
	  .excludes = MODES },
	{ 0, "add-model", "FILE", "keep the events in FILE, JSON of a maker or of perf",
	  SETS_TEXT(to_add), .excludes = MODES },
	{ 'L', "long", NULL, "list with full descriptions, umasks and modifiers",
	  SETS_FLAG(details) },
	{ 'j', "json", NULL, "print JSON, like --to json", SETS_FLAG(json) },
	{ 0, "to", "FORMAT", "print for people, programs, or perf record -e",
	  SETS_CHOICE(format, formats) },
	{ 0, "pmu", "NAME", "only events of this PMU, or of this CPU model",
	  SETS_TEXT(pmu) },
	{ 0, "all-models", NULL, "list the events of all known CPU models",
	  SETS_FLAG(all_models) },
	{ 'c', "period", "COUNT", "take a sample every COUNT events", SETS_COUNT(how.period),
	  .excludes = "frequency",
	  .least = 1 },
	{ 'F', "frequency", "HZ", "take HZ samples per second", SETS_COUNT(how.frequency),
	  .least = 1 },
	{ 0, "precise", "LEVEL", "precise level of events without p",
	  SETS_CHOICE(precise, levels) },
	{ 'f', "force", NULL, "allow periods below the floor of an event", SETS_FLAG(how.force) },
	{ 'p', "pid", "PID", "also examine process PID", SETS_INTEGER(pid), .least = 1 },
	{ 0, "sysfs", "DIR", "read PMUs in DIR instead of /sys", SETS_TEXT(sysfs) },
	{ 0, "tracefs", "DIR", "read tracepoints in DIR", SETS_TEXT(how.tracefs) },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-events",
	.purpose = "list, encode and test events",
	.operands = "[GLOB|EVENT]...",
	.options = options,
};

static unsigned int columns(void)
{
	size_t wide = screen_columns();

	return wide < 60 ? 80 : (unsigned int)wide;
}

static void list_events(char **glob, size_t globs, struct report *report)
{
	struct catalog catalog = { 0 };
	struct catalog_options wanted = { .event = &how, .pmu = pmu, .all_models = all_models,
					  .glob = glob, .globs = globs };
	struct catalog_style style = { .glob = glob, .globs = globs, .details = details,
				       .check = !how.sysfs, .columns = columns() };

	if (!catalog_read(&catalog, &wanted))
		report_error(report, "there is neither a PMU nor a model '%s'; "
			     "--list --all-models shows all models", pmu);
	else if (!(json ? catalog_print_json : catalog_print)(&catalog, &style, &how))
		report_error(report, "no event matches");
	catalog_release(&catalog);
}

static void show_events(char **event, size_t events, struct report *report)
{
	struct event_list list = { 0 };

	for (size_t i = 0; i < events; i++)
		event_parse(&list, &how, event[i], report);
	if (do_check) {
		if (!encoding_print_check(&list, json))
			report->status = 1;	/* the reason has been printed */
	} else if (json) {
		encoding_print_json(&list);
	} else if (list.count) {
		(format == TO_PERF ? encoding_print_perf : encoding_print)(&list);
	}
	event_list_release(&list);
}

/* Add a model: of the option's argument, and the operands. */
static void add_model(char **operand, size_t operands, struct report *report)
{
	char **file = mem_zeroed(operands + 1, sizeof(*file));

	file[0] = (char *)(uintptr_t)to_add;
	for (size_t i = 0; i < operands; i++)
		file[i + 1] = operand[i];
	models_add(file, operands + 1, pmu, &how, report);
	free(file);
}

int main(int argc, char **argv)
{
	struct report report;
	int first = command_begin(&command, &report, argc, argv);
	char **operand = argv + first;
	size_t operands = (size_t)(argc - first);

	json |= format == TO_JSON;
	char path[PATH_MAX];

	how.model = pmu;
	if (sysfs)
		how.sysfs = event_find_sysfs(sysfs, path, sizeof(path));
	how.precise = precise < 0 ? 0 : (uint8_t)precise;
	if (!do_list && !do_encode && !do_check && !do_doctor && !to_complete && !to_add)
		command_misused(&command, "give one of --list, --encode, --check, --doctor, "
				"--add-model");
	if ((do_encode || do_check) && operands == 0)
		command_misused(&command, "no EVENT to %s", do_check ? "check" : "encode");
	if (do_doctor && operands > 0)
		command_misused(&command, "--doctor takes no '%s'", *operand);

	if (sysfs && !how.sysfs)
		report_error(&report, "there are no PMUs in %s/bus/event_source/devices: copy them "
			     "from the other machine's /sys", sysfs);
	else if (to_complete)
		completion_print(&how, to_complete);
	else if (to_add)
		add_model(operand, operands, &report);
	else if (do_list)
		list_events(operand, operands, &report);
	else if (do_doctor)
		doctor_print(pid, json, &report);
	else
		show_events(operand, operands, &report);
	return command_end(&report);
}
