/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's inside: shared by its two inputs, the pipe (reader.c) and the file (file.c). */
#pragma once
#include "stream/inflate.h"
#include "stream/order.h"
#include "stream/reader.h"

/* "PERFILE2" as little endian has it */
#define STREAM_MAGIC 0x32454c4946524550ULL

enum {
	PIPE_HEADER_SIZE = 16,		/* u64 magic, u64 size of this header */
	READER_BUFFER = 256 * 1024,	/* bytes; more than the largest record */
	/* bytes that one COMPRESSED record may become; perf's rings are far smaller */
	INNER_MAX = 64 * 1024 * 1024,
	PREFIX_MAX = 64 * 1024 * 1024,	/* bytes before a file's data, when it comes by a pipe */
};

struct stream_reader {
	struct report *report;
	const char *file;
	int fd;
	bool seekable;		/* pread() works on FD */
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

struct report_place reader_place(const struct stream_reader *in);

/* The size of the attr at the start of C, by its own word: 0 if that is missing or absurd. */
size_t reader_attr_size(struct cursor c);

/*
 * The file's header of HEADER_SIZE bytes begins the buffer: read it, its attrs
 * and its features; make records of them; go to the data.  False if it is
 * damaged beyond use (reported).
 */
bool reader_open_file(struct stream_reader *in, uint64_t header_size);
