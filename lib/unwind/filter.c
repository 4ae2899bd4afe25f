/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/filter.h"
#include "stream/writer.h"
#include "unwind/deferred.h"
#include "unwind/internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct unwind_filter {
	struct report *report;
	struct stream_reader *in;
	struct output *out;
	struct unwind *unwind;
	struct deferred *deferred;
	const char *program[2];	/* its name and its arguments, as one string */
	uint8_t *recorder;	/* body of the FEATURE record with the recorder's command line */
	size_t recorder_size;	/* bytes; RECORDER is NULL: none came */
	uint8_t *record;	/* RECORD_MAX_SIZE bytes: the record being made */
};

/* Write a record that is not deferred: now, or after the samples before it. */
static void write_later(struct unwind_filter *f, const void *record, size_t size)
{
	deferred_write(f->deferred, record, size, 0, 0, f->out);
}

static void write_attr(struct unwind_filter *f, const struct record *rec)
{
	size_t size = events_attr_size(rec->body);

	if (size > cursor_left(&rec->body))
		size = 0;	/* damaged, and reported */
	memcpy(f->record, record_bytes(rec), record_size(rec));
	unwind_attr(f->unwind, f->record + RECORD_HEADER_SIZE, size);
	write_later(f, f->record, record_size(rec));
}

/*
 * Add the program to the recorder's command line, so that profiles name it.  COUNTS: what it
 * did, at the end of the stream; or NULL.
 */
static bool write_command(struct unwind_filter *f, struct cursor body, const char *counts)
{
	const char *text[4] = { "|", f->program[0] };
	size_t size = 2;

	if (*f->program[1])
		text[size++] = f->program[1];
	if (counts)
		text[size++] = counts;
	return writer_longer_command(f->out, body, text, size);
}

static void write_feature(struct unwind_filter *f, const struct record *rec)
{
	struct cursor c = rec->body;

	if (rec->foreign)
		return;
	if (cursor_u64(&c) != FEATURE_CMDLINE || !write_command(f, rec->body, NULL)) {
		write_later(f, record_bytes(rec), record_size(rec));
		return;
	}
	free(f->recorder);
	f->recorder_size = cursor_left(&rec->body);
	f->recorder = memcpy(mem_resize(NULL, f->recorder_size), rec->body.at, f->recorder_size);
}

static void write_sample(struct unwind_filter *f, const struct record *rec)
{
	const uint8_t *bytes = record_bytes(rec);
	struct sample s;

	if (!stream_sample(f->in, rec, &s))
		return;
	const struct stream_event *event = &stream_events(f->in)->event[s.event];
	size_t chain = s.callchain.at ? (size_t)(s.callchain.at - bytes) - 8 : 0;
	size_t size = unwind_sample(f->unwind, event, rec, &s, f->record);
	if (size)
		bytes = f->record;
	else
		size = record_size(rec);
	deferred_write(f->deferred, bytes, size, chain, s.tid, f->out);
}

/* Give earlier samples the user's part of their callchain. */
static void take_deferred(struct unwind_filter *f, const struct record *rec)
{
	pid_t tid = -1;

	events_trailer_tid(stream_events(f->in), rec->body, &tid);
	if (!deferred_take(f->deferred, rec, tid, f->out))
		stream_damaged(f->in, rec, "CALLCHAIN_DEFERRED record is shorter than its fields");
}

static void write_other(struct unwind_filter *f, const struct record *rec)
{
	if (!unwind_follow(f->unwind, rec))
		stream_damaged(f->in, rec, "record with fields that do not fit into it");
	stream_note_tasks(f->in, unwind_tasks(f->unwind));
	switch (rec->type) {
	case RECORD_ATTR:
		write_attr(f, rec);
		return;
	case RECORD_FEATURE:
		write_feature(f, rec);
		return;
	case RECORD_CALLCHAIN_DEFERRED:
		take_deferred(f, rec);
		return;
	case RECORD_AUXTRACE:	/* the bytes after it were skipped */
		return;
	}
	write_later(f, record_bytes(rec), record_size(rec));
	if (cursor_left(&rec->trailing))
		write_later(f, rec->trailing.at, cursor_left(&rec->trailing));
	if (rec->type == RECORD_FINISHED_ROUND) {
		deferred_round(f->deferred, f->out);
		output_flush(f->out);
	}
}

struct unwind_filter *unwind_filter_new(struct unwind *u, struct stream_reader *in,
					struct output *out, const char *const program[2],
					struct report *report)
{
	struct unwind_filter *f = mem_zeroed(1, sizeof(*f));

	*f = (struct unwind_filter){ .report = report, .in = in, .out = out, .unwind = u,
				     .program = { program[0], program[1] } };
	f->deferred = deferred_new();
	f->record = mem_resize(NULL, RECORD_MAX_SIZE);
	if (in)
		writer_header(out);
	return f;
}

bool unwind_filter_step(struct unwind_filter *f)
{
	struct record rec;

	if (output_ended(f->out) || !stream_next(f->in, &rec))
		return false;
	if (record_is_resolved(rec.type)) {
		report_error(f->report, "the input is resolved already: "
			     "put pmu-unwind before pmu-symbolize");
		return false;
	}
	if (rec.type == PERF_RECORD_SAMPLE)
		write_sample(f, &rec);
	else
		write_other(f, &rec);
	return true;
}

static void report_deferred(const struct unwind_filter *f)
{
	uint64_t merged, without;

	deferred_counts(f->deferred, &merged, &without);
	if (merged + without)
		report_summary(f->report, "%" PRIu64 " callchains got their deferred user part, %"
			       PRIu64 " did not", merged, without);
}

void unwind_filter_end(struct unwind_filter *f)
{
	char counts[512] = { '(' };

	deferred_end(f->deferred, f->out);
	if (f->recorder) {
		unwind_describe(f->unwind, counts + 1, sizeof(counts) - 2);
		counts[strlen(counts)] = ')';
		write_command(f, (struct cursor){ .at = f->recorder,
						  .end = f->recorder + f->recorder_size }, counts);
	}
	report_deferred(f);
}

void unwind_filter_free(struct unwind_filter *f)
{
	if (!f)
		return;
	deferred_free(f->deferred);
	free(f->recorder);
	free(f->record);
	free(f);
}
