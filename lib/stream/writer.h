/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer - composes records, right in the output's buffer.
 *
 *	struct writer w;
 *
 *	writer_begin(&w, out, PERF_RECORD_COMM, 0);
 *	writer_u32(&w, pid);
 *	...
 *	writer_end(&w);
 *
 * A record that outgrows its 16-bit size is not written: writer_end() says so
 * by returning false.  Sizes are padded to 8 with zero bytes, as the kernel's.
 */
#pragma once
#include "base/output.h"
#include "record/record.h"

struct writer {
	struct output *out;
	uint8_t *record;	/* its start, room for RECORD_MAX_SIZE */
	size_t size;		/* bytes so far; more than that room if it outgrew it */
};

/* Begin a stream in pipe mode: its 16-byte header. */
void writer_header(struct output *out);

void writer_begin(struct writer *w, struct output *out, uint32_t type, uint16_t misc);
bool writer_end(struct writer *w);

static inline void writer_bytes(struct writer *w, const void *bytes, size_t size)
{
	if (w->size <= RECORD_MAX_SIZE && size <= RECORD_MAX_SIZE - w->size)
		memcpy(w->record + w->size, bytes, size);
	else
		size = RECORD_MAX_SIZE + 1;	/* it stays too large, whatever follows */
	w->size += size;
}

static inline void writer_u8(struct writer *w, uint8_t v) { writer_bytes(w, &v, sizeof(v)); }
static inline void writer_u16(struct writer *w, uint16_t v) { writer_bytes(w, &v, sizeof(v)); }
static inline void writer_u32(struct writer *w, uint32_t v) { writer_bytes(w, &v, sizeof(v)); }
static inline void writer_u64(struct writer *w, uint64_t v) { writer_bytes(w, &v, sizeof(v)); }

/* TEXT and its NUL, then zero bytes up to a multiple of 8 of the record. */
void writer_string(struct writer *w, const char *text);

/* A record as it was read, with what is behind it. */
static inline void writer_record(struct output *out, const struct record *rec)
{
	output_write(out, record_bytes(rec), record_size(rec));
	if (cursor_left(&rec->behind))
		output_write(out, rec->behind.at, cursor_left(&rec->behind));
}

/* A record without a body. */
void writer_empty(struct output *out, uint32_t type);

/* An ATTR record: an event and its ids, as many as fit. */
void writer_attr(struct output *out, const struct perf_event_attr *attr, const uint64_t *ids,
		 size_t count);

/* An EVENT_UPDATE record: the name of the event with this id. */
void writer_event_name(struct output *out, uint64_t id, const char *name);

/* FEATURE records (stream/origin.h): a string; a list of them; raw bytes. */
void writer_feature_text(struct output *out, uint64_t feature, const char *text);
void writer_feature_list(struct output *out, uint64_t feature, char *const *text, size_t count);
void writer_feature(struct output *out, uint64_t feature, const void *bytes, size_t size);
