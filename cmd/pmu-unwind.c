/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmu-unwind - turn copies of stacks into callchains.
 *
 * Reads a stream or a perf.data file (pmu-stream(5)) whose samples have registers and a copy of
 * the stack (--call-graph dwarf) from FILE or stdin, and writes the same stream with callchains
 * in their place.  Everything else passes through.
 */
#include "base/arena.h"
#include "base/command.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "unwind/deferred.h"
#include "unwind/unwind.h"

#include <inttypes.h>
#include <stdlib.h>

static bool join = true, frame_pointers = true;
static int arch = -1;
static uint64_t max_stack = UNWIND_STACK_MAX;
static const char *file;
static struct command_list debug_dirs;
static struct unwind_options how = {
	.where.debug_dirs = &debug_dirs, .debuginfod_time = 300ULL * 1000 * 1000 * 1000,
};

static const char *const arches[] = { "x86_64", "arm64", NULL };

static const struct command_option options[] = {
	{ 0, "max-stack", "COUNT", "write at most COUNT user frames of a sample",
	  .count = &max_stack, .least = 1, .most = UNWIND_STACK_MOST },
	{ 0, "join", "YES|NO", "extend stacks longer than their copy by earlier ones",
	  .yes_no = &join },
	{ 0, "frame-pointers", "YES|NO", "follow frame pointers in code without CFI",
	  .yes_no = &frame_pointers },
	{ 0, "keep-dumps", NULL, "keep the registers and stacks, too", .flag = &how.keep_dumps },
	{ 0, "arch", "ARCH", "the machine of a stream that does not say which", .choice = &arch,
	  .choices = arches },
	{ 0, "debug-dir", "DIR", "look for debug files in DIR first; may be repeated",
	  .list = &debug_dirs },
	{ 0, "sysroot", "DIR", "take files from DIR, a copy of the recorded machine's root",
	  .text = &how.where.sysroot },
	{ 0, "symfs", "DIR", "the same as --sysroot, as perf calls it",
	  .text = &how.where.sysroot },
	{ 0, "build-id-map", "FILE", "find files by the lines of FILE: a build ID and a path",
	  .text = &how.where.build_id_map },
	{ 0, "debuginfod", "URLS", "fetch missing files from these servers, by debuginfod-find",
	  .text = &how.debuginfod },
	{ 0, "debuginfod-time", "TIME", "wait at most TIME for these servers, in total",
	  .time = &how.debuginfod_time },
	{ 'o', "output", "FILE", "write to FILE instead of stdout", .text = &file },
	{ 0 }
};

static const struct command command = {
	.name = "pmu-unwind",
	.purpose = "turn copies of stacks into callchains",
	.operands = "[FILE]",
	.options = options,
	.reads_files = true,
};

/* What the samples go through. */
struct unwind_work {
	struct stream_reader *in;
	struct output out;
	struct unwind *unwind;
	struct deferred *deferred;
	char *line;		/* our arguments, as one string */
	uint8_t *recorder;	/* body of the FEATURE record with the recorder's command line */
	size_t recorder_size;	/* bytes; RECORDER is NULL: none came */
	uint8_t *record;	/* RECORD_MAX_SIZE bytes: the record being made */
};

/* Write a record that is not deferred, now or when it is its turn. */
static void write_later(struct unwind_work *w, const void *record, size_t size)
{
	deferred_write(w->deferred, record, size, 0, 0, &w->out);
}

static void write_attr(struct unwind_work *w, const struct record *rec)
{
	size_t size = events_attr_size(rec->body);

	if (size > cursor_left(&rec->body))
		size = 0;	/* damaged, and reported */
	memcpy(w->record, record_bytes(rec), record_size(rec));
	unwind_attr(w->unwind, w->record + RECORD_HEADER_SIZE, size);
	write_later(w, w->record, record_size(rec));
}

/*
 * Add this program to the recorder's command line, so that profiles name it.  COUNTS: what it
 * did, at the end of the stream; or NULL.
 */
static bool write_command(struct unwind_work *w, struct cursor body, const char *counts)
{
	const char *text[4] = { "|", command.name };
	size_t size = 2;

	if (*w->line)
		text[size++] = w->line;
	if (counts)
		text[size++] = counts;
	return writer_longer_command(&w->out, body, text, size);
}

static void write_feature(struct unwind_work *w, const struct record *rec)
{
	struct cursor c = rec->body;

	if (cursor_u64(&c) != FEATURE_CMDLINE || !write_command(w, rec->body, NULL)) {
		write_later(w, record_bytes(rec), record_size(rec));
		return;
	}
	free(w->recorder);
	w->recorder_size = cursor_left(&rec->body);
	w->recorder = memcpy(mem_resize(NULL, w->recorder_size), rec->body.at, w->recorder_size);
}

static void write_sample(struct unwind_work *w, const struct record *rec)
{
	const uint8_t *bytes = record_bytes(rec);
	struct sample s;

	if (!stream_sample(w->in, rec, &s))
		return;
	const struct stream_event *event = &stream_events(w->in)->event[s.event];
	size_t chain = s.callchain.at ? (size_t)(s.callchain.at - bytes) - 8 : 0;
	size_t size = unwind_sample(w->unwind, event, rec, &s, w->record);
	if (size)
		bytes = w->record;
	else
		size = record_size(rec);
	deferred_write(w->deferred, bytes, size, chain, s.tid, &w->out);
}

/* Take the user's part of the callchain of samples that came before. */
static void take_deferred(struct unwind_work *w, const struct record *rec)
{
	pid_t tid = -1;

	events_trailer_tid(stream_events(w->in), rec->body, &tid);
	if (!deferred_take(w->deferred, rec, tid, &w->out))
		stream_damaged(w->in, rec, "CALLCHAIN_DEFERRED record is shorter than its fields");
}

static void write_other(struct unwind_work *w, const struct record *rec)
{
	if (!unwind_follow(w->unwind, rec))
		stream_damaged(w->in, rec, "record with fields that do not fit it");
	switch (rec->type) {
	case RECORD_ATTR:
		write_attr(w, rec);
		return;
	case RECORD_FEATURE:
		write_feature(w, rec);
		return;
	case RECORD_CALLCHAIN_DEFERRED:
		take_deferred(w, rec);
		return;
	case RECORD_AUXTRACE:	/* the bytes after it were skipped */
		return;
	}
	write_later(w, record_bytes(rec), record_size(rec));
	if (cursor_left(&rec->trailing))
		write_later(w, rec->trailing.at, cursor_left(&rec->trailing));
	if (rec->type == RECORD_FINISHED_ROUND) {
		deferred_round(w->deferred, &w->out);
		output_flush(&w->out);
	}
}

static void run(struct unwind_work *w, struct report *report)
{
	struct record rec;
	char counts[512] = { '(' };

	writer_header(&w->out);
	while (!output_ended(&w->out) && stream_next(w->in, &rec)) {
		if (record_is_resolved(rec.type)) {
			report_error(report, "the input is resolved already: "
				     "put pmu-unwind before pmu-symbolize");
			break;
		}
		if (rec.type == PERF_RECORD_SAMPLE)
			write_sample(w, &rec);
		else
			write_other(w, &rec);
	}
	deferred_end(w->deferred, &w->out);
	if (!w->recorder)
		return;
	unwind_describe(w->unwind, counts + 1, sizeof(counts) - 2);
	counts[strlen(counts)] = ')';
	struct cursor body = { .at = w->recorder, .end = w->recorder + w->recorder_size };
	write_command(w, body, counts);
}

static void report_deferred(const struct unwind_work *w, struct report *report)
{
	uint64_t merged, without;

	deferred_counts(w->deferred, &merged, &without);
	if (merged + without)
		report_summary(report, "%" PRIu64 " callchains got their deferred user part, %"
			       PRIu64 " did not", merged, without);
}

int main(int argc, char **argv)
{
	struct report report;
	struct unwind_work w = { .line = command_line(argc - 1, argv + 1) };

	command_begin(&command, &report, argc, argv);
	const char *input = command_input(&command);
	command_needs(&command, "debuginfod-time", "debuginfod");
	locate_check_list(&how.where.build_id_map, &report);
	how.stack_max = (uint32_t)max_stack;
	how.no_join = !join;
	how.no_frame_pointers = !frame_pointers;
	how.arch = arch < 0 ? NULL : arches[arch];
	command_spare_inputs(&command, file, &input, 1);
	command_output(&command, &w.out, file, &report);
	w.in = stream_open(input, &report);
	stream_stop_on(w.in, &command_stop);
	how.is_swapped = stream_is_swapped(w.in);
	w.unwind = unwind_new(&how, stream_origin(w.in), &report);
	w.deferred = deferred_new();
	w.record = mem_resize(NULL, RECORD_MAX_SIZE);
	if (w.in)
		run(&w, &report);
	output_close(&w.out);
	unwind_report(w.unwind);
	report_deferred(&w, &report);
	unwind_free(w.unwind);
	deferred_free(w.deferred);
	stream_close(w.in);
	free(w.recorder);
	free(w.record);
	free(w.line);
	return command_end(&report);
}
