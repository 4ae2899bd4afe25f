/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-events - list, encode and test events.
 *
 * Reads the machine: /sys, /proc, the kernel's answers.  Writes text or JSON.
 */
#include "base/command.h"
#include "show/catalog-print.h"
#include "show/completion.h"
#include "show/doctor.h"
#include "show/encoding.h"

#include <stdio.h>
#include <sys/ioctl.h>

static bool do_list, do_encode, do_check, do_doctor;
static bool details, json, perf, all_models, force;
static const char *to_complete, *pmu, *period, *frequency, *precise, *pid, *sysfs, *tracefs;

static const struct command_option options[] = {
	{ 'l', "list", NULL, "list events (those that match a GLOB)", &do_list, NULL },
	{ 'e', "encode", NULL, "show how each EVENT is encoded", &do_encode, NULL },
	{ 't', "check", NULL, "test whether each EVENT can be opened here", &do_check, NULL },
	{ 'd', "doctor", NULL, "examine whether this machine can profile", &do_doctor, NULL },
	{ 0, "complete", "TEXT", "print events that start with TEXT", &to_complete, NULL },
	{ 'L', "long", NULL, "list with full descriptions, umasks and modifiers", &details, NULL },
	{ 'j', "json", NULL, "print JSON", &json, NULL },
	{ 'P', "perf", NULL, "encode as an argument of perf record -e", &perf, NULL },
	{ 'm', "pmu", "NAME", "only events of this PMU, or model of libpfm4", &pmu, NULL },
	{ 'a', "all-models", NULL, "list the events of all models of libpfm4", &all_models, NULL },
	{ 'c', "period", "COUNT", "sample every COUNT events", &period, NULL },
	{ 'F', "frequency", "HZ", "sample HZ times per second", &frequency, NULL },
	{ 0, "precise", "LEVEL", "precise level of events without p: 0 to 3, or max", &precise,
	  NULL },
	{ 'f', "force", NULL, "allow periods below the floor of an event", &force, NULL },
	{ 'p', "pid", "PID", "also examine process PID", &pid, NULL },
	{ 0, "sysfs", "DIR", "read PMUs in DIR instead of /sys", &sysfs, NULL },
	{ 0, "tracefs", "DIR", "read tracepoints in DIR", &tracefs, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-events",
	.purpose = "list, encode and test events",
	.operands = "[GLOB|EVENT]...",
	.options = options,
};

static uint64_t number_of(const char *option, const char *text)
{
	return text ? command_count(&command, option, text, 1, UINT64_MAX) : 0;
}

static uint8_t level_of(const char *text)
{
	if (text && !strcmp(text, "max"))
		return EVENT_PRECISE_MAX;
	if (text && (strlen(text) != 1 || *text < '0' || *text > '3'))
		command_misused(&command, "--precise takes 0 to 3 or max, not '%s'", text);
	return text ? (uint8_t)(*text - '0') : 0;
}

static unsigned int columns(void)
{
	struct winsize size;

	return ioctl(1, TIOCGWINSZ, &size) || size.ws_col < 60 ? 80 : size.ws_col;
}

static void list_events(const struct event_options *from, char **glob, size_t globs,
			struct report *report)
{
	struct catalog catalog = { 0 };
	struct catalog_options wanted = { .event = from, .pmu = pmu, .all_models = all_models,
					  .glob = glob, .globs = globs };
	struct catalog_style style = { .glob = glob, .globs = globs, .details = details,
				       .check = !sysfs, .columns = columns() };

	if (!catalog_read(&catalog, &wanted))
		report_error(report, "there is neither a PMU nor a model '%s'; "
			     "--list --all-models shows all models", pmu);
	else if (!(json ? catalog_print_json : catalog_print)(&catalog, &style, from))
		report_error(report, "no event matches");
	catalog_release(&catalog);
}

static void show_events(const struct event_options *how, char **event, size_t events,
			struct report *report)
{
	struct event_list list = { 0 };

	for (size_t i = 0; i < events; i++)
		event_parse(&list, how, event[i], report);
	if (do_check) {
		if (!encoding_print_check(&list, json))
			report->status = 1;	/* the reason has been printed */
	} else if (json) {
		encoding_print_json(&list);
	} else if (list.count) {
		(perf ? encoding_print_perf : encoding_print)(&list);
	}
	event_list_release(&list);
}

int main(int argc, char **argv)
{
	struct report report;
	int first = command_begin(&command, &report, argc, argv);
	char **operand = argv + first;
	size_t operands = (size_t)(argc - first);
	struct event_options how = {
		.sysfs = sysfs, .tracefs = tracefs, .model = pmu, .force = force,
		.period = number_of("period", period),
		.frequency = number_of("frequency", frequency), .precise = level_of(precise),
	};

	if (do_list + do_encode + do_check + do_doctor + !!to_complete != 1)
		command_misused(&command, "give one of --list, --encode, --check, --doctor");
	if (period && frequency)
		command_misused(&command, "--period and --frequency exclude each other");
	if ((do_encode || do_check) && operands == 0)
		command_misused(&command, "no EVENT to %s", do_check ? "check" : "encode");
	if (do_doctor && operands > 0)
		command_misused(&command, "--doctor takes no '%s'", *operand);

	if (to_complete)
		completion_print(&how, to_complete);
	else if (do_list)
		list_events(&how, operand, operands, &report);
	else if (do_doctor)
		doctor_print((pid_t)number_of("pid", pid), json, &report);
	else
		show_events(&how, operand, operands, &report);
	return command_end(&report);
}
