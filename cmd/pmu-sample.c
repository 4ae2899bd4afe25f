/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-sample - sample a process or a command by hardware events.
 *
 * Opens events on a target, and writes what the kernel records of it as a
 * stream (pmu-stream(5)) that pmu-symbolize, pmu-topprof and perf read.
 */
#include "base/command.h"
#include "base/units.h"
#include "sample/sampler.h"
#include "sample/threads.h"

#include <errno.h>
#include <unistd.h>

enum { RING_DEFAULT = 512 * 1024 };	/* bytes; what the kernel lets anyone lock per CPU */

static bool callchains;
static const char *pid_text, *period_text, *frequency_text, *duration_text, *ring_text, *file;
static struct command_list names;

static const struct command_option options[] = {
	{ 'e', "event", "EVENT", "sample by EVENT (see pmu-event(7)); may be repeated",
	  NULL, &names },
	{ 'c', "period", "COUNT", "take a sample every COUNT events", &period_text, NULL },
	{ 'F', "frequency", "HZ", "take HZ samples a second", &frequency_text, NULL },
	{ 'p', "pid", "PID", "attach to a process, all its threads", &pid_text, NULL },
	{ 'd', "duration", "TIME", "stop after TIME: 10, 1.5, 500ms, 2m", &duration_text, NULL },
	{ 'g', "callchains", NULL, "record callchains, by frame pointers", &callchains, NULL },
	{ 'm', "ring", "SIZE", "use rings of SIZE bytes per CPU (512Ki)", &ring_text, NULL },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", &file, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-sample",
	.purpose = "sample a process or a command by hardware events",
	.operands = "{-p PID | [--] COMMAND [ARG]...}",
	.options = options,
	.runs_command = true,
};

/* Cycles where the hardware counts them, else the clock. */
static bool choose_event(struct event_list *list, const struct event_options *how,
			 struct report *report)
{
	char why[512];

	if (!event_parse(list, how, "cycles", report))
		return false;
	if (event_check(&list->event[0], why, sizeof(why)))
		return true;
	report_note(report, "cycles cannot be sampled, so cpu-clock is: %s", why);
	event_list_release(list);
	return event_parse(list, how, "cpu-clock", report);
}

static bool parse_events(struct event_list *list, const struct event_options *how,
			 struct report *report)
{
	if (names.count == 0)
		return choose_event(list, how, report);
	for (size_t i = 0; i < names.count; i++)
		if (!event_parse(list, how, names.item[i], report))
			return false;
	return true;
}

/* The count that TEXT, given to --NAME, says; DEFAULT without it. */
static uint64_t count_option(const char *name, const char *text, uint64_t otherwise)
{
	uint64_t count;

	if (!text)
		return otherwise;
	if (!units_parse_count(text, &count) || count == 0)
		command_misused(&command, "--%s takes a count such as 100k, not '%s'", name, text);
	return count;
}

static void parse_target(struct sampler_options *o, int argc, char **argv, int first)
{
	if (pid_text && first < argc)
		command_misused(&command, "both a PID and a command, '%s'", argv[first]);
	if (!pid_text && first == argc)
		command_misused(&command, "nothing to sample: give -p PID or a command");
	if (pid_text && !threads_parse_pid(pid_text, &o->pid))
		command_misused(&command, "'%s' is no pid", pid_text);
	if (duration_text && (!units_parse_duration(duration_text, &o->duration) || !o->duration))
		command_misused(&command, "--duration takes a time such as 10s, not '%s'",
				duration_text);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	o->ring_size = count_option("ring", ring_text, RING_DEFAULT);
	if (o->ring_size < page || o->ring_size & (o->ring_size - 1) || o->ring_size > 1u << 30)
		command_misused(&command, "--ring takes a power of two of at least %zu bytes, "
				"not '%s'", page, ring_text);
	o->command = pid_text ? NULL : argv + first;
}

int main(int argc, char **argv)
{
	struct report report;
	struct output out;
	struct event_list events = { 0 };
	struct event_options how = { 0 };
	struct sampler_options o = { .events = &events, .stop = &command_stop,
				     .argc = argc, .argv = argv };

	int first = command_begin(&command, &report, argc, argv);
	parse_target(&o, argc, argv, first);
	if (period_text && frequency_text)
		command_misused(&command, "both a period and a frequency");
	how.period = count_option("period", period_text, 0);
	how.frequency = count_option("frequency", frequency_text, 0);
	o.callchains = callchains;
	command_output(&command, &out, file, &report);

	if (parse_events(&events, &how, &report))
		sampler_run(&o, &out, &report);
	output_close(&out);
	event_list_release(&events);
	return command_end(&report);
}
