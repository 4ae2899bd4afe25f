/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer - builds records directly in the output's buffer.
 *
 *	struct writer w;
 *
 *	writer_begin(&w, out, PERF_RECORD_COMM, 0);
 *	writer_u32(&w, pid);
 *	...
 *	writer_end(&w);
 *
 * A record that is too large for its 16-bit size is not written, and writer_end()
 * returns false.  Like the kernel's, records are padded with zeros to a multiple of
 * 8 bytes.
 */
#pragma once
#include "base/output.h"
#include "record/record.h"

struct writer {
	struct output *out;
	uint8_t *record;	/* start of the record, with room for RECORD_MAX_SIZE bytes */
	size_t size;		/* bytes so far; above RECORD_MAX_SIZE: the record is too large */
};

/* Start a stream in pipe mode: write its 16-byte header. */
void writer_header(struct output *out);

/* Start a record; pad it and write it.  writer_end() returns false if the record is too large. */
void writer_begin(struct writer *w, struct output *out, uint32_t type, uint16_t misc);
bool writer_end(struct writer *w);

static inline void writer_bytes(struct writer *w, const void *bytes, size_t size)
{
	if (w->size <= RECORD_MAX_SIZE && size <= RECORD_MAX_SIZE - w->size)
		memcpy(w->record + w->size, bytes, size);
	else
		size = RECORD_MAX_SIZE + 1;	/* too large, whatever is added later */
	w->size += size;
}

static inline void writer_u8(struct writer *w, uint8_t v) { writer_bytes(w, &v, sizeof(v)); }
static inline void writer_u16(struct writer *w, uint16_t v) { writer_bytes(w, &v, sizeof(v)); }
static inline void writer_u32(struct writer *w, uint32_t v) { writer_bytes(w, &v, sizeof(v)); }
static inline void writer_u64(struct writer *w, uint64_t v) { writer_bytes(w, &v, sizeof(v)); }

/* Append TEXT and its NUL, and pad the record with zeros to a multiple of 8 bytes. */
void writer_string(struct writer *w, const char *text);

/* Write a record as it was read, with the data after it, unless it is foreign. */
static inline void writer_record(struct output *out, const struct record *rec)
{
	if (rec->foreign)
		return;
	output_write(out, record_bytes(rec), record_size(rec));
	if (cursor_left(&rec->trailing))
		output_write(out, rec->trailing.at, cursor_left(&rec->trailing));
}

/* Write a record without a body. */
void writer_empty(struct output *out, uint32_t type);

/* Write the ATTR records of an event: as many as its ids need, see events_is_full(). */
void writer_attr(struct output *out, const struct perf_event_attr *attr, const uint64_t *ids,
		 size_t count);

/* Write an EVENT_UPDATE record: the name of the event with ID. */
void writer_event_name(struct output *out, uint64_t id, const char *name);

/* Write a FEATURE record (record/origin.h): a string, a list of strings, or raw bytes. */
void writer_feature_text(struct output *out, uint64_t feature, const char *text);
void writer_feature_list(struct output *out, uint64_t feature, char *const *text, size_t count);
void writer_feature(struct output *out, uint64_t feature, const void *bytes, size_t size);

/* Write FEATURE_CPU_PMU_CAPS with one capability. */
void writer_capability(struct output *out, const char *name, const char *value);

/* Write FEATURE_CLOCK_DATA: both times, in ns, are of the same instant. */
void writer_clock(struct output *out, uint32_t clock, uint64_t wall_time, uint64_t clock_time);

/*
 * Write a command line (FEATURE_CMDLINE): the arguments in BODY, the body of such a FEATURE record,
 * and after them the COUNT strings of TEXT.  Return false if BODY is damaged or the record would
 * be too large; nothing is written then.
 */
bool writer_longer_command(struct output *out, struct cursor body, const char *const *text,
			   size_t count);
