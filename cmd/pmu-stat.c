/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-stat - count events of a command, without samples.
 *
 * Runs a command once or several times, counts events from its exec to its exit, and writes a table
 * to stdout: the mean of each event, and how sure it is.
 */
#include "base/word-list.h"
#include "compose/counted-comparison.h"
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

enum { EXIT_CHANGED = 3 };

static struct word_list names;
static struct event_list events;
static uint64_t runs;
static bool bench, vs;
static struct { char *unit; double number; } per;
static struct target target;
static struct counting counting = { .target = &target, .stop = &command_stop,
				    .command_fd = STDERR_FILENO };
static struct counted_comparison comparison = { .commands.counting = &counting };

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

static const char *parse_fail_if(const char *text, void *value)
{
	return counting_gates_add(value, text) ? NULL : "no limit";
}

#define COMPARISON "What changed"
#define OPERATION "The cost of one operation"

static const struct command_option options[] = {
	{ 'e', "event", "EVENT", "count EVENT (see pmu-event(7)); may be repeated",
	  SETS_LIST(names) },
	{ 'n', "runs", "RUNS", "run the command RUNS times", SETS_COUNT(runs), .least = 1,
	  .most = 100000 },
	{ 0, "vs", NULL, "compare commands, each quoted as one word, with the first of them",
	  SETS_FLAG(vs), .group = COMPARISON, .excludes = "bench" },
	{ 0, "base", "FILE", "compare with the runs in FILE, which pmu-stat -j wrote",
	  SETS_TEXT(comparison.base), .group = COMPARISON, .excludes = "bench" },
	{ 0, "fail-if", "LIMIT", "exit 3 if a count grew more: instructions:+1%; may be repeated",
	  PARSED_BY(parse_fail_if, comparison.gates, "EVENT:+1%, or a list of these"),
	  .group = COMPARISON, .needs = "vs base" },
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
	.operands = "{[--] COMMAND [ARG]... | --vs 'OLD COMMAND' 'NEW COMMAND'...}",
	.options = options,
	.spellings = spellings,
	.runs_command = true,
};

static void report_failed(size_t failed, size_t all, struct report *report)
{
	if (failed)
		report_note(report, "%zu of %zu runs failed", failed, all);
}

static void make_rows(struct counting_rows *rows, const struct counting_run *run, size_t count)
{
	counting_rows_add_events(rows, &events, run, count);
	counting_rows_add_times(rows, run, count, true);
	if (per.unit)
		counting_rows_divide(rows, per.number);
}

/* Run COMMAND as often as was asked for, and print the table. */
static void count_command(char *const *argv, struct report *report)
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
		make_rows(&rows, run, heading.runs);
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
static int count_bench(char *const *argv, struct report *report)
{
	const char *unit = per.unit ? per.unit : "op";
	struct stat_heading heading = { .of = argv[0] };

	if (bench_command_go_test(argv))
		bench_exec(argv, &events, &names, report);
	else if (bench_command_is_binary(argv))
		return stat_bench_binary(&counting, argv, stdout, report);
	else
		stat_bench_command(&counting, argv, runs, unit, per.unit ? per.number : 1, stdout,
				   &heading, report);
	report_failed(heading.failed, heading.runs, report);
	return 0;
}

/* Compare OPERANDS: each is a command line, or all are the words of one command. */
static bool compare(char *const *operand, size_t operands, struct report *report)
{
	struct counted_commands *commands = &comparison.commands;
	bool exceeded = false;

	commands->runs = runs;
	commands->make_rows = make_rows;
	if (vs)
		for (size_t i = 0; i < operands; i++)
			counted_commands_add_line(commands, operand[i]);
	else
		counted_commands_add_words(commands, operand, operands);
	if (counted_comparison_begin(&comparison, report))
		exceeded = counted_comparison_make(&comparison, report);
	counted_comparison_release(&comparison);
	return exceeded;
}

static void check_options(char *const *operand, size_t operands)
{
	if (!operands)
		command_misused(&command, "nothing to count: give a command");
	if (vs && !comparison.base && operands < 2)
		command_misused(&command, "--vs takes two commands or more, each as one word");
	if (bench && is_go(operand))
		check_go(operand);
	if (!runs)
		runs = vs || comparison.base ? 10 : 1;
}

int main(int argc, char **argv)
{
	struct report report;
	int status = 0;

	int first = command_begin(&command, &report, argc, argv);
	check_options(argv + first, (size_t)(argc - first));
	target.command = argv + first;
	if (counting_choose(&events, &names, false, &report) &&
	    counting_begin(&counting, &events, &report)) {
		if (bench)
			status = count_bench(argv + first, &report);
		else if (vs || comparison.base)
			status = compare(argv + first, (size_t)(argc - first), &report)
				 ? EXIT_CHANGED : 0;
		else
			count_command(argv + first, &report);
	}
	event_list_release(&events);
	int ended = command_end(&report);
	return ended && status == EXIT_CHANGED ? ended : status ? status : ended;
}
