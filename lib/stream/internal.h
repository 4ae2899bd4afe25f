/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's inside: shared by its parts. */
#pragma once
#include "stream/inflate.h"
#include "stream/order.h"
#include "stream/reader.h"

/* "PERFILE2" as little endian has it */
#define STREAM_MAGIC 0x32454c4946524550ULL
/* "PERFFILE": what perf wrote until Linux 3.3, in any byte order */
#define STREAM_MAGIC_1 0x454c494646524550ULL

enum {
	PIPE_HEADER_SIZE = 16,		/* u64 magic, u64 size of this header */
	READER_BUFFER = 256 * 1024,	/* bytes; more than the largest record */
	/* bytes that one COMPRESSED record may become; perf's rings are far smaller */
	INNER_MAX = 64 * 1024 * 1024,
	BEHIND_MAX = 48 * 1024 * 1024,	/* bytes behind a record that are shown with it */
};

/* A record that cannot be used, and is passed to nobody. */
#define RECORD_DROPPED UINT32_MAX

struct stream_reader {
	struct report *report;
	const char *file;
	int fd;
	bool seekable;		/* pread() works on FD */
	bool swap;		/* of the other byte order */
	bool is_file;		/* perf.data with a header and sections, not pipe mode */
	bool ended;		/* at its end, or damaged: no more records */
	bool damaged;		/* something was, or is missing */
	const volatile sig_atomic_t *stop;
	struct stream_events events;
	struct stream_origin origin;
	uint64_t limit;		/* stream offset where the records end; UINT64_MAX: at EOF */
	uint64_t offset;	/* stream offset of buffer[begin] */
	size_t begin, end;	/* unread bytes: buffer[begin..end) */
	size_t capacity;
	uint8_t *buffer;
	struct order *order;	/* records wait here for their time */
	uint8_t kept[64];	/* a record of which more is skipped than is shown */
	struct record held;	/* what waits until all before it have come out of ORDER */
	bool has_held;
	bool filtered;		/* a filter before us has put it in order, whoever recorded it */
	bool drained;		/* the input has ended; what waits still comes */
	/* the whole stream is compressed: its bytes before they are decompressed */
	struct inflate *wrapping;
	uint8_t *wrapped;
	/* COMPRESSED records: what came out of them; inner[inner_at..inner_size) is unread */
	struct inflate *inflate;
	uint8_t *inner;
	size_t inner_at, inner_size, inner_capacity;
	uint64_t inner_offset;	/* of the COMPRESSED record it came from */
	/* records made from a file's header: made[made_at..made_size) are still to come */
	uint8_t *made;
	size_t made_at, made_size;
};

/* Make SIZE unread bytes contiguous.  False at the end of the input or an error (reported). */
bool reader_fill(struct stream_reader *in, size_t size);

/* Move on by SIZE unread bytes, which need not be buffered.  False at the end of the input. */
bool reader_skip(struct stream_reader *in, uint64_t size);

/* A stream that zstd or gzip has wrapped: from now on read what is in it. */
void reader_unwrap(struct stream_reader *in);

/*
 * A perf.data file by a pipe or compressed: its features come last, so all of it is put
 * into a temporary file, which from now on is read.  False where that fails (reported).
 */
bool reader_spool(struct stream_reader *in);

struct report_place reader_place(const struct stream_reader *in);

static inline bool reader_stopped(const struct stream_reader *in)
{
	return in->stop && *in->stop;
}

/* The input is damaged where it is being read. */
#define reader_damage(in, ...) \
	((in)->damaged = true, report_damage((in)->report, reader_place(in), __VA_ARGS__))

/* REC is the SIZE bytes at AT: put these into our byte order, or empty it where that cannot be. */
void reader_swap(struct stream_reader *in, struct record *rec, uint8_t *at, size_t size);

/*
 * Where the input goes on behind damage: at the next place where several
 * records follow each other.  False if there is none.
 */
bool reader_resume(struct stream_reader *in);

/*
 * COMPRESSED: zstd data to the record's end; COMPRESSED2: u64 size of them
 * first, since the record is padded.  All records of a stream are one zstd
 * stream, and the records inside span them.
 */
bool reader_take_compressed(struct stream_reader *in, const struct record *rec);

/* The next whole record that came out of COMPRESSED ones; false: there is none yet. */
bool reader_next_inner(struct stream_reader *in, struct record *rec);

/* The end of the stream, or of its use: is a record begun in COMPRESSED ones? */
void reader_check_inner_end(struct stream_reader *in);

/*
 * Of MMAP2 records of an event that does not ask for build IDs: Linux up to 6.1, at least,
 * leaves the mark of another event's record in them, whoever's that is.  Take it away where
 * device and inode stand.
 */
void reader_check_mark(const struct stream_reader *in, struct record *rec);

/* Learn what the reader itself needs from a record. */
void reader_follow(struct stream_reader *in, const struct record *rec);

/*
 * The file's header of HEADER_SIZE bytes begins the buffer: read it, its attrs
 * and its features; make records of them; go to the data.  False if it is
 * damaged beyond use (reported).
 */
bool reader_open_file(struct stream_reader *in, uint64_t header_size);
