/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/filter.h"
#include "stream/writer.h"
#include "unwind/deferred.h"
#include "unwind/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* The state of the filter. */
struct unwind_work {
	struct stream_reader *in;
	struct output *out;
	struct unwind *unwind;
	struct deferred *deferred;
	const char *const *program;	/* its name and its arguments, as one string */
	uint8_t *recorder;	/* body of the FEATURE record with the recorder's command line */
	size_t recorder_size;	/* bytes; RECORDER is NULL: none came */
	uint8_t *record;	/* RECORD_MAX_SIZE bytes: the record being made */
};

/* Write a record that is not deferred: now, or after the samples before it. */
static void write_later(struct unwind_work *w, const void *record, size_t size)
{
	deferred_write(w->deferred, record, size, 0, 0, w->out);
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
 * Add the program to the recorder's command line, so that profiles name it.  COUNTS: what it
 * did, at the end of the stream; or NULL.
 */
static bool write_command(struct unwind_work *w, struct cursor body, const char *counts)
{
	const char *text[4] = { "|", w->program[0] };
	size_t size = 2;

	if (*w->program[1])
		text[size++] = w->program[1];
	if (counts)
		text[size++] = counts;
	return writer_longer_command(w->out, body, text, size);
}

static void write_feature(struct unwind_work *w, const struct record *rec)
{
	struct cursor c = rec->body;

	if (rec->foreign)
		return;
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
	deferred_write(w->deferred, bytes, size, chain, s.tid, w->out);
}

/* Give earlier samples the user's part of their callchain. */
static void take_deferred(struct unwind_work *w, const struct record *rec)
{
	pid_t tid = -1;

	events_trailer_tid(stream_events(w->in), rec->body, &tid);
	if (!deferred_take(w->deferred, rec, tid, w->out))
		stream_damaged(w->in, rec, "CALLCHAIN_DEFERRED record is shorter than its fields");
}

static void write_other(struct unwind_work *w, const struct record *rec)
{
	if (!unwind_follow(w->unwind, rec))
		stream_damaged(w->in, rec, "record with fields that do not fit into it");
	stream_note_tasks(w->in, unwind_tasks(w->unwind));
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
		deferred_round(w->deferred, w->out);
		output_flush(w->out);
	}
}

static void run(struct unwind_work *w, struct report *report)
{
	struct record rec;
	char counts[512] = { '(' };

	writer_header(w->out);
	while (!output_ended(w->out) && stream_next(w->in, &rec)) {
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
	deferred_end(w->deferred, w->out);
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

void unwind_filter(struct unwind *u, struct stream_reader *in, struct output *out,
		   const char *const program[2], struct report *report)
{
	struct unwind_work w = { .in = in, .out = out, .unwind = u, .program = program };

	if (!in)
		return;
	w.deferred = deferred_new();
	w.record = mem_resize(NULL, RECORD_MAX_SIZE);
	run(&w, report);
	report_deferred(&w, report);
	deferred_free(w.deferred);
	free(w.recorder);
	free(w.record);
}
