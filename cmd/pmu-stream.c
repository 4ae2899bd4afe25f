/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-stream - show, check, select, join and convert streams.
 *
 * Reads a stream or a perf.data file (pmu-stream(5)) from FILE or stdin.  Counts or prints its
 * records, or writes a stream in pipe mode with all or selected samples, compressed or not.
 */
#include "base/progress.h"
#include "base/version.h"
#include "labels/label-join.h"
#include "resolved/resolved-check.h"
#include "show/describe.h"
#include "show/tally.h"
#include "stream/join.h"
#include "stream/perf-writer.h"
#include "stream/writer.h"
#include "tool/command.h"
#include "tool/selection-options.h"

#include <inttypes.h>

static bool stats, dump, check, cat;
static int level = -1;			/* of compression; 0: none; -1: not given */
static uint64_t head = UINT64_MAX;	/* samples to take; UINT64_MAX: all */
static const char *file;
static struct selection selection = SELECTION_ALL;

enum { TO_TEXT, TO_JSON, TO_PERF_DATA };
static const char *const formats[] = {
	[TO_TEXT] = "text", [TO_JSON] = "json", [TO_PERF_DATA] = "perf.data", NULL
};
static int format;

#define MODES "stats dump check"

static const struct command_option options[] = {
	{ 's', "stats", NULL, "count records, samples and losses, as without options",
	  SETS_FLAG(stats), .excludes = MODES },
	{ 'D', "dump", NULL, "print each record on a line", SETS_FLAG(dump), .excludes = MODES },
	{ 0, "check", NULL, "print nothing; the exit status says whether the stream is whole",
	  SETS_FLAG(check), .excludes = MODES },
	{ 0, "cat", NULL, "join all FILEs into one stream, in order of time", SETS_FLAG(cat) },
	{ 'n', "head", "COUNT", "stop after COUNT samples", SETS_COUNT(head),
	  .most = UINT64_MAX - 1 },
	SELECTION_OPTIONS(selection),
	{ 0, "to", "FORMAT", "count, print or write in FORMAT", SETS_CHOICE(format, formats),
	  .group = GROUP_FILES },
	{ 'z', "zstd", "[LEVEL]", "write the stream, compressed at LEVEL 1 (default) to 19; 0: not",
	  SETS_INTEGER(level), .most = 19, .implied = 1, .group = GROUP_FILES },
	{ 'o', "output", "FILE", "write the stream to FILE instead of stdout", SETS_TEXT(file),
	  .group = GROUP_FILES },
	{ 0 }
};

static const struct command_spelling spellings[] = {
	JSON_SPELLING,
	{ .name = "decompress", .means = "zstd", .as = "0" },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-stream",
	.purpose = "show, check, select, join and convert streams",
	.operands = "[FILE...]",
	.options = options,
	.spellings = spellings,
	.reads_files = true,
};

/* What to do with the records, and their counts. */
struct stream_work {
	struct stream_reader *in;
	struct report *report;
	struct output out;
	struct perf_writer *perf;	/* of --to perf.data; or NULL */
	bool writes;		/* writes the stream to OUT */
	bool selects;		/* options select samples */
	bool counts;		/* counts all records, and does nothing else */
	uint64_t head;		/* samples to go; UINT64_MAX: all */
	uint64_t first_time, last_time;	/* of the records used; 0: unknown */
	uint64_t read, used;	/* records */
	struct tally tally;
	struct resolved_check resolved;	/* of --check */
};

/* Use REC, if it is selected.  Return false if the rest of the stream is not needed. */
static bool take(struct stream_work *w, const struct record *rec)
{
	if (w->counts && rec->type == PERF_RECORD_SAMPLE) {
		w->used++;
		tally_add(&w->tally, w->in, rec);
		return true;
	}
	if (w->selects && record_is_resolved(rec->type)) {
		report_error(w->report, "samples are resolved already: select them before "
			     "pmu-symbolize");
		return false;
	}
	if (w->perf && record_is_resolved_sample(rec->type)) {
		report_error(w->report, "samples are resolved already, and perf.data files have "
			     "addresses: convert the stream before pmu-symbolize");
		output_discard(&w->out);
		return false;
	}
	if ((w->selects || w->head != UINT64_MAX) && !selection_keeps(&selection, w->in, rec))
		return true;
	if (rec->type == PERF_RECORD_SAMPLE && w->head != UINT64_MAX) {
		if (w->head == 0)
			return false;
		w->head -= !label_record_is(w->in, rec);
	}
	w->used += !rec->made;
	uint64_t time = w->writes ? stream_time(w->in, rec) : 0;	/* for write_end() */
	if (time)
		w->last_time = time;
	if (w->first_time == 0)
		w->first_time = w->last_time;
	/* describe_record() reports it itself */
	if (!dump && !stream_fits(w->in, rec) && w->writes)
		return true;
	if (w->writes && rec->type != RECORD_AUXTRACE)	/* the bytes after it were skipped */
		writer_record(&w->out, rec);
	else if (dump)
		describe_record(w->in, rec, format == TO_JSON);
	else if (!rec->made)
		tally_add(&w->tally, w->in, rec);
	return true;
}

/* The rest was not read: write the end that our recorder would have written. */
static void write_end(struct stream_work *w)
{
	uint64_t span[2] = { w->first_time, w->last_time };

	if (origin_is_ours(stream_origin(w->in)))
		writer_feature(&w->out, FEATURE_SAMPLE_TIME, span, sizeof(span));
}

static void run(struct stream_work *w)
{
	struct record rec;
	bool goes_on = true;

	if (check)
		resolved_check_begin(&w->resolved);
	if (w->in && w->writes)
		writer_header(&w->out);
	while (goes_on && !output_ended(&w->out) && stream_next(w->in, &rec)) {
		w->read += !rec.made;
		if (check)
			resolved_check_record(&w->resolved, w->in, &rec);
		goes_on = take(w, &rec);
		if (w->writes && !stream_has_more(w->in))
			output_flush(&w->out);
	}
	if (check)
		resolved_check_end(&w->resolved, w->in, w->report);
	if (!goes_on && w->writes)
		write_end(w);
	if (w->in && !w->writes && !dump && !check)
		tally_print(&w->tally, w->in, format == TO_JSON);
}

static void open_output(struct stream_work *w)
{
	if (cat)	/* perhaps nothing can be joined */
		command_output_whole(&command, &w->out, file, false, w->report);
	else
		command_output(&command, &w->out, file, w->report);
	if (format == TO_PERF_DATA) {
		if (!output_can_seek(&w->out))
			command_misused(&command, "--to perf.data needs a file that can seek: give "
					"-o FILE");
		w->perf = perf_writer_new(&w->out);
	}
	if (level > 0)
		output_compress(&w->out, level);
}

/* Close what was written. */
static void close_output(struct stream_work *w)
{
	output_close(&w->out);
	if (!w->perf)
		return;
	struct perf_writer_drops drops = perf_writer_drops(w->perf);
	report_summary(w->report, "left out of the perf.data file: %" PRIu64 " records that only "
		       "pmukit knows", drops.private_records);
	if (drops.has_no_events && w->report->status == 0)
		report_error(w->report, "the stream defines no events, and programs do not read a "
			     "perf.data file without any");
	if (drops.left_out)
		report_error(w->report, "%" PRIu64 " records about the recording do not fit into "
			     "the header of a perf.data file", drops.left_out);
	perf_writer_free(w->perf);
}

/* --cat: join all inputs. */
static void join(struct stream_work *w)
{
	const struct word_list *files = command_inputs(&command);
	size_t count = files->count;
	char joiner[128];

	snprintf(joiner, sizeof(joiner), "pmukit %s: pmu-stream --cat", version_text);
	command_spare_inputs(&command, file, files->item, count);
	open_output(w);
	struct join_counts joined = join_streams(files->item, count, joiner, &w->out, w->report,
						 &command_stop);
	if (joined.streams == 0)
		output_discard(&w->out);
	report_summary(w->report, "%zu streams joined: %" PRIu64 " records, %" PRIu64
		       " of them samples, %" PRIu64 " bytes", joined.streams, joined.records,
		       joined.samples, w->out.written + w->out.used);
	close_output(w);
}

int main(int argc, char **argv)
{
	struct stream_work w = { 0 };
	struct report report;

	command_begin(&command, &report, argc, argv);
	w.report = &report;
	w.head = head;
	w.selects = selection_restricts(&selection);
	if (cat && (stats || dump || check || w.selects || command_given("head")))
		command_misused(&command, "--cat only joins: pipe what it writes into another "
				"pmu-stream");
	if (format == TO_PERF_DATA && (stats || dump || check || level > 0))
		command_misused(&command, "--to perf.data writes a file, which is not compressed: "
				"leave out -s, -D, --check and -z");
	if (cat) {
		join(&w);
		return command_end(&report);
	}
	const char *input = command_input(&command);
	if (!dump)	/* its lines come all the time, perhaps on this terminal */
		progress_allow(&report);
	w.writes = !stats && !dump && !check &&
		   (w.selects || command_given("head") || level >= 0 || file ||
		    format == TO_PERF_DATA);
	command_spare_inputs(&command, w.writes ? file : NULL, &input, 1);
	if (w.writes)
		open_output(&w);
	w.in = stream_open(input, &command_stop, &report);
	w.counts = !w.writes && !dump && !check && !w.selects && head == UINT64_MAX;
	if (w.counts)
		stream_only_count(w.in);
	run(&w);
	report_summary(&report, "%" PRIu64 " records read, %" PRIu64 " of them used; %" PRIu64
		       " bytes written", w.read, w.used, w.writes ? w.out.written + w.out.used : 0);
	stream_close(w.in);
	selection_release(&selection);
	tally_release(&w.tally);
	resolved_check_release(&w.resolved);
	if (w.writes)
		close_output(&w);
	return command_end(&report);
}
