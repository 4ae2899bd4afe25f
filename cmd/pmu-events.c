/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-events - list, encode and test events.
 *
 * Reads the machine: /sys, /proc, the kernel's answers.  Writes text or JSON.
 */
#include "base/units.h"
#include "event/models.h"
#include "show/catalog-print.h"
#include "show/completion.h"
#include "show/doctor.h"
#include "show/encoding.h"
#include "show/screen.h"
#include "survey/survey.h"
#include "tool/command.h"

#include <limits.h>
#include <stdio.h>

static bool do_list, do_encode, do_check, do_doctor, do_report;
static bool details, all_models;
static int format;
static const char *to_complete, *to_add, *pmu, *sysfs;
static struct event_options how;

enum { TO_TEXT, TO_JSON, TO_PERF };
static const char *const formats[] = {
	[TO_TEXT] = "text", [TO_JSON] = "json", [TO_PERF] = "perf", NULL
};

/* One of these says what to do. */
#define MODES "list encode check doctor complete add-model"

#define HOW_EVENTS "How events are opened"
#define WHICH_EVENTS "Which events"

static const struct command_option options[] = {
	{ 0, "list", NULL, "list events, or those that match a GLOB", SETS_FLAG(do_list),
	  .excludes = MODES },
	{ 0, "encode", NULL, "show how each EVENT is encoded", SETS_FLAG(do_encode),
	  .excludes = MODES },
	{ 0, "check", NULL, "test whether each EVENT can be opened here", SETS_FLAG(do_check),
	  .excludes = MODES },
	{ 0, "doctor", NULL, "examine whether this machine can profile, or process PID",
	  SETS_FLAG(do_doctor), .excludes = MODES },
	{ 0, "report", NULL, "with --doctor: measure what the counters can do, for others to read",
	  SETS_FLAG(do_report), .needs = "doctor" },
	{ 0, "add-model", "FILE", "keep the events in FILE, JSON of a maker or of perf",
	  SETS_TEXT(to_add), .excludes = MODES },
	{ 0, "complete", "TEXT", "print events that start with TEXT", SETS_TEXT(to_complete),
	  .excludes = MODES },
	{ 'L', "long", NULL, "list with full descriptions, umasks and modifiers",
	  SETS_FLAG(details) },
	{ 0, "pmu", "NAME", "only events of this PMU or CPU model; all: of all known models",
	  SETS_TEXT(pmu), .group = WHICH_EVENTS },
	{ 0, "sysfs", "DIR", "read PMUs in DIR instead of /sys", SETS_TEXT(sysfs),
	  .group = WHICH_EVENTS },
	{ 0, "tracefs", "DIR", "read tracepoints in DIR", SETS_TEXT(how.tracefs),
	  .group = WHICH_EVENTS },
	{ 'c', "period", "COUNT", "take a sample every COUNT events", SETS_COUNT(how.period),
	  .least = 1, .excludes = "frequency", .group = HOW_EVENTS },
	{ 'F', "frequency", "HZ", "take HZ samples per second", SETS_COUNT(how.frequency),
	  .least = 1, .group = HOW_EVENTS },
	{ 'f', "force", NULL, "allow periods below the floor of an event", SETS_FLAG(how.force),
	  .group = HOW_EVENTS },
	{ 0, "to", "FORMAT", "print for people, programs, or perf record -e",
	  SETS_CHOICE(format, formats), .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = {
	JSON_SPELLING,
	{ .name = "all-models", .instead = "use --pmu all" },
	{ .name = "precise", .argument = true,
	  .instead = "add the modifiers p or P to the events, as in cycles:pp" },
	{ .letter = 'p', .name = "pid", .argument = true, .instead = "use --doctor PID" },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-events",
	.purpose = "list, encode and test events",
	.operands = "[GLOB|EVENT|PID|FILE]...",
	.options = options,
	.spellings = spellings,
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
			     "--list --pmu all shows all models", pmu);
	else if (!(format == TO_JSON ? catalog_print_json : catalog_print)(&catalog, &style, &how))
		report_error(report, "no event matches");
	catalog_release(&catalog);
}

static void show_events(char **event, size_t events, struct report *report)
{
	struct event_list list = { 0 };

	for (size_t i = 0; i < events; i++)
		event_parse(&list, &how, event[i], report);
	if (do_check) {
		if (!encoding_print_check(&list, format == TO_JSON))
			report->status = 1;	/* the reason has been printed */
	} else if (format == TO_JSON) {
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

/* Show what this machine can do, and write it to the only operand, if there is one. */
static void report_machine(char **file, size_t files, struct report *report)
{
	struct survey_options wanted = { .file = files ? *file : NULL, .json = format == TO_JSON,
					 .stop = &command_stop };

	if (files > 1)
		command_misused(&command, "--report takes one FILE, not also '%s'", file[1]);
	survey_print(&wanted, report);
}

/* Return the process that is the only operand. */
static pid_t parse_pid(char **operand, size_t operands)
{
	uint64_t number;

	if (operands > 1 || !units_parse_count(*operand, &number) || !number || number > INT_MAX)
		command_misused(&command, "--doctor takes no '%s', but a PID",
				operand[operands - 1]);
	return (pid_t)number;
}

int main(int argc, char **argv)
{
	struct report report;
	int first = command_begin(&command, &report, argc, argv);
	char **operand = argv + first;
	size_t operands = (size_t)(argc - first);

	char path[PATH_MAX];

	if (do_list && pmu && !strcmp(pmu, "all")) {
		all_models = true;
		pmu = NULL;
	}
	how.model = pmu;
	if (sysfs)
		how.sysfs = event_find_sysfs(sysfs, path, sizeof(path));
	if (!do_list && !do_encode && !do_check && !do_doctor && !to_complete && !to_add)
		command_misused(&command, "give one of --list, --encode, --check, --doctor, "
				"--add-model");
	if ((do_encode || do_check) && operands == 0)
		command_misused(&command, "no EVENT to %s", do_check ? "check" : "encode");
	if (do_doctor && format == TO_PERF)
		command_misused(&command, "--doctor prints text or json, not perf");
	pid_t pid = do_doctor && !do_report && operands ? parse_pid(operand, operands) : 0;

	if (sysfs && !how.sysfs)
		report_error(&report, "there are no PMUs in %s/bus/event_source/devices: copy them "
			     "from the other machine's /sys", sysfs);
	else if (to_complete)
		completion_print(&how, to_complete);
	else if (to_add)
		add_model(operand, operands, &report);
	else if (do_list)
		list_events(operand, operands, &report);
	else if (do_report)
		report_machine(operand, operands, &report);
	else if (do_doctor)
		doctor_print(pid, format == TO_JSON, &report);
	else
		show_events(operand, operands, &report);
	return command_end(&report);
}
