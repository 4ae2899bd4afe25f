/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that the 16-bit size of a record does not include: data after TRACING_DATA and AUXTRACE,
 * and simpleperf's own records, which may be large.
 */
#include "stream/internal.h"

#include <inttypes.h>

static const char too_large[] = "TRACING_DATA of more than 48 MiB";

/* Make REC a record without a body, because its bytes were skipped. */
static void show_header_only(struct stream_reader *in, struct record *rec)
{
	const uint16_t misc_size[2] = { 0, RECORD_HEADER_SIZE };

	memcpy(in->kept, &rec->type, 4);
	memcpy(in->kept + 4, misc_size, 4);
	record_frame(rec, in->kept, false);
}

/*
 * Return the size of one of simpleperf's own records, which may be large: the upper half
 * of the size is in place of misc.
 */
static uint64_t large_size(const struct record *rec, size_t low_size)
{
	return (uint64_t)rec->misc << 16 | low_size;
}

/* Skip a record of SIZE bytes that is not used.  Return false if the stream ends inside. */
static bool skip_large(struct stream_reader *in, struct record *rec, uint64_t size)
{
	rec->offset = in->offset;
	if (!reader_skip(in, size)) {
		reader_damage(in, "stream ends inside a record of type %u", rec->type);
		return false;
	}
	show_header_only(in, rec);
	return true;
}

bool reader_move_out_trailing(struct record *rec)
{
	const uint16_t own_size = RECORD_HEADER_SIZE + 4;
	struct cursor c = rec->body;
	uint64_t size = ((uint64_t)cursor_u32(&c) + 7) & ~7ULL;

	if (c.failed || size == 0 || size > cursor_left(&c))
		return false;
	uint8_t *header = (uint8_t *)rec->body.at - RECORD_HEADER_SIZE;
	memcpy(header, &(uint32_t){ RECORD_TRACING_DATA }, 4);
	memcpy(header + 4, &(uint16_t[2]){ 0, own_size }, 4);
	record_frame(rec, header, false);
	rec->trailing = (struct cursor){ .at = header + own_size, .end = header + own_size + size };
	return true;
}

/* Read TRACING_DATA of newer simpleperf: SIZE bytes, which may exceed perf's largest record. */
static bool show_large_tracing_data(struct stream_reader *in, struct record *rec, uint64_t size)
{
	if (in->swap || size > TRAILING_MAX || !reader_fill(in, size)) {
		bool whole = skip_large(in, rec, size);
		if (whole)
			stream_damaged(in, rec, in->swap ? "TRACING_DATA record of simpleperf in a "
				       "stream of other byte order" : too_large);
		rec->type = RECORD_DROPPED;
		return whole;
	}
	uint8_t *at = in->buffer + in->begin;
	rec->offset = in->offset;
	rec->body = (struct cursor){ .at = at + RECORD_HEADER_SIZE, .end = at + size };
	in->begin += size;
	in->offset += size;
	if (!reader_move_out_trailing(rec)) {
		stream_damaged(in, rec, "TRACING_DATA record is shorter than its data");
		rec->type = RECORD_DROPPED;
	}
	return true;
}

bool reader_is_large(const struct record *rec)
{
	return rec->type == RECORD_LARGE_TRACING_DATA ||
	       (rec->misc && rec->type >= RECORD_SIMPLEPERF && rec->type < RECORD_SIMPLEPERF_END);
}

bool reader_take_large(struct stream_reader *in, struct record *rec, size_t low_size)
{
	uint64_t size = large_size(rec, low_size);

	return rec->type == RECORD_LARGE_TRACING_DATA && low_size >= RECORD_HEADER_SIZE
		? show_large_tracing_data(in, rec, size) : skip_large(in, rec, size);
}

uint64_t reader_trailing_size(const struct record *rec)
{
	struct cursor c = rec->body;

	if (rec->type == RECORD_AUXTRACE)
		return cursor_u64(&c);
	if (rec->type == RECORD_TRACING_DATA)
		return ((uint64_t)cursor_u32(&c) + 7) & ~7ULL;
	return 0;
}

/* Set REC, a TRACING_DATA record just read, together with the TRAILING bytes after it. */
static bool read_trailing(struct stream_reader *in, struct record *rec, uint64_t trailing)
{
	size_t size = record_size(rec);

	in->begin -= size;
	in->offset -= size;
	bool whole = reader_fill(in, size + trailing);
	uint8_t *at = in->buffer + in->begin;
	record_frame(rec, at, false);
	rec->trailing = (struct cursor){ .at = at + size, .end = at + size + trailing };
	in->begin += size;
	in->offset += size;
	return whole && reader_skip(in, trailing);
}

/* Skip the TRAILING bytes after REC: they are too many, or REC is not TRACING_DATA. */
static bool skip_trailing(struct stream_reader *in, struct record *rec, uint64_t trailing)
{
	size_t size = record_size(rec) < sizeof(in->kept) ? record_size(rec) : sizeof(in->kept);

	memcpy(in->kept, record_bytes(rec), size);
	rec->body = (struct cursor){ .at = in->kept + RECORD_HEADER_SIZE, .end = in->kept + size };
	if (rec->type == RECORD_TRACING_DATA) {
		stream_damaged(in, rec, too_large);
		rec->type = RECORD_DROPPED;
	} else {
		report_note(in->report, "the hardware's trace (AUX) is skipped: it is not decoded");
	}
	return reader_skip(in, trailing);
}

bool reader_take_trailing(struct stream_reader *in, struct record *rec, uint64_t trailing)
{
	uint32_t type = rec->type;
	bool shown = type == RECORD_TRACING_DATA && trailing <= TRAILING_MAX;
	bool whole = shown ? read_trailing(in, rec, trailing) : skip_trailing(in, rec, trailing);

	if (!whole && !reader_stopped(in))
		reader_damage(in, "stream ends inside the %" PRIu64 " bytes after a record of "
			      "type %u", trailing, type);
	return whole;
}
