/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-stat - count events of a command, without samples.
 *
 * Runs a command once or several times, counts events from its exec to its exit, and writes a table
 * to stdout: the mean of each event, and how sure it is.
 */
#include "base/word-list.h"
#include "counting/bench-command.h"
#include "counting/bench-exec.h"
#include "counting/choice.h"
#include "counting/counting-rows.h"
#include "counting/counting.h"
#include "show/stat-bench.h"
#include "show/stat-print.h"
#include "tool/command.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct word_list names;
static uint64_t runs = 1;
static bool bench;
static struct { char *unit; double number; } per;
static struct target target;
static struct counting counting = { .target = &target, .stop = &command_stop,
				    .command_fd = STDERR_FILENO };

static const char *parse_per(const char *text, void *value)
{
	const char *equals = strchr(text, '=');
	char *end;

	(void)value;
	if (!equals || equals == text)
		return "no unit and number";
	for (const char *at = text; at < equals; at++)
		if (!isgraph((unsigned char)*at))
			return "the unit is not a word";
	per.number = strtod(equals + 1, &end);
	if (*end || end == equals + 1 || !(per.number > 0) || isinf(per.number))
		return "the number after '=' is not above 0";
	free(per.unit);
	per.unit = strndup(text, (size_t)(equals - text));
	return NULL;
}

#define OPERATION "The cost of one operation"

static const struct command_option options[] = {
	{ 'e', "event", "EVENT", "count EVENT (see pmu-event(7)); may be repeated",
	  SETS_LIST(names) },
	{ 'n', "runs", "RUNS", "run the command RUNS times", SETS_COUNT(runs), .least = 1,
	  .most = 100000 },
	{ 0, "bench", NULL, "print lines in the format of Go's benchmarks, for benchstat",
	  SETS_FLAG(bench), .group = OPERATION },
	{ 0, "per", "UNIT=N", "divide values by N, and name the unit, as in op=1000000",
	  PARSED_BY(parse_per, per, "UNIT=NUMBER, such as op=1000"), .group = OPERATION },
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

static void report_failed(size_t failed, size_t all, struct report *report)
{
	if (failed)
		report_note(report, "%zu of %zu runs failed", failed, all);
}

/* Run COMMAND as often as was asked for, and print the table. */
static void count_command(char *const *argv, struct event_list *events, struct report *report)
{
	struct counting_run *run = calloc(runs, sizeof(*run));
	struct counting_rows rows = { 0 };
	struct stat_heading heading = { .of = "runs", .per = per.unit };
	bool good = run;

	while (good && heading.runs < runs && !counting.is_stopped) {
		good = counting_run_command(&counting, argv, &run[heading.runs], report);
		heading.failed += good && run[heading.runs].status;
		heading.runs++;
	}
	if (good) {
		counting_rows_add_events(&rows, events, run, heading.runs);
		counting_rows_add_times(&rows, run, heading.runs, true);
		if (per.unit)
			counting_rows_divide(&rows, per.number);
		stat_print_text(&rows, &heading, stdout);
	}
	report_failed(heading.failed, heading.runs, report);
	for (size_t i = 0; i < heading.runs; i++)
		counting_run_release(&run[i]);
	free(run);
	counting_rows_release(&rows);
}

static bool is_go(char *const *argv)
{
	return bench_command_go_test(argv) || bench_command_is_binary(argv);
}

/* Misuse: options that benchmarks in Go do not take. */
static void check_go(char *const *argv)
{
	if (command_given("per"))
		command_misused(&command, "--per is for other commands: benchmarks in Go count "
				"their own iterations");
	if (command_given("runs"))
		command_misused(&command, "benchmarks in Go run as often as -count says, not -n");
	if (bench_command_go_test(argv) && !bench_command_has(argv, "bench"))
		command_misused(&command, "'%s test' runs no benchmark without -bench", argv[0]);
}

/* Print lines of benchmarks.  Return the exit status of a Go test binary; 0 for others. */
static int count_bench(char *const *argv, struct event_list *events, struct report *report)
{
	const char *unit = per.unit ? per.unit : "op";
	struct stat_heading heading = { .of = argv[0] };

	if (bench_command_go_test(argv))
		bench_exec(argv, events, &names, report);
	else if (bench_command_is_binary(argv))
		return stat_bench_binary(&counting, argv, stdout, report);
	else
		stat_bench_command(&counting, argv, runs, unit, per.unit ? per.number : 1, stdout,
				   &heading, report);
	report_failed(heading.failed, heading.runs, report);
	return 0;
}

int main(int argc, char **argv)
{
	struct event_list events = { 0 };
	struct report report;
	int status = 0;

	int first = command_begin(&command, &report, argc, argv);
	if (first == argc)
		command_misused(&command, "nothing to count: give a command");
	target.command = argv + first;
	if (bench && is_go(argv + first))
		check_go(argv + first);
	if (counting_choose(&events, &names, false, &report) &&
	    counting_begin(&counting, &events, &report)) {
		if (bench)
			status = count_bench(argv + first, &events, &report);
		else
			count_command(argv + first, &events, &report);
	}
	event_list_release(&events);
	int ended = command_end(&report);
	return status ? status : ended;
}
