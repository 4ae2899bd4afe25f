/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-diff - find the functions that changed between two groups of profiles.
 *
 * Reads profiles or streams of a base and of later runs, and writes a table to stdout: the
 * functions that grew, shrank, are new or gone, without differences that may be chance.  With
 * --run it records the profiles itself, by pmu-prof.
 */
#include "aggregate/open.h"
#include "base/progress.h"
#include "compose/profiled-runs.h"
#include "pprof/merge.h"
#include "pprof/rows-by.h"
#include "pprof/sample-type.h"
#include "show/diff-print.h"
#include "show/notes.h"
#include "show/screen.h"
#include "tool/command.h"

#include <math.h>
#include <stdlib.h>

enum { EXIT_CHANGED = 3 };

/* What --fail-if tests. */
enum gate { GATE_NONE, GATE_ANY, GATE_TOTAL, GATE_FUNCTION };

static struct word_list bases;
static const char *type, *by, *output, *labels;
static bool one_run, waits;
static int format;
static uint64_t rows = 20, runs;
static const char *keep;
static double smallest = 0.03;
static struct diff diff = { .how.fdr = DIFF_USUAL_FDR };
static struct { enum gate gate; double limit; } fail_if;
static struct { enum diff_per per; const char *text; double units; } per;

static const char *parse_per(const char *text, void *value)
{
	const char *equals = strchr(text, '=');
	char *end;

	(void)value;
	per.text = text;
	if (!strcmp(text, "run")) {
		per.per = DIFF_PER_RUN;
	} else if (!strcmp(text, "second")) {
		per.per = DIFF_PER_SECOND;
	} else if (!strcmp(text, "share")) {
		per.per = DIFF_PER_SHARE;
	} else if (equals && equals > text) {
		per.per = DIFF_PER_UNIT;
		per.units = strtod(equals + 1, &end);
		return *end || end == equals + 1 || !(per.units > 0) || isinf(per.units)
			? "the number after '=' is not above 0" : NULL;
	} else {
		return "no such unit";
	}
	return NULL;
}

static const char *parse_fail_if(const char *text, void *value)
{
	const char *at = text;
	char *end;

	(void)value;
	fail_if.gate = GATE_ANY;
	if (!strncmp(text, "total:", 6)) {
		fail_if.gate = GATE_TOTAL;
		at += 6;
	} else if (!strncmp(text, "function:", 9)) {
		fail_if.gate = GATE_FUNCTION;
		at += 9;
	}
	fail_if.limit = strtod(at, &end) / 100;
	return *at != '+' || end == at || strcmp(end, "%") || !(fail_if.limit >= 0) ||
	       isinf(fail_if.limit) ? "no limit" : NULL;
}

enum { TO_TEXT, TO_JSON };
static const char *const formats[] = { [TO_TEXT] = "text", [TO_JSON] = "json", NULL };

#define DECISION "What counts as a change"

static const struct command_option options[] = {
	{ 'b', "base", "FILE", "a run of the base; may be repeated: all operands are later runs",
	  SETS_LIST(bases) },
	{ 0, "run", "N", "run two commands in turns, N times each under pmu-prof, and compare",
	  SETS_COUNT(runs), .least = 2, .most = 1000 },
	{ 0, "keep", "DIR", "keep the profiles of --run in DIR", SETS_TEXT(keep),
	  .needs = "run" },
	{ 0, "waits", NULL, "record what makes threads wait in --run, and compare that",
	  SETS_FLAG(waits), .needs = "run" },
	{ 't', "type", "TYPE", "compare this sample type, such as samples", SETS_TEXT(type) },
	{ 0, "per", "WHAT", "compare values per run, second, share, or UNIT=N in each run",
	  PARSED_BY(parse_per, per, "run, second, share, or UNIT=NUMBER") },
	{ 0, "by", "WHAT", "compare functions, objects, files, lines, stacks, or label:NAME",
	  SETS_TEXT(by) },
	{ 0, "cum", NULL, "compare functions including all functions that they call",
	  SETS_FLAG(diff.how.cumulative) },
	{ 0, "fdr", "SHARE", "false discovery rate: share of reported changes that are false",
	  SETS_SHARE(diff.how.fdr), .group = DECISION },
	{ 0, "smallest", "SHARE", "print how many runs or samples would find a change of SHARE",
	  SETS_SHARE(smallest), .group = DECISION },
	{ 0, "paired", NULL, "compare the first run of both sides, the second, and so on",
	  SETS_FLAG(diff.how.paired), .group = DECISION },
	{ 'n', "rows", "COUNT", "show COUNT functions of each group", SETS_COUNT(rows) },
	{ 0, "fail-if", "LIMIT", "exit 3 if a function or the total grew more: +2%, total:+2%",
	  PARSED_BY(parse_fail_if, fail_if, "+2%, total:+2% or function:+2%"),
	  .group = DECISION },
	{ 0, "one-run", NULL, "let --fail-if test one run on each side", SETS_FLAG(one_run),
	  .needs = "fail-if", .group = DECISION },
	{ 0, "to", "FORMAT", "write a table, or JSON with all functions",
	  SETS_CHOICE(format, formats), .group = GROUP_FILES },
	{ 'o', "output", "FILE", "also write the difference as a profile", SETS_TEXT(output),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = { VIEW_SPELLINGS, JSON_SPELLING, { 0 } };

static const struct command command = {
	.name = "pmu-diff",
	.purpose = "find the functions that changed between profiles",
	.operands = "{BASE AFTER | -b BASE... AFTER... | --run N 'OLD COMMAND' 'NEW COMMAND'}",
	.options = options,
	.spellings = spellings,
};

static void parse_by(void)
{
	const struct rows_by rows_are = rows_by(by);

	diff.how.rows = (struct top_how){ .by = rows_are.by, .stacks = rows_are.stacks,
					  .label = rows_are.label };
	labels = rows_are.of_stream;
	if (diff.how.cumulative && (rows_are.stacks || rows_are.label))
		command_misused(&command, "--cum is for functions, not for %s",
				rows_are.stacks ? "stacks" : "labels");
}

static void parse_options(void)
{
	parse_by();
	diff.how.per = per.per;
	diff.how.units = per.units;
	diff.how.limit = fail_if.limit;
	if (!(diff.how.fdr > 0 && diff.how.fdr < 1))
		command_misused(&command, "--fdr takes a share between 0 and 1");
	if (!(smallest > 0))
		command_misused(&command, "--smallest takes a share above 0");
}

/* Add FILE to SIDE, and to SUM unless that is NULL.  Return false (reported) on failure. */
static bool add(enum diff_side side, const char *file, struct merge *sum, struct report *report)
{
	const struct open_options as = { .labels = labels, .slices = 20 };
	struct decoded *d = open_profile(file, &as, report);
	uint32_t index = d ? sample_type_find(d, type, file, report) : TABLE_NONE;
	bool good = index != TABLE_NONE && diff_add(&diff, side, d, file, index, report);

	if (d)
		notes_report(d, false, report);
	if (good && sum)
		good = merge_add(sum, d, side == DIFF_BASE ? MERGE_BASE : MERGE_SUM, file, report);
	decoded_free(d);
	return good;
}

static void write_difference(struct merge *sum, struct report *report)
{
	struct output out;

	command_output_whole(&command, &out, output, false, report);
	merge_write(sum, PACK_GZIP, &out);
	output_close(&out);
}

static void print(void)
{
	struct diff_view view = { .rows = rows, .smallest = smallest,
				  .columns = screen_columns(),
				  .unit = per.per == DIFF_PER_UNIT ? per.text : NULL };

	if (format == TO_JSON)
		diff_print_json(&diff, &view);
	else
		diff_print(&diff, &view, stdout);
}

/* Return whether something grew significantly above the limit of --fail-if. */
static bool is_above(void)
{
	bool above = fail_if.gate != GATE_FUNCTION && diff.total.is_above;

	for (size_t i = 0; i < diff.rows && fail_if.gate != GATE_TOTAL; i++)
		above |= diff.row[i].is_above;
	return above;
}

static void warn(struct report *report)
{
	const struct diff_run *twice = diff_repeated(&diff);

	if (twice)
		report_note(report, "'%s' was given twice for one side: equal runs make intervals "
			    "too narrow", twice->file);
	if (!diff_is_single(&diff) && diff_is_ordered(&diff))
		report_note(report, "all runs of one side were recorded before the other side: a "
			    "machine that warms up or slows down looks like a change; run them in "
			    "turns");
}

/*
 * Read and compare all profiles.  Set *SUM to their difference, for --output, or to NULL.  Return
 * false if they cannot be compared: reported.
 */
static bool read_all(const char *const *after, size_t afters, struct merge **sum,
		     struct report *report)
{
	bool good = true;

	*sum = output ? merge_new() : NULL;
	for (size_t i = 0; i < bases.count && good; i++)
		good = add(DIFF_BASE, bases.item[i], *sum, report);
	for (size_t i = 0; i < afters && good; i++)
		good = add(DIFF_AFTER, after[i], *sum, report);
	return good && diff_make(&diff, report);
}

/* Compare the files, and print the result.  Return whether a change is above --fail-if. */
static bool compare(const char *const *after, size_t afters, struct report *report)
{
	struct merge *sum;
	bool good = read_all(after, afters, &sum, report);

	if (good && fail_if.gate && diff_is_single(&diff) && !one_run)
		command_misused(&command, "--fail-if with one run on each side cannot know how "
				"much runs differ: give several runs, or --one-run");
	if (good) {
		print();
		warn(report);
	}
	if (good && sum)
		write_difference(sum, report);
	else if (sum)
		merge_free(sum);
	return good && fail_if.gate && is_above();
}

/* Run the two commands in turns, and compare the runs. */
static bool compare_commands(char *const commands[2], struct report *report)
{
	struct profiled_runs made = { .waits = waits };
	bool above = false;

	if (profiled_runs_make(&made, commands, runs, keep, &command_stop, report)) {
		bases = (struct word_list){ .item = (const char **)made.profile[0],
					       .count = runs };
		above = compare((const char *const *)made.profile[1], runs, report);
	}
	profiled_runs_release(&made);
	return above;
}

/* Compare the files of --base with the operands, or two operands with each other. */
static bool compare_files(char *const *operand, size_t operands, struct report *report)
{
	const char *const *after = (const char *const *)operand;

	if (bases.count == 0 && operands == 2) {
		bases = (struct word_list){ .item = (const char **)(uintptr_t)operand,
					       .count = 1 };
		after++;
		operands--;
	}
	if (bases.count == 0 || operands == 0)
		command_misused(&command, "needs two profiles, or -b FILE for each run of the base "
				"and the runs after it");
	command_spare_inputs(&command, output, bases.item, bases.count);
	command_spare_inputs(&command, output, after, operands);
	command_on_signals(SIGNALS_END);
	return compare(after, operands, report);
}

int main(int argc, char **argv)
{
	struct report report;
	bool above;

	int first = command_begin(&command, &report, argc, argv);
	parse_options();
	progress_allow(&report);
	if (runs > 0 && (argc - first != 2 || bases.count > 0))
		command_misused(&command, "--run takes two commands, each as one word");
	if (runs > 0)
		above = compare_commands(argv + first, &report);
	else
		above = compare_files(argv + first, (size_t)(argc - first), &report);
	diff_release(&diff);
	int status = command_end(&report);
	return status ? status : above ? EXIT_CHANGED : 0;
}
