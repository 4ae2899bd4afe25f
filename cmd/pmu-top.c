/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-top - show where the samples of a profile or stream are.
 *
 * Reads a stream, raw or resolved, a perf.data file, a pprof profile or folded text from FILE or
 * stdin, and writes a table to stdout: one line per function, with its own cost (flat) and its
 * cost with all that it calls (cum).  If a stream comes through a pipe, a terminal shows its last
 * seconds.
 */
#include "live/live.h"
#include "pprof/comments.h"
#include "pprof/rows-by.h"
#include "pprof/sample-type.h"
#include "record/words.h"
#include "show/diff-print.h"
#include "show/notes.h"
#include "show/screen.h"
#include "tool/command.h"

#include <stdlib.h>
#include <unistd.h>

static bool by_cumulative, objects;
static uint64_t rows = 20, window = 10000000000;
static double min, min_call = 0.005;
static int format = TOP_TEXT;		/* enum top_format */
static const struct top_writer *writer;	/* of FORMAT */
static int bars_are = BARS_AUTO;	/* enum bars_how */
static const char *type, *by, *asked;		/* ASKED: labels of a stream */
static struct top_how how;
static struct word_list ratios;
static struct ratio_columns columns;

static const struct command_option options[] = {
	{ 0, "cum", NULL, "sort by cumulative cost: functions with all that they call",
	  SETS_FLAG(by_cumulative) },
	{ 'n', "rows", "COUNT", "show COUNT functions", SETS_COUNT(rows) },
	{ 't', "type", "TYPE", "show this sample type, such as samples", SETS_TEXT(type) },
	{ 0, "by", "WHAT", "show objects, files, lines, or a label: pid, label:NAME, ...",
	  SETS_TEXT(by) },
	{ 0, "objects", NULL, "show the object that each function is in", SETS_FLAG(objects) },
	{ 0, "tree", NULL, "show the callers and callees of each function", SETS_FLAG(how.calls) },
	{ 0, "min", "SHARE", "leave out rows below SHARE, such as 0.5%", SETS_SHARE(min) },
	{ 0, "bars", "WHAT", "show error bars of this kind",
	  SETS_CHOICE(bars_are, bars_how_name) },
	{ 0, "ratio", "A/B", "show a ratio, too: A/B*1000=NAME, ipc, mpki, miss-rate, topdown",
	  SETS_LIST(ratios) },
	{ 0, "live", "TIME", "on a terminal show the last TIME of a stream", SETS_TIME(window),
	  .least = LIVE_WINDOW_MIN, .most = LIVE_WINDOW_MAX },
	{ 0, "to", "FORMAT", "write FORMAT", SETS_CHOICE(format, top_format_name),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = { VIEW_SPELLINGS, JSON_SPELLING, { 0 } };

static const struct command command = {
	.name = "pmu-top",
	.purpose = "show where the samples of a profile or stream are",
	.operands = "[FILE]",
	.options = options,
	.spellings = spellings,
	.reads_files = true,
};

static void parse_by(void)
{
	const struct rows_by rows_are = rows_by(by);

	how.by = rows_are.by;
	how.label = rows_are.label;
	asked = rows_are.of_stream;
	if (rows_are.stacks)
		command_misused(&command, "--by stack compares stacks, in pmu-diff; --tree shows "
				"callers");
	if (objects && (how.label || how.by == FRAMES_BY_OBJECT))
		command_misused(&command, "--objects is for functions, files and lines: leave out "
				"--by=%s", by);
	if (how.label && how.calls)
		command_misused(&command, "--tree shows calls, and a label has none: leave out "
				"--by=%s", by);
}

static void parse_options(void)
{
	parse_by();
	how.objects = objects;
	writer = &top_writers[format];
	if (!writer->is_for_people && !command_given("rows"))
		rows = UINT64_MAX;
	if (command_given("min"))
		min_call = min;
	else if (!writer->is_for_people)
		min_call = 0;
	how.waits = writer->is_for_people && !by && !how.calls;
	const char *wrong = ratios_wrong(&ratios, true);
	if (wrong)
		command_misused(&command, "--ratio takes %s, or " RATIOS_TOPDOWN ", not '%s'",
				ratio_request_form, wrong);
}

static bool add_ratio(void *rows_by, const struct decoded *d, struct ratio_column *c, size_t a,
		      size_t b)
{
	return ratios_add(c, d, a, b, rows_by);
}

/*
 * A table of waits says who waits, and for which system call; the kernel's functions do not say
 * that.
 */
static void prepare_waits(const struct decoded *d, size_t index)
{
	how.waits &= top_is_of_waits(decoded_string(d, d->type[index].type));
	by_cumulative |= how.waits;
}

/* Return the first shown row whose object has no names; NULL: none, or the object is unknown. */
static const struct top_row *nameless_row(const struct top *top)
{
	for (uint32_t i = 0; how.by != FRAMES_BY_OBJECT && i < top->count && i < rows; i++) {
		const struct top_row *row = &top->row[top->order[i]];
		if (row->addresses > 0 && !top_is_object(row, WORD_UNKNOWN_OBJECT))
			return row;
	}
	return NULL;
}

/* Advise what to do if names or types are missing. */
static void advise(const struct top *top, bool is_stream, struct report *report)
{
	const struct top_row *nameless = nameless_row(top);
	bool is_made = nameless && top_is_object(nameless, WORD_ANON_OBJECT);
	const char *no_names = nameless && nameless->addresses == 1 ? "has no name"
								    : "have no names";

	if (top->samples == 0)
		report_note(report, "the profile has no samples: what was profiled did nothing "
			    "that the event counts, or ended too soon, or no sample was selected");
	else if (!how.label && is_made)
		report_note(report, "%s %s: the program made this code while it ran; pmu-symbolize "
			    "says what its compiler needs", nameless->name, no_names);
	else if (!how.label && !top->has_functions && is_stream)
		report_note(report, "no address has a name; pmu-symbolize -v says what was "
			    "missing");
	else if (!how.label && !top->has_functions)
		report_note(report, "the profile has addresses only: put pmu-symbolize before "
			    "pmu-topprof");
	else if (!how.label && nameless)
		report_note(report, "%s %s: install the debug package of that file; "
			    "pmu-symbolize -v says what was missing", nameless->name, no_names);
}

/* Print TOP.  DIFF: the verdicts on a difference, or NULL. */
static void print(struct top *top, const char *name, const char *unit, bool is_stream,
		  const struct diff *diff, struct report *report)
{
	if (how.label && !top->has_label && top->samples > 0) {
		report_error(report, "no sample has the label '%s': %s", how.label,
			     is_stream && !strncmp(asked, "label:", strlen("label:"))
			     ? "pmu-sample --labels records labels of programs"
			     : "pmu-topprof --label sets labels");
		return;
	}
	struct top_view view = { .type = name, .unit = unit, .rows = rows, .min = min,
				 .min_call = min_call, .bars = (enum bars_how)bars_are,
				 .by_cumulative = by_cumulative, .ratio = columns.column,
				 .ratios = columns.count, .objects = objects, .diff = diff };

	view.columns = screen_columns();
	top_sort(top, by_cumulative);
	top_print(top, &view, writer, stdout);
	fflush(stdout);
	advise(top, is_stream, report);
}

/*
 * Compare the sides of D, if it is a difference, and set DIFF.  Return whether its verdicts are
 * known.
 */
static bool judge(struct diff *diff, const struct decoded *d, size_t index, struct report *report)
{
	*diff = (struct diff){ .how = { .fdr = DIFF_USUAL_FDR, .rows = how,
					.cumulative = by_cumulative && !how.label } };
	if (!diff_has_sides(d))
		return false;
	bool good = diff_judge(diff, NULL, 0, d, index);
	if (!good)
		report_note(report, "no verdicts on the changes: %s", diff->why_not);
	return good;
}

/* Print the changes as pmu-diff does: one difference, one answer. */
static void print_changes(const struct diff *diff)
{
	const struct diff_view view = { .rows = rows, .smallest = 0.03,
					.columns = screen_columns() };

	diff_print(diff, &view, stdout);
}

static bool holds_stream(const struct opened *o)
{
	return opened_kind(o) == OPEN_RAW || opened_kind(o) == OPEN_RESOLVED;
}

/* Return whether samples have a fixed period, with which a loop may be in step. */
static bool is_regular(const struct decoded *d)
{
	return d->period > 0 && !comments_have_jitter(d);
}

/* Report why there are no error bars, or what they do not cover. */
static void explain_bars(const struct bars *bars, const struct decoded *d, bool is_difference,
			 struct report *report)
{
	if (bars->why_not) {
		if (writer->is_for_people && !is_difference && d->samples > 0)
			report_note(report, "no error bars: %s", bars->why_not);
		return;
	}
	report_summary(report, "%s", bars_note(bars));
	if (is_regular(d))
		report_summary(report, "a loop in step with the period would not be seen in +/-; "
			       "--jitter prevents it");
}

/* Show D, which may be a difference, of the sample type with this INDEX. */
static void show(const struct decoded *d, size_t index, enum open_kind kind,
		 struct report *report)
{
	bool is_stream = kind == OPEN_RAW || kind == OPEN_RESOLVED;
	struct top top = { .rows = 0 };
	struct bars bars = { .why_not = NULL };
	struct diff diff = { .why_not = NULL };

	prepare_waits(d, index);
	top.how = how;
	/* numbers of folded text may be anything */
	if (bars_are == BARS_NONE || kind == OPEN_FOLDED) {
		top_add(&top, d, index);
	} else {
		top_add_with_bars(&top, d, index, &bars, NULL);
		bars_make(&bars);
		explain_bars(&bars, d, top.is_difference, report);
	}
	bool good = ratios_make(&columns, &ratios, d, add_ratio, &how, &how, report);
	if (good) {
		notes_report(d, true, report);
		bool judged = judge(&diff, d, index, report);
		if (judged && writer->is_for_people && !how.calls && ratios.count == 0)
			print_changes(&diff);
		else
			print(&top, decoded_string(d, d->type[index].type),
			      decoded_string(d, d->type[index].unit), is_stream,
			      judged ? &diff : NULL, report);
	}
	diff_release(&diff);
	ratios_release(&columns);
	top_release(&top);
	bars_release(&bars);
}

static void show_once(struct opened *o, struct report *report)
{
	const struct open_options as = { .labels = asked,
					 .slices = bars_are == BARS_NONE ? 0 : 20,
					 .when_read = command_input_ended };
	struct decoded *d = opened_profile(o, &as);
	uint32_t index = d ? sample_type_find(d, type, NULL, report) : TABLE_NONE;

	if (index != TABLE_NONE)
		show(d, index, opened_kind(o), report);
	decoded_free(d);
	opened_free(o, false);
}

static void show_live(struct opened *o, struct report *report)
{
	how.objects = !how.label && how.by != FRAMES_BY_OBJECT;
	const struct live_options as = { .how = how, .stop = &command_stop,
		.labels = asked, .type = type, .min = min,
		.min_call = min_call, .window = window, .by_cumulative = by_cumulative };

	command_on_signals(SIGNALS_STOP);
	struct live_result result = live_show(o, &as, report);
	bool stopped = result.stopped;
	by_cumulative = result.by_cumulative;
	objects |= result.objects;
	if (result.type)
		print(&result.top, result.type, result.unit, true, NULL, report);
	live_result_release(&result);
	opened_free(o, stopped);
}

/* Return whether O is a live stream whose table goes to a terminal. */
static bool is_watched(const struct opened *o)
{
	return opened_is_live(o) && holds_stream(o) && writer->is_for_people &&
	       isatty(STDOUT_FILENO);
}

int main(int argc, char **argv)
{
	struct report report;

	command_begin(&command, &report, argc, argv);
	parse_options();
	const char *input = command_input(&command);
	command_spare_inputs(&command, NULL, &input, 1);
	command_on_signals(SIGNALS_END_BUT_ONE);
	struct opened *o = opened_new(input, &report);
	if (o && is_watched(o))
		show_live(o, &report);
	else if (o)
		show_once(o, &report);
	return command_end(&report);
}
