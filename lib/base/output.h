/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output - buffered binary output to stdout or a file.
 *
 * Every write is checked.  A reader that went away (EPIPE) ends the output
 * quietly; any other failure is reported once.  After either, output_ended()
 * is true and writes are dropped, so a tool needs one check per round.
 */
#pragma once
#include "base/report.h"

#include <stddef.h>

struct output_queue;
struct output_zstd;
struct replace;

struct output {
	struct report *report;
	const char *file;	/* for messages */
	int fd;			/* -1: could not be opened */
	bool ended;		/* the reader is gone, or a write failed */
	uint64_t written;	/* bytes given to the kernel, or waiting for it */
	size_t used;		/* bytes in BUFFER */
	uint8_t *buffer;	/* ours, OUTPUT_BUFFER bytes */
	struct replace *replace;	/* NULL: the file is written in place */
	bool is_whole;		/* once it is closed: all was written */
	struct output_queue *queue;	/* NULL: it is written directly */
	struct output_zstd *zstd;	/* NULL: it is not compressed */
	int level;		/* of the compression; 0: none */
	bool elastic;		/* has a queue, in each of its files */
};

enum { OUTPUT_BUFFER = 256 * 1024 };	/* bytes; larger than any record */

/* Open FILE ("-": stdout) for writing from its start.  REPORT must outlive OUT. */
void output_open(struct output *out, const char *file, struct report *report);

/*
 * Open FILE ("-": stdout) so that it appears whole when it is closed without a failure; else
 * it stays what it was (base/replace.h, which explains SAME_INODE).  output_open_in() does the
 * same for NAME in DIRECTORY, a descriptor.
 */
void output_open_whole(struct output *out, const char *file, bool same_inode,
		       struct report *report);
void output_open_in(struct output *out, int directory, const char *name, struct report *report);

/* Write no more, and let a file that was to appear whole stay what it was. */
void output_discard(struct output *out);

/* SIZE bytes of room (at most OUTPUT_BUFFER) to fill, then output_commit(). Never NULL. */
uint8_t *output_room(struct output *out, size_t size);

/* The first SIZE bytes of the room are data now. */
static inline void output_commit(struct output *out, size_t size)
{
	out->used += size;
}

void output_write(struct output *out, const void *bytes, size_t size);

/* Give everything to the kernel. */
void output_flush(struct output *out);

/*
 * From now on let a thread do the writing: a flush returns at once, and what
 * the reader does not take is kept.  A failure to start it is reported, and
 * the output stays direct.
 */
void output_make_elastic(struct output *out);

/* From now on compress by zstd at LEVEL, 1..19. */
void output_compress(struct output *out, int level);

/* Bytes kept for a slow reader; 0 where the output is direct. */
size_t output_waiting(const struct output *out);

/* Whether further output goes nowhere. */
static inline bool output_ended(const struct output *out)
{
	return out->ended;
}

/*
 * Flush and close the file, for it to be renamed; then begin anew one of the
 * same name, compressed and elastic as before.  Not for stdout.
 */
void output_end_file(struct output *out);
void output_begin_file(struct output *out);

/* Flush and close; a failure is reported.  False: not all was written, or it was discarded. */
bool output_close(struct output *out);
