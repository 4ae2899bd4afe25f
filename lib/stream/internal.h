/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the stream reader, shared by its source files; at the end, functions of inflate that
 * only this module calls.
 */
#pragma once
#include "base/buffer.h"
#include "base/fuel.h"
#include "stream/inflate.h"
#include "stream/order.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* "PERFILE2" in little endian */
#define STREAM_MAGIC 0x32454c4946524550ULL
/* "PERFFILE": what perf wrote until Linux 3.3, in any byte order */
#define STREAM_MAGIC_1 (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0x454c494646524550ULL \
								  : 0x5045524646494c45ULL)

enum {
	PIPE_HEADER_SIZE = 16,		/* u64 magic, u64 size of this header */
	READER_BUFFER = 256 * 1024,	/* bytes; more than the largest record */
	/* decompressed bytes of one COMPRESSED record; perf's rings are far smaller */
	INNER_MAX = 64 * 1024 * 1024,
	TRAILING_MAX = 48 * 1024 * 1024,	/* bytes kept after a TRACING_DATA record */
};

/* Type of a record that cannot be used; stream_next() does not return it. */
#define RECORD_DROPPED UINT32_MAX

/* What a stream has and this version does not know. */
struct stream_newer {
	uint64_t records, features;
	uint64_t attrs;		/* with fields that are not known */
	bool is_left;		/* see stream_leave_newer() */
};

struct stream_reader {
	struct report *report;
	const char *file;	/* name of the input, for messages */
	stream_read *read;	/* gives the bytes of the input; NULL: FD is read */
	void *context;		/* of READ */
	int fd;
	bool is_lent;		/* FD is not closed at the end */
	bool seekable;		/* pread() works on FD */
	bool swap;		/* the input has the other byte order */
	bool is_file;		/* a perf.data file with sections, not pipe mode */
	uint64_t file_size;	/* bytes of that file */
	struct fuel sections;	/* FILE_SIZE less the sections that were read so far */
	struct fuel naming;	/* how many more events may be compared with named types */
	bool ended;		/* there are no more records */
	bool damaged;		/* some input was damaged or missing */
	int error;		/* errno of the read that failed; 0: none did */
	const volatile sig_atomic_t *stop;	/* see stream_stop_on(); or NULL */
	struct stream_events events;	/* what records have defined so far */
	struct stream_origin origin;
	uint64_t limit;		/* stream offset where the records end; UINT64_MAX: at EOF */
	uint64_t offset;	/* stream offset of buffer[begin] */
	uint64_t looked;	/* stream offset where stream_look_ahead() goes on */
	size_t begin, end;	/* unread bytes: buffer[begin..end) */
	size_t capacity;	/* bytes of BUFFER */
	uint8_t *buffer;
	uint64_t latest;	/* see stream_possible_time() */
	uint32_t wrong_times;	/* found by stream_goes_back() */
	struct stream_newer newer;
	struct order *order;	/* records that wait to be sorted by time */
	uint8_t kept[64];	/* start of a record whose other bytes are skipped */
	struct record held;	/* record that waits until ORDER is empty */
	bool has_held;		/* HELD has a record */
	bool only_counts;	/* see stream_only_count() */
	bool filtered;		/* one of our filters wrote the stream, so it is in order */
	bool drained;		/* all input is read; ORDER may still have records */
	/* for a stream that is compressed as a whole: */
	struct inflate *wrapping;
	uint8_t *wrapped;	/* buffer of compressed bytes */
	/* for COMPRESSED records: */
	struct inflate *inflate;
	bool is_bomb;			/* they expanded too much: nothing more is read */
	struct buffer inner;	/* decompressed bytes, unread from inner_at on */
	size_t inner_at;
	uint64_t inner_offset;	/* stream offset of the last COMPRESSED record */
	struct buffer made;	/* records made from a file's header; unread from made_at on */
	size_t made_at;
};

/* Buffer SIZE unread bytes.  Return false at the end of the input or on an error (reported). */
bool reader_fill(struct stream_reader *in, size_t size);

/* Close the source of IN, unless it is the caller's. */
void reader_close_source(struct stream_reader *in);

/* Skip SIZE unread bytes, buffered or not.  Return false at the end of the input. */
bool reader_skip(struct stream_reader *in, uint64_t size);

/* Return a decompressor for data that start with these bytes; NULL: they are not compressed. */
struct inflate *reader_inflate_for(const uint8_t *bytes, size_t size);

/* Return whether Z has expanded so much that the rest is not read.  Reported once. */
bool reader_stops_at_bomb(struct stream_reader *in, const struct inflate *z);

/* If the whole stream is compressed with zstd or gzip, decompress it from now on. */
void reader_unwrap(struct stream_reader *in);

/*
 * Copy a perf.data file that comes through a pipe or is compressed into a temporary file,
 * and read that from now on: the features are at its end.  Return false on failure (reported).
 */
bool reader_spool(struct stream_reader *in);

/* Return the place of the next unread byte. */
struct report_place reader_place(const struct stream_reader *in);

/* Return whether the input is in order: recordings of pmu-sample, and output of our filters. */
static inline bool reader_is_in_order(const struct stream_reader *in)
{
	return in->filtered || origin_is_ours(&in->origin);
}

/* Return whether records need not come in order of time. */
static inline bool reader_counts(const struct stream_reader *in)
{
	return in->only_counts && !in->events.reads_groups && !in->events.has_labels;
}

/*
 * Step to the next record in the buffer and return it in *REC, if it is a SAMPLE and the buffer has
 * all of it.  The caller must know that no record waits in ORDER.
 */
bool reader_step(struct stream_reader *in, struct record *rec);

/* Move samples from the buffer to ORDER, until ORDER has one to return. */
void reader_keep_samples(struct stream_reader *in);

/* Note that a record of TIME (0: it has no time) is counted but not sorted. */
static inline void reader_pass(struct stream_reader *in, uint64_t time)
{
	if (time != 0 && time != UINT64_MAX && !reader_is_in_order(in))
		order_pass(in->order, time);
}

static inline bool reader_stopped(const struct stream_reader *in)
{
	return in->stop && *in->stop;
}

/* Report that the input is damaged at its next unread byte. */
#define reader_damage(in, ...) \
	((in)->damaged = true, report_damage((in)->report, reader_place(in), __VA_ARGS__))

/* Convert REC, the SIZE bytes at AT, to our byte order.  If that is impossible, drop REC. */
void reader_swap(struct stream_reader *in, struct record *rec, uint8_t *at, size_t size);

/*
 * trailing.c: return whether REC is one of simpleperf's own records that may be larger than its
 * 16-bit size says.  reader_take_large() reads or skips such a record; LOW_SIZE is that size.  It
 * returns false if the stream ends inside (reported).
 */
bool reader_is_large(const struct record *rec);
bool reader_take_large(struct stream_reader *in, struct record *rec, size_t low_size);

/*
 * Convert simpleperf's TRACING_DATA, with the data inside the record, to perf's, with the
 * data after the record.  Return false if REC has perf's form already.
 */
bool reader_move_out_trailing(struct record *rec);

/* Return the number of bytes after a record that its size does not include. */
uint64_t reader_trailing_size(const struct record *rec);

/* Read or skip the TRAILING bytes after REC.  Return false if some are missing (reported). */
bool reader_take_trailing(struct stream_reader *in, struct record *rec, uint64_t trailing);

/*
 * After damage, skip to the next place where several plausible records follow
 * each other.  Return false if the stream has no such place.
 */
bool reader_resume(struct stream_reader *in);

/*
 * Decompress REC, a COMPRESSED (zstd data up to its end) or COMPRESSED2 record (u64 size of the
 * data first, because the record is padded).  All such records of a stream form one zstd stream,
 * and a record inside may span several of them.  Return false if REC is damaged (reported).
 */
bool reader_take_compressed(struct stream_reader *in, const struct record *rec);

/*
 * Return the next whole record from inside COMPRESSED records in *REC; false if no record is
 * complete yet.
 */
bool reader_next_inner(struct stream_reader *in, struct record *rec);

/* At the end of the stream: report an incomplete record inside COMPRESSED records. */
void reader_check_inner_end(struct stream_reader *in);

/*
 * Clear MISC_MMAP_BUILD_ID of an MMAP2 record that has a device and an inode instead of a
 * build ID.  If one event asks for build IDs and another does not, Linux (6.1 at least) sets
 * the flag in the records of both.
 */
void reader_check_mark(const struct stream_reader *in, struct record *rec);

/*
 * Cut stale bytes off the end of REC, the SIZE bytes at AT in the byte order of the input, and
 * correct its header: see record_size_of_fields().  Return its new size.
 */
size_t reader_cut(const struct stream_reader *in, struct record *rec, uint8_t *at, size_t size);

/* newer.c: if REC, which is not a SAMPLE, has what this version does not know, count that. */
void reader_count_newer(struct stream_reader *in, const struct record *rec);

/* At the end of the stream: report what was counted. */
void reader_note_newer(struct stream_reader *in);

/* Update the reader's events and origin from REC. */
void reader_follow(struct stream_reader *in, const struct record *rec);

/*
 * Read the header of a file (HEADER_SIZE bytes, at the start of the buffer), its attrs
 * and its features, make records of them, and go to the start of the data.  Return false if
 * the header is too damaged to read the file (reported).
 */
bool reader_open_file(struct stream_reader *in, uint64_t header_size);

/*
 * Count what the data have expanded to: RECORDS, and BYTES of records that were compressed in turn.
 */
void inflate_count(struct inflate *z, uint64_t bytes, uint64_t records);

/*
 * Return whether the data have expanded to more than 64 MiB plus 200 times their size, or to more
 * than 4 million records plus one for each byte.  No real recording does that: even a repeated
 * sample takes more than a byte, because its time differs.
 */
bool inflate_is_bomb(const struct inflate *z);

/*
 * relabel - rewrites the records of one stream for a stream that joins several.
 *
 * In the joint stream every event samples an IDENTIFIER, and every record of the
 * kernel ends in a sample_id.  So the event of each record is known, even if the
 * events sample different fields.  Ids are new, so that they are unique.
 */

struct relabel {
	struct stream_reader *in;	/* stream that the records come from */
	const uint64_t *new_id;		/* new id for each of stream_events(in)->id */
	const uint64_t *event_id;	/* for each event of IN: new id of samples without an id */
	const uint32_t *event_index;	/* for each event of IN: its index in the joint stream */
	int64_t shift;			/* ns to add to times */
};

/* Return the attr that the event with ATTR has in the joint stream. */
struct perf_event_attr relabel_attr(const struct perf_event_attr *attr);

/* Write REC, a record of the kernel.  A damaged record is reported and skipped. */
void relabel_write(const struct relabel *r, const struct record *rec, struct output *out);
