/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-data - show which data a program accesses, and where accesses cost time.
 *
 * Reads a stream, raw or resolved, or a perf.data file, whose samples have data addresses, from
 * FILE or stdin.  Writes a table to stdout: by variable, by cache line, by where the data was
 * found, or by thread.
 */
#include "access/access-stream.h"
#include "access/accesses.h"
#include "aggregate/outputs.h"
#include "show/access-print.h"
#include "show/screen.h"
#include "tool/command.h"
#include "tool/selection-options.h"

static int by = ACCESS_BY_OBJECT, format = ACCESS_TEXT;
static bool latency;
static const char *file;
static struct selection selection = SELECTION_ALL;

static const struct command_option options[] = {
	{ 0, "by", "WHAT", "a row for each",
	  SETS_CHOICE(by, access_by_name) },
	{ 0, "latency", NULL, "show percentiles of the latency in each row", SETS_FLAG(latency) },
	SELECTION_OPTIONS(selection),
	{ 0, "to", "FORMAT", "write FORMAT", SETS_CHOICE(format, access_format_name),
	  .group = GROUP_FILES },
	{ 'o', "output", "FILE", "write the profile of --to pprof to FILE", SETS_TEXT(file),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = { JSON_SPELLING, { 0 } };

static const struct command command = {
	.name = "pmu-data",
	.purpose = "show which data a program accesses, and where accesses cost time",
	.operands = "[FILE]",
	.options = options,
	.spellings = spellings,
	.reads_files = true,
};

#define NO_ADDRESSES \
	"no sample has a data address: record them with pmu-sample --record data, and " \
	"page-faults, mem:ADDRESS or an event of loads and stores"

/* Report what the stream lacks for what was asked.  Return whether it has enough. */
static bool check_facts(const struct access_facts *f, struct report *report)
{
	if (f->samples == 0 && report->status)
		return false;	/* the damage that was reported is the reason */
	if (f->samples == 0 && f->without == 0)
		report_error(report, "no sample was selected, or the stream has none");
	else if (f->samples == 0)
		report_error(report, NO_ADDRESSES);
	else if (by == ACCESS_BY_SOURCE && !f->has_sources)
		report_error(report, "no sample says where its data was found: this takes a "
			     "precise event of loads or stores, on a CPU that has one");
	else if (latency && !f->has_weights)
		report_error(report, "--latency: no sample has a latency: this takes a precise "
			     "event of loads or stores, on a CPU that has one");
	else
		return true;
	return false;
}

/* Threads contend for a line only if one of them stores to it.  Without stores, nobody knows. */
static void advise(const struct accesses *a, struct report *report)
{
	if (by == ACCESS_BY_LINE && a->all.stores == 0 && a->all.elsewhere == 0)
		report_note(report, "no sample is known to be a store: record stores, by "
			    "mem-stores or mem:ADDRESS/8:w");
}

static void show(struct opened *o, struct report *report)
{
	struct access_stream *in = access_stream_new(o, &selection, report);
	struct accesses accesses;
	struct access_sample access;

	if (!in)
		return;
	accesses_init(&accesses, &(struct accesses_how){
		.by = (enum access_by)by, .weights = latency || by == ACCESS_BY_SOURCE });
	while (access_stream_next(in, &access)) {
		if (accesses.all.samples == 0)
			accesses.how.line = access_stream_line(in);
		accesses_add(&accesses, &access);
	}
	command_input_ended();
	const struct access_view view = {
		.facts = access_stream_facts(in), .columns = screen_columns(),
		.rows = format == ACCESS_TEXT ? 20 : UINT64_MAX };
	if (selection_check_event(&selection, access_stream_events(in), report) &&
	    check_facts(view.facts, report)) {
		access_print(&accesses, &view, (enum access_format)format, stdout);
		fflush(stdout);
		advise(&accesses, report);
	}
	accesses_release(&accesses);
	access_stream_free(in);
}

/* Write a profile in which the data is the leaf of each stack. */
static void write_profile(struct opened *o, const char *input, struct report *report)
{
	const struct collect_options how = { .selection = selection, .data_frames = true,
					     .only_data = true, .slices = 20,
					     .slice_stacks = 100000 };
	struct outputs outputs = { .report = report, .input = input };
	struct output out;
	struct collect c;
	const char *wrong;

	struct stream_reader *in = opened_stream(o);
	if (!in || !collect_init(&c, &how, report, &wrong))
		return;
	command_output_whole(&command, &out, file, false, report);
	outputs.single = &out;
	collect_stream(&c, in, outputs_write, &outputs);
	if (selection_check_event(&selection, stream_events(in), report) && c.samples == 0 &&
	    !report->status)
		report_error(report, NO_ADDRESSES);
	if (c.samples == 0)
		output_discard(&out);
	output_close(&out);
	stream_close(in);
	collect_release(&c);
}

/* Report why O, which is not a stream, cannot be used. */
static void refuse(struct opened *o, const char *input, struct report *report)
{
	const struct open_options usual = { .labels = NULL };
	bool is_stdin = !strcmp(input, "-");
	struct decoded *d = opened_profile(o, &usual);

	if (d)
		report_error(report, "%s%s%s is a profile, which has no addresses of data: give "
			     "the stream that it was made from", is_stdin ? "" : "'",
			     is_stdin ? "standard input" : input, is_stdin ? "" : "'");
	decoded_free(d);
}

int main(int argc, char **argv)
{
	struct report report;

	command_begin(&command, &report, argc, argv);
	const char *input = command_input(&command);
	if (file && format != ACCESS_PPROF)
		command_misused(&command, "--output is for --to pprof: tables go to stdout");
	if (format == ACCESS_PPROF && (command_given("by") || latency))
		command_misused(&command, "--to pprof writes stacks, with the data as the leaf: "
				"leave out --by and --latency");
	command_spare_inputs(&command, file, &input, 1);
	command_on_signals(SIGNALS_END_BUT_ONE);
	struct opened *o = opened_new(input, &report);
	bool is_stream = o && (opened_kind(o) == OPEN_RAW || opened_kind(o) == OPEN_RESOLVED);
	if (is_stream && format == ACCESS_PPROF)
		write_profile(o, input, &report);
	else if (is_stream)
		show(o, &report);
	else if (o)
		refuse(o, input, &report);
	opened_free(o, false);
	return command_end(&report);
}
