/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-stat - count events of a command, processes or the whole machine, without samples.
 *
 * Runs a command once or several times, counts events from its exec to its exit, and writes a table
 * to stdout: the mean of each event, and how sure it is.  Or counts what runs already.
 */
#include "base/descriptor.h"
#include "base/output.h"
#include "base/terminal.h"
#include "compose/counted-comparison.h"
#include "counting/bench-command.h"
#include "counting/bench-exec.h"
#include "counting/choice.h"
#include "counting/counting-rows.h"
#include "counting/counting.h"
#include "counting/derived.h"
#include "results/stat-bench.h"
#include "results/stat-print.h"
#include "tool/command.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_CHANGED = 3 };

static struct word_list names;
static struct event_list events;
static uint64_t runs, warmup;
static bool detail, exit_status, bench, vs;
static int format = STAT_TEXT, by;
static const char *file, *cgroup_path, *save;
static struct output saved = { .fd = -1 };
static struct { char *unit; double number; } per;
static const char *metrics_file;
static struct user_metrics metrics;
static struct target target;
static struct counting counting = { .target = &target, .stop = &command_stop };
static struct counting_runs counted;
static struct counted_comparison comparison = { .commands.counting = &counting };

static const char *const formats[] = { [STAT_TEXT] = "text", [STAT_CSV] = "csv",
				       [STAT_JSON] = "json", NULL };
static const char *const units[] = { [BY_NOTHING] = "none", [BY_THREAD] = "thread",
				     [BY_CPU] = "cpu", [BY_CORE] = "core", [BY_NODE] = "node",
				     NULL };

#define TARGET "What to count, and when"
#define COMPARISON "What changed"
#define OPERATION "The cost of one operation"

static const char *parse_per(const char *text, void *value)
{
	const char *equals = strchr(text, '=');
	char *end;

	(void)value;
	if (!equals || equals == text)
		return text;
	for (const char *at = text; at < equals; at++)
		if (!isgraph((unsigned char)*at))
			return text;
	per.number = strtod(equals + 1, &end);
	if (*end || end == equals + 1 || !(per.number > 0) || isinf(per.number))
		return text;
	free(per.unit);
	per.unit = strndup(text, (size_t)(equals - text));
	return NULL;
}

static const char *parse_fail_if(const char *text, void *value)
{
	return counting_gates_add(value, text) ? NULL : text;
}

static const struct command_option options[] = {
	{ 'e', "event", "EVENT", "count EVENT (see pmu-event(7)); may be repeated",
	  SETS_LIST(names) },
	{ 'n', "runs", "RUNS", "run the command RUNS times", SETS_COUNT(runs), .least = 1,
	  .most = 100000 },
	{ 0, "detail", NULL, "count more events: caches, TLBs, kinds of page faults",
	  SETS_FLAG(detail), .excludes = "event" },
	{ 'p', "pid", "PID[,PID]", "count processes, with all their threads",
	  PARSED_BY(target_parse_pids, target, TARGET_PIDS_TAKES) },
	{ 'a', "all", NULL, "count everything that runs", SETS_FLAG(target.system) },
	{ 'd', "duration", "TIME", "stop after TIME (10, 500ms, 2m)",
	  SETS_TIME(counting.duration), .least = 1 },
	{ 0, "interval", "TIME", "print what was counted in each TIME (1, 500ms)",
	  SETS_TIME(counting.interval), .least = 1000000 },
	{ 0, "by", "UNIT", "count each UNIT apart", SETS_CHOICE(by, units) },
	{ 0, "cgroup", "PATH", "count the processes in a cgroup", SETS_TEXT(cgroup_path),
	  .group = TARGET },
	{ 0, "metrics", "FILE", "show each NAME = EXPRESSION of events in FILE, too",
	  SETS_TEXT(metrics_file), .group = TARGET, .excludes = "bench" },
	{ 0, "warmup", "RUNS", "first run the command RUNS times without counting",
	  SETS_COUNT(warmup), .most = 100000, .group = TARGET },
	{ 0, "vs", NULL, "compare commands, each quoted as one word, with the first of them",
	  SETS_FLAG(vs), .group = COMPARISON, .excludes = "bench" },
	{ 0, "base", "FILE", "compare with the runs in FILE, of --save or -j",
	  SETS_TEXT(comparison.base), .group = COMPARISON, .excludes = "bench" },
	{ 0, "save", "FILE", "also save all runs in FILE, for --base", SETS_TEXT(save),
	  .group = COMPARISON, .excludes = "bench" },
	{ 0, "fail-if", "LIMIT", "exit 3 if a count grew more: instructions:+1%; may be repeated",
	  PARSED_BY(parse_fail_if, comparison.gates,
		    "limits such as instructions:+1%, separated by commas"),
	  .group = COMPARISON, .needs = "vs base" },
	{ 0, "bench", NULL, "print lines in the format of Go's benchmarks, for benchstat",
	  SETS_FLAG(bench), .group = OPERATION },
	{ 0, "per", "UNIT=N", "divide values by N, and name the unit, as in op=1000000",
	  PARSED_BY(parse_per, per, "a word, = and a number above 0, such as op=1000"),
	  .group = OPERATION },
	{ 0, "exit-status", NULL, "exit with the command's status", SETS_FLAG(exit_status),
	  .group = GROUP_FILES },
	{ 0, "to", "FORMAT", "write a table, CSV, or JSON with all runs",
	  SETS_CHOICE(format, formats), .group = GROUP_FILES },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", SETS_TEXT(file),
	  .group = GROUP_FILES },
	{ 0 }
};

/* perf stat's spellings. */
static const struct command_spelling spellings[] = {
	JSON_SPELLING,
	{ 'r', "repeat", .argument = true, .means = "runs" },
	{ .name = "per-thread", .means = "by", .as = "thread" },
	{ .name = "per-cpu", .means = "by", .as = "cpu" },
	{ 'A', "no-aggr", .means = "by", .as = "cpu" },
	{ .name = "per-core", .means = "by", .as = "core" },
	{ .name = "per-node", .means = "by", .as = "node" },
	{ .name = "all-cpus", .means = "all" },
	{ 'x', "field-separator", .argument = true, .instead = "use --to csv" },
	{ 'I', "interval-print", .argument = true,
	  .instead = "use --interval TIME, as in --interval 1s" },
	{ .name = "timeout", .argument = true, .instead = "use -d TIME, as in -d 500ms" },
	{ 't', "tid", .argument = true, .instead = "count the process: -p PID --by thread" },
	{ .letter = 'd', .instead = "perf's -d is --detail" },
	{ .name = "detailed", .means = "detail" },
	{ .name = "json-output", .means = "to", .as = "json" },
	{ .letter = 'B', .name = "big-num" }, { .name = "scale" }, { .name = "interval-clear" },
	{ 'C', "cpu", .argument = true, .instead = "-a --by cpu has each CPU" },
	{ .letter = 'G', .argument = true, .instead = "use --cgroup PATH" },
	{ 'i', "no-inherit", .instead = "add the term no-inherit to the events, as in "
	  "-e cycles/no-inherit/" },
	{ 'g', "group", .instead = "write the group in braces, as in -e '{cycles,instructions}'" },
	{ .name = "all-user", .instead = "add the modifier u to the events, as in -e cycles:u" },
	{ .name = "all-kernel", .instead = "add the modifier k to the events, as in -e cycles:k" },
	{ .name = "per-socket", .instead = "use --by core or --by node" },
	{ .name = "append", .instead = "write another file" },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-stat",
	.purpose = "count events of a command, processes or the whole machine",
	.operands = "{[--] COMMAND [ARG]... | -p PID | -a | ... | --vs 'OLD' 'NEW'...}",
	.options = options,
	.spellings = spellings,
	.runs_command = true,
};

/* Complete the target that options name.  OPERAND: a command, or NULL.  False: reported. */
static bool complete_target(char *const *operand, struct report *report)
{
	int kinds = (target.pids > 0) + target.system + (cgroup_path != NULL);

	if (!kinds && !operand)
		command_misused(&command, "nothing to count: give a command or -p PID");
	if (cgroup_path && !*cgroup_path)
		command_misused(&command, "the path of --cgroup is empty");
	if (kinds > 1)
		command_misused(&command, "more than one kind of target");
	if (!kinds)
		target.command = operand;
	return !cgroup_path || target_set_cgroup(&target, cgroup_path, report);
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
	if (command_given("runs") || warmup)
		command_misused(&command, "benchmarks in Go run as often as -count says: leave out "
				"-n and --warmup");
	if (bench_command_go_test(argv) && !bench_command_has(argv, "bench"))
		command_misused(&command, "'%s test' runs no benchmark without -bench", argv[0]);
}

/* Misuse: options without a meaning for benchmarks. */
static void check_bench(void)
{
	if (!target.command)
		command_misused(&command, "--bench needs a command");
	if (format != STAT_TEXT)
		command_misused(&command, "--bench has a format of its own: leave out --to");
	if (by || counting.interval || counting.duration)
		command_misused(&command, "--bench counts whole runs: leave out --by, --interval "
				"and -d");
	if (is_go(target.command))
		check_go(target.command);
}

static void check_options(size_t operands)
{
	if (!runs)
		runs = vs || comparison.base || save ? 10 : 1;
	counting.by = (enum counting_by)by;
	counting.quiet_status = exit_status;
	if (counting.by > BY_THREAD && !target_is_by_cpu(&target))
		command_misused(&command, "--by %s needs -a or --cgroup", units[by]);
	if (counting.by == BY_THREAD && !target.pids)
		command_misused(&command, "--by thread needs -p");
	if (!operands && (runs > 1 || warmup))
		command_misused(&command, "-n and --warmup need a command");
	if (counting.interval && (runs > 1 || warmup))
		command_misused(&command, "--interval is for one run");
	if (counting.by == BY_THREAD && runs > 1)
		command_misused(&command, "--by thread is for one run");
	if ((vs || comparison.base || save) && !target.command)
		command_misused(&command, "--vs, --save and --base are for commands");
	if ((vs || comparison.base) && exit_status)
		command_misused(&command, "--exit-status is for one command");
	if (vs && !comparison.base && operands < 2)
		command_misused(&command, "--vs takes two commands or more, each as one word");
	if ((vs || comparison.base || save) && (by || counting.interval || counting.duration))
		command_misused(&command, "--vs, --base and --save are for whole runs: leave out "
				"--by, --interval and -d");
	for (size_t i = 0; vs && i < operands; i++)
		if (!target.command[i][strspn(target.command[i], " \t\n")])
			command_misused(&command, "a command of --vs is empty");
	if (save && file && !strcmp(save, file))
		command_misused(&command, "-o and --save are the same file");
	if (per.unit && counting.interval)
		command_misused(&command, "--per divides whole runs: leave out --interval");
	if (bench)
		check_bench();
}

/*
 * Let what is printed go to FILE, and the command's stdout to where it would go without us; if that
 * is where we print, to stderr.  IS_CLOSED: we have no stdout.  False: reported.
 */
static bool take_output(struct output *out, bool is_closed, struct report *report)
{
	bool to_file = file && strcmp(file, "-");

	if (is_closed && !to_file) {
		report_error(report, "standard output is closed: use -o FILE");
		return false;
	}
	counting.command_fd = fcntl(to_file ? STDOUT_FILENO : STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (!to_file)
		return true;
	output_open(out, file, report);
	return out->fd >= 0 && dup2(out->fd, STDOUT_FILENO) >= 0;
}

/* Open the file of --save, if it was given.  False: reported. */
static bool open_saved(struct report *report)
{
	if (save)
		output_open_whole(&saved, save, false, report);
	return !save || saved.fd >= 0;
}

/* Leave the file of --save as it was if nothing has been saved. */
static void leave_saved(void)
{
	if (saved.fd < 0)
		return;
	output_discard(&saved);
	output_close(&saved);
}

/* Return what is counted, for people; NULL: the command. */
static const char *target_name(char text[64])
{
	if (target.system)
		return "all CPUs";
	if (cgroup_path)
		return cgroup_path;
	if (target.pids == 1)
		snprintf(text, 64, "process %d", target.pid[0]);
	else
		snprintf(text, 64, "%zu processes", target.pids);
	return target.pids ? text : NULL;
}

/* Make all rows of COUNT runs. */
static void make_rows(struct counting_rows *rows, const struct counting_run *run, size_t count)
{
	counting_rows_add_events(rows, &events, run, count);
	counting_rows_add_derived(rows, &events, &metrics);
	counting_rows_add_times(rows, run, count, target.command);
	if (per.unit)
		counting_rows_divide(rows, per.number);
}

/* What stat_print() prints. */
struct printed {
	const struct counting_rows *rows;
	const struct stat_heading *heading;
};

static void print_json(const void *printed)
{
	const struct printed *p = printed;

	stat_print(STAT_JSON, p->rows, p->heading);
}

/* Print what the runs counted. */
static void print_runs(struct stat_heading *heading, struct report *report)
{
	struct counting_rows rows = { 0 };

	heading->runs = counted.count;
	heading->failed = counted.failed;
	heading->stopped = counted.stopped;
	heading->wall = counted.count ? counted.run[counted.count - 1].wall : 0;
	make_rows(&rows, counted.run, counted.count);
	if (save && (counted.stopped || !counted.count))
		report_error(report, "the command was stopped before its end: '%s' stays as it was",
			     save);
	else if (save)
		stat_save(&saved, print_json, &(struct printed){ &rows, heading });
	stat_print((enum stat_format)format, &rows, heading);
	counting_rows_release(&rows);
}

/* Count, and print.  COMMAND: NULL, or ends with NULL. */
static void count(char *const *operand, size_t operands, struct report *report)
{
	char name[64];
	struct stat_heading heading = {
		.command = { .item = (const char **)(uintptr_t)operand, .count = operands },
		.target = target_name(name), .per = per.unit, .per_number = per.number,
	};
	struct stat_lines lines = { .format = (enum stat_format)format, .events = &events,
				    .heading = &heading,
				    .is_live = !operand && terminal_can_erase(STDOUT_FILENO),
				    .by_value = counting.by == BY_THREAD };

	counting.on_interval = stat_print_interval;
	counting.context = &lines;
	bool good = counting_runs_make(&counting, operand, warmup, runs, &counted, report);
	bool has_lines = counting.interval && (format != STAT_TEXT || !lines.is_live);
	stat_erase_lines(&lines);
	if (good && !has_lines)
		print_runs(&heading, report);
	if (fflush(stdout) && file && strcmp(file, "-")) {
		report_failure(report, "cannot write to '%s'", file);
		__fpurge(stdout);
		clearerr(stdout);
	}
}

/* Print lines of benchmarks.  Return the exit status of a Go test binary; 0 for others. */
static int count_bench(char *const *argv, struct report *report)
{
	const char *unit = per.unit ? per.unit : "op";

	if (bench_command_starts_go_test(argv))
		report_note(report, "'%s' is not 'go test': the whole command is counted, with the "
			    "compiler; to count benchmarks, let '%s' start pmu-stat", argv[0],
			    argv[0]);
	if (bench_command_go_test(argv)) {
		counting_notes_print(&counting.notes, report);
		bench_exec(argv, &events, &names, report);
	} else if (bench_command_is_binary(argv)) {
		return stat_bench_binary(&counting, argv, stdout, report);
	} else if (counting_runs_make(&counting, argv, warmup, runs, &counted, report)) {
		stat_bench_runs(&counted, &events, argv[0], unit, per.unit ? per.number : 1,
				stdout);
	}
	return 0;
}

/* Compare OPERANDS: each is a command line, or all are the words of one command. */
static bool compare(char *const *operand, size_t operands, struct report *report)
{
	struct counted_commands *commands = &comparison.commands;
	bool exceeded = false;

	commands->runs = runs;
	commands->warmup = warmup;
	commands->make_rows = make_rows;
	comparison.format = (enum stat_format)format;
	comparison.save = save ? &saved : NULL;
	comparison.per = per.unit;
	comparison.per_number = per.number;
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

/* Choose the events that are asked for, that metrics need, or the usual ones.  False: reported. */
static bool choose_events(struct report *report)
{
	if (metrics_file && !metrics_read(&metrics, metrics_file, report))
		return false;
	return ((metrics_file && names.count == 0 && !detail) ||
		counting_choose(&events, &names, detail, &counting.notes, report)) &&
	       (!metrics_file || metrics_choose(&metrics, &events, report));
}

int main(int argc, char **argv)
{
	struct report report;
	struct output out = { .fd = -1 };
	int status = 0;
	bool is_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;

	descriptor_fill(STDOUT_FILENO, O_WRONLY);	/* no other file must get its number */
	int first = command_begin(&command, &report, argc, argv);
	size_t operands = (size_t)(argc - first);
	char *const *operand = operands ? argv + first : NULL;
	bool good = complete_target(operand, &report);
	check_options(operands);
	if (take_output(&out, is_closed, &report) && good && open_saved(&report) &&
	    choose_events(&report) &&
	    counting_begin(&counting, &events, &report)) {
		if (bench)
			status = count_bench(operand, &report);
		else if (vs || comparison.base)
			status = compare(operand, operands, &report) ? EXIT_CHANGED : 0;
		else
			count(operand, operands, &report);
	}
	leave_saved();
	if (out.report)
		output_close(&out);
	event_list_release(&events);
	metrics_release(&metrics);
	target_release(&target);
	if (exit_status && !status)
		status = counted.status;
	counting_runs_release(&counted);
	int own = command_end(&report);
	return own && !bench ? own : status ? status : own;
}
