/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file (perf-file.c has the layout of its header):
 *
 *	header, ids of the events, attr entries, data: written when the first record of data comes
 *	table of the features, the features: written at the end
 *	ids of the events, attr entries: written again if events were defined after the first data
 *	the header again, at the start
 */
#include "stream/perf-writer.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "stream/perf-writer-internal.h"

#include <stdlib.h>

enum {
	PIPE_HEADER_SIZE = 16,
	HEADER_SIZE = 104,		/* struct perf_file_header */
};

/* Records of data that follow each other. */
struct byte_run {
	const uint8_t *at;
	size_t size;
};

struct perf_writer {
	struct perf_header header;
	struct perf_writer_drops drops;
	struct buffer pending;		/* the start of a record whose end has not come yet */
	uint64_t skip;			/* bytes to leave out */
	struct buffer tracing;		/* the data after a TRACING_DATA record, so far */
	uint64_t tracing_left, tracing_size;	/* bytes that follow, with padding; without */
	bool has_magic;			/* the header of the stream was read */
	bool has_started;		/* the file's header was written, and its data follow */
	uint64_t data;			/* bytes of data that were written */
	struct buffer early;		/* data that came before the events were complete */
	uint8_t start[HEADER_SIZE];	/* the header of the file */
	output_put *put;		/* where the bytes go, during a call */
	void *to;
};

static void put(struct perf_writer *w, const void *bytes, size_t size)
{
	if (size)
		w->put(w->to, bytes, size);
}

static void put_buffer(struct perf_writer *w, struct buffer *b)
{
	put(w, b->at, b->size);
	b->size = 0;
}

/* Write the ids and the attr entries, at offset AT of the file.  Return where they end. */
static uint64_t put_events(struct perf_writer *w, uint64_t at, struct perf_place *attrs)
{
	struct buffer bytes = { 0 };

	perf_header_events(&w->header, at, &bytes, attrs);
	put(w, bytes.at, bytes.size);
	free(bytes.at);
	return attrs->offset + attrs->size;
}

static void set_header(struct perf_writer *w, const struct perf_place *attrs, uint64_t data,
		       uint64_t data_size, const uint64_t features[4])
{
	const uint64_t word[HEADER_SIZE / 8 - 1] = {
		HEADER_SIZE, perf_header_attr_size(&w->header) + 16, attrs->offset, attrs->size,
		data, data_size, 0, 0, features[0], features[1], features[2], features[3] };

	memcpy(w->start, "PERFILE2", 8);
	memcpy(w->start + 8, word, sizeof(word));
}

/* The events are known: write what comes before the data. */
static void start(struct perf_writer *w)
{
	static const uint64_t none[4];
	struct perf_place attrs;
	struct buffer events = { 0 };

	if (w->has_started)
		return;
	w->has_started = true;
	perf_header_events(&w->header, HEADER_SIZE, &events, &attrs);
	w->header.is_written = true;
	set_header(w, &attrs, attrs.offset + attrs.size, 0, none);
	put(w, w->start, HEADER_SIZE);
	put(w, events.at, events.size);
	free(events.at);
	w->header.attrs = attrs;
	w->data = w->early.size;
	put_buffer(w, &w->early);
}

/* Write the RUN of data, which ends before the next record, and start a new one. */
static void put_run(struct perf_writer *w, struct byte_run *run)
{
	if (run->size) {
		start(w);
		put(w, run->at, run->size);
		w->data += run->size;
	}
	run->size = 0;
}

/* Data may follow a TRACING_DATA record: its size, padded to a multiple of 8 bytes. */
static void begin_tracing(struct perf_writer *w, struct cursor body)
{
	w->tracing_size = cursor_u32(&body);
	w->tracing_left = body.failed ? 0 : (w->tracing_size + 7) & ~7ULL;
	w->tracing.size = 0;
}

/* Take REC.  Return whether it is a record of data. */
static bool take(struct perf_writer *w, const struct record *rec)
{
	switch (rec->type) {
	case RECORD_ATTR:
		w->drops.left_out += !perf_header_attr(&w->header, rec->body);
		return false;
	case RECORD_FEATURE:
		w->drops.left_out += !perf_header_feature(&w->header, rec->body);
		return false;
	case RECORD_BUILD_ID:
		w->drops.left_out += !perf_header_build_id(&w->header, rec);
		return false;
	case RECORD_TRACING_DATA:
		begin_tracing(w, rec->body);
		return false;
	case RECORD_EVENT_TYPE:
		return false;
	case PERF_RECORD_SAMPLE:
		perf_header_sample(&w->header, rec->body);
		return true;
	case RECORD_EVENT_UPDATE:
		perf_header_name(&w->header, rec->body);
		return true;
	default:
		if (!record_is_resolved(rec->type))
			return true;
		w->drops.private_records++;
		return false;
	}
}

/* Return whether REC, of the data, may come before events: it is kept until the data start. */
static bool may_wait(const struct perf_writer *w, const struct record *rec)
{
	enum { EARLY_MAX = 1 << 20 };

	return !w->has_started && w->early.size < EARLY_MAX &&
	       (rec->type == RECORD_EVENT_UPDATE || rec->type == RECORD_ID_INDEX ||
		rec->type == RECORD_TIME_CONV);
}

/* Take the bytes of tracing data at AT, of at most SIZE.  Return how many. */
static size_t take_tracing(struct perf_writer *w, const uint8_t *at, size_t size)
{
	size_t used = size < w->tracing_left ? size : (size_t)w->tracing_left;

	if (perf_header_has_room(&w->header, w->tracing.size + used))
		buffer_add(&w->tracing, at, used);
	w->tracing_left -= used;
	if (w->tracing_left == 0) {
		w->drops.left_out += w->tracing.size < w->tracing_size ||
				     !perf_header_tracing(&w->header, w->tracing.at,
							  w->tracing_size);
		w->tracing.size = 0;
	}
	return used;
}

/* Take whole records at AT, of SIZE bytes.  Return how many bytes they have. */
static size_t take_records(struct perf_writer *w, const uint8_t *at, size_t size)
{
	struct byte_run run = { .at = at };
	size_t used = 0, length;
	struct record rec;

	if (!w->has_magic && size >= PIPE_HEADER_SIZE) {
		w->has_magic = true;
		used = PIPE_HEADER_SIZE;
	}
	for (; w->has_magic && used < size; used += length) {
		if (w->tracing_left) {
			put_run(w, &run);
			length = take_tracing(w, at + used, size - used);
			continue;
		}
		length = size - used < RECORD_HEADER_SIZE ? 0
			 : record_frame(&rec, at + used, false);
		if (length < RECORD_HEADER_SIZE || length > size - used)
			break;
		if (rec.type == RECORD_ATTR)
			put_run(w, &run);	/* with the events that were defined before it */
		if (!take(w, &rec)) {
			put_run(w, &run);
		} else if (run.size == 0 && may_wait(w, &rec)) {
			buffer_add(&w->early, at + used, length);
		} else {
			if (run.size == 0)
				run.at = at + used;
			run.size += length;
		}
	}
	put_run(w, &run);
	return used;
}

/* Take SIZE bytes of the stream, which may end within a record. */
static void convert(void *context, const void *bytes, size_t size, output_put *put_bytes,
		    void *to)
{
	struct perf_writer *w = context;

	w->put = put_bytes;
	w->to = to;
	if (w->pending.size) {
		buffer_add(&w->pending, bytes, size);
		bytes = w->pending.at;
		size = w->pending.size;
	}
	size_t used = take_records(w, bytes, size);
	if (w->pending.size) {
		memmove(w->pending.at, w->pending.at + used, size - used);
		w->pending.size = size - used;
	} else if (used < size) {
		buffer_add(&w->pending, (const uint8_t *)bytes + used, size - used);
	}
}

static void begin_file(void *context)
{
	struct perf_writer *w = context;

	perf_header_release(&w->header);
	w->pending.size = w->tracing.size = w->early.size = 0;
	w->tracing_left = w->data = 0;
	w->has_magic = w->has_started = false;
}

/* Write data without contents: a size of 0 would say that the file has no end. */
static void put_nothing(struct perf_writer *w)
{
	static const struct perf_event_header round = {
		.type = RECORD_FINISHED_ROUND, .size = sizeof(round) };

	put(w, &round, sizeof(round));
	w->data = sizeof(round);
}

/* The file ends: write what comes after the data. */
static const void *end_file(void *context, size_t *size, output_put *put_bytes, void *to)
{
	struct perf_writer *w = context;
	struct buffer sections = { 0 };
	uint64_t features[4];

	if (!w->has_magic)
		return NULL;	/* no stream came */
	w->put = put_bytes;
	w->to = to;
	start(w);
	if (w->data == 0)
		put_nothing(w);
	w->drops.has_no_events |= w->header.events == 0;
	struct perf_place attrs = w->header.attrs;
	uint64_t data = attrs.offset + attrs.size, end = data + w->data;
	perf_header_features(&w->header, end, &sections, features);
	put(w, sections.at, sections.size);
	if (w->header.has_changed)
		put_events(w, end + sections.size, &attrs);
	free(sections.at);
	set_header(w, &attrs, data, w->data, features);
	*size = HEADER_SIZE;
	return w->start;
}

struct perf_writer *perf_writer_new(struct output *out)
{
	static const struct output_converter converter = {
		.begin = begin_file, .convert = convert, .end = end_file };
	struct perf_writer *w = mem_zeroed(1, sizeof(*w));

	output_convert(out, &converter, w);
	return w;
}

struct perf_writer_drops perf_writer_drops(const struct perf_writer *w)
{
	return w->drops;
}

void perf_writer_free(struct perf_writer *w)
{
	if (!w)
		return;
	perf_header_release(&w->header);
	free(w->pending.at);
	free(w->tracing.at);
	free(w->early.at);
	free(w);
}
