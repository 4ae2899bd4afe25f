/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-stat - count events of a command, without samples.
 *
 * Runs a command once or several times, counts events from its exec to its exit, and writes a table
 * to stdout: the mean of each event, and how sure it is.
 */
#include "base/word-list.h"
#include "counting/choice.h"
#include "counting/counting-rows.h"
#include "counting/counting.h"
#include "show/stat-print.h"
#include "tool/command.h"

#include <stdlib.h>
#include <unistd.h>

static struct word_list names;
static uint64_t runs = 1;
static struct target target;
static struct counting counting = { .target = &target, .stop = &command_stop,
				    .command_fd = STDERR_FILENO };

static const struct command_option options[] = {
	{ 'e', "event", "EVENT", "count EVENT (see pmu-event(7)); may be repeated",
	  SETS_LIST(names) },
	{ 'n', "runs", "RUNS", "run the command RUNS times", SETS_COUNT(runs), .least = 1,
	  .most = 100000 },
	{ 0 }
};

/* perf stat's spellings. */
static const struct command_spelling spellings[] = {
	{ 'r', "repeat", .argument = true, .means = "runs" }, { 0 }
};

static const struct command command = {
	.name = "pmu-stat",
	.purpose = "count events of a command",
	.operands = "[--] COMMAND [ARG]...",
	.options = options,
	.spellings = spellings,
	.runs_command = true,
};

/* Run COMMAND as often as was asked for, and print the table. */
static void count_command(char *const *argv, struct event_list *events, struct report *report)
{
	struct counting_run *run = calloc(runs, sizeof(*run));
	struct counting_rows rows = { 0 };
	struct stat_heading heading = { .of = "runs" };
	bool good = run;

	while (good && heading.runs < runs && !counting.is_stopped) {
		good = counting_run_command(&counting, argv, &run[heading.runs], report);
		heading.failed += good && run[heading.runs].status;
		heading.runs++;
	}
	if (good) {
		counting_rows_add_events(&rows, events, run, heading.runs);
		counting_rows_add_times(&rows, run, heading.runs, true);
		stat_print_text(&rows, &heading, stdout);
	}
	if (heading.failed)
		report_note(report, "%zu of %zu runs failed", heading.failed, heading.runs);
	for (size_t i = 0; i < heading.runs; i++)
		counting_run_release(&run[i]);
	free(run);
	counting_rows_release(&rows);
}

int main(int argc, char **argv)
{
	struct event_list events = { 0 };
	struct report report;

	int first = command_begin(&command, &report, argc, argv);
	if (first == argc)
		command_misused(&command, "nothing to count: give a command");
	target.command = argv + first;
	if (counting_choose(&events, &names, false, &report) &&
	    counting_begin(&counting, &events, &report))
		count_command(argv + first, &events, &report);
	event_list_release(&events);
	return command_end(&report);
}
