/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-stream - show, check, select, join and convert streams.
 *
 * Reads a stream or a perf.data file (pmu-stream(5)) from FILE or stdin.  Counts
 * what it has, prints its records, or writes it on: the wanted samples of it, as a
 * stream that pipes carry, compressed or not.
 */
#include "base/command.h"
#include "show/describe.h"
#include "show/tally.h"
#include "stream/choice.h"
#include "stream/join.h"
#include "stream/resolved.h"
#include "stream/writer.h"

#include <inttypes.h>
#include <limits.h>

static bool stats, dump, check, json, cat, decompress;
static const char *head_text, *pid_text, *tid_text, *cpu_text, *time_text, *level_text, *file;
static struct choice choice = CHOICE_ALL;

static const struct command_option options[] = {
	{ 's', "stats", NULL, "count records, samples and losses (so without another choice)",
	  &stats, NULL },
	{ 'D', "dump", NULL, "print the records, a line each", &dump, NULL },
	{ 'c', "check", NULL, "print nothing; the exit status tells whether it is whole", &check,
	  NULL },
	{ 'j', "json", NULL, "count or print in JSON", &json, NULL },
	{ 0, "cat", NULL, "join all FILEs to one stream, in order of time", &cat, NULL },
	{ 'n', "head", "COUNT", "end after COUNT samples", &head_text, NULL },
	{ 'p', "pid", "PID", "leave out samples of other processes", &pid_text, NULL },
	{ 't', "tid", "TID", "leave out samples of other threads", &tid_text, NULL },
	{ 0, "comm", "NAME", "leave out samples of threads of other names", &choice.comm, NULL },
	{ 'C', "cpu", "CPU", "leave out samples of other CPUs", &cpu_text, NULL },
	{ 'e', "event", "NAME", "leave out samples of other events", &choice.event, NULL },
	{ 0, "time", "FROM,TO", "leave out samples before FROM or from TO on, in seconds",
	  &time_text, NULL },
	{ 'z', "zstd", "[LEVEL]", "write the stream, compressed, at LEVEL 1 (usual) to 19",
	  &level_text, NULL },
	{ 'd', "decompress", NULL, "write the stream, not compressed", &decompress, NULL },
	{ 'o', "output", "FILE", "write the stream to FILE instead of stdout", &file, NULL },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-stream",
	.purpose = "show, check, select, join and convert streams",
	.operands = "[FILE...]",
	.options = options,
};

/* What is done with the records that stay. */
struct work {
	struct stream_reader *in;
	struct report *report;
	struct output out;
	bool writes;		/* the stream, to OUT */
	bool selects;		/* not all samples stay */
	uint64_t head;		/* samples to go; UINT64_MAX: all */
	uint64_t first_time, last_time;	/* of what stays; 0: none has one */
	uint64_t read, used;	/* records */
	struct tally tally;
};

static void parse_choice(void)
{
	if (pid_text)
		choice.pid = (pid_t)command_count(&command, "pid", pid_text, 0, INT_MAX);
	if (tid_text)
		choice.tid = (pid_t)command_count(&command, "tid", tid_text, 0, INT_MAX);
	if (cpu_text)
		choice.cpu = (int)command_count(&command, "cpu", cpu_text, 0, INT_MAX);
	if (time_text && !choice_parse_time(&choice, time_text))
		command_misused(&command, "--time takes FROM,TO in seconds of the stream's clock, "
				"either may be missing, not '%s'", time_text);
}

/* False: the rest of the stream does not matter. */
static bool take(struct work *w, const struct record *rec)
{
	if (w->selects && record_is_resolved(rec->type)) {
		report_error(w->report, "samples are resolved already: select them before "
			     "pmu-symbolize");
		return false;
	}
	if ((w->selects || w->head != UINT64_MAX) && !choice_takes(&choice, w->in, rec))
		return true;
	if (rec->type == PERF_RECORD_SAMPLE && w->head != UINT64_MAX && w->head-- == 0)
		return false;
	w->used += !rec->made;
	w->last_time = stream_time(w->in, rec) ? stream_time(w->in, rec) : w->last_time;
	if (w->first_time == 0)
		w->first_time = w->last_time;
	if (w->writes && rec->type != RECORD_AUXTRACE)	/* the bytes behind it were skipped */
		writer_record(&w->out, rec);
	else if (dump)
		describe_record(w->in, rec, json);
	else if (!rec->made)
		tally_add(&w->tally, w->in, rec);
	return true;
}

/* Where the rest was not read: an end that our recorder would have written. */
static void write_end(struct work *w)
{
	uint64_t span[2] = { w->first_time, w->last_time };

	if (origin_is_ours(stream_origin(w->in)))
		writer_feature(&w->out, FEATURE_SAMPLE_TIME, span, sizeof(span));
}

static void run(struct work *w)
{
	struct record rec;
	bool goes_on = true;

	if (w->in && w->writes)
		writer_header(&w->out);
	while (goes_on && !output_ended(&w->out) && stream_next(w->in, &rec)) {
		w->read += !rec.made;
		goes_on = take(w, &rec);
		if (w->writes && !stream_has_more(w->in))
			output_flush(&w->out);
	}
	if (!goes_on && w->writes)
		write_end(w);
	if (w->in && !w->writes && !dump && !check)
		tally_print(&w->tally, w->in, json);
}

static void open_output(struct work *w)
{
	uint64_t level = level_text && *level_text
		? command_count(&command, "zstd", level_text, 1, 19) : 1;

	command_output(&command, &w->out, file, w->report);
	if (level_text)
		output_compress(&w->out, (int)level);
}

/* --cat: all operands, or stdin. */
static void join(struct work *w, int argc, char **argv, int first)
{
	static const char *const standard_input[] = { "-" };
	const char *const *files = first < argc ? (const char *const *)argv + first
						: standard_input;
	size_t count = first < argc ? (size_t)(argc - first) : 1;

	command_spare_inputs(&command, file, files, count);
	open_output(w);
	struct join_counts joined = join_streams(files, count, "pmukit " PMU_VERSION ": pmu-stream "
						 "--cat", &w->out, w->report, &command_stop);
	report_summary(w->report, "%zu streams joined: %" PRIu64 " records, %" PRIu64
		       " of them samples, %" PRIu64 " bytes", count, joined.records,
		       joined.samples, w->out.written + w->out.used);
	output_close(&w->out);
}

int main(int argc, char **argv)
{
	struct work w = { .head = UINT64_MAX };
	struct report report;

	int first = command_begin(&command, &report, argc, argv);
	if (stats + dump + check > 1)
		command_misused(&command, "more than one of --stats, --dump and --check");
	parse_choice();
	w.report = &report;
	w.selects = pid_text || tid_text || cpu_text || time_text || choice.comm || choice.event;
	if (cat && (stats || dump || check || w.selects || head_text))
		command_misused(&command, "--cat only joins: pipe what it writes into another "
				"pmu-stream");
	if (cat) {
		join(&w, argc, argv, first);
		return command_end(&report);
	}
	const char *input = command_input(&command, argc, argv, first);
	if (head_text)
		w.head = command_count(&command, "head", head_text, 0, UINT64_MAX - 1);
	w.writes = !stats && !dump && !check &&
		   (w.selects || head_text || level_text || decompress || file);
	command_spare_inputs(&command, w.writes ? file : NULL, &input, 1);
	if (w.writes)
		open_output(&w);
	w.in = stream_open(input, &report);
	stream_stop_on(w.in, &command_stop);
	run(&w);
	report_summary(&report, "%" PRIu64 " records read, %" PRIu64 " of them used; %" PRIu64
		       " bytes written", w.read, w.used, w.writes ? w.out.written + w.out.used : 0);
	stream_close(w.in);
	choice_release(&choice);
	tally_release(&w.tally);
	if (w.writes)
		output_close(&w.out);
	return command_end(&report);
}
