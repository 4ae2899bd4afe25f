/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output - buffered binary output to stdout, a file or a function.
 *
 * Every write is checked.  If the reader closes the pipe (EPIPE), the output
 * ends without a message; any other failure is reported once.  After either,
 * output_ended() is true and writes are discarded, so a tool needs only one
 * check per round of its loop.
 */
#pragma once
#include "base/buffer.h"
#include "base/report.h"

#include <stddef.h>

struct output_queue;
struct output_zstd;
struct replace;

/* Callback: take SIZE bytes.  False: that failed, and errno says why, as for write(2). */
typedef bool output_sink(void *context, const void *bytes, size_t size);

/* Callback: take SIZE bytes. */
typedef void output_put(void *to, const void *bytes, size_t size);

/* Changes the bytes of each file on their way; see output_convert(). */
struct output_converter {
	void (*begin)(void *context);	/* a file begins */
	/* change SIZE bytes, and give the result to PUT */
	void (*convert)(void *context, const void *bytes, size_t size, output_put *put,
			void *to);
	/* the file ends: return SIZE bytes that replace its first ones, or NULL */
	const void *(*end)(void *context, size_t *size, output_put *put, void *to);
};

struct output {
	struct report *report;
	const char *file;	/* name for messages */
	int fd;			/* -1: could not be opened, or SINK is used */
	output_sink *sink;	/* takes all bytes; NULL: FD is written to */
	void *context;		/* of SINK */
	bool ended;		/* the reader closed the pipe, or a write failed */
	uint64_t written;	/* bytes of this file, compressed: passed to the kernel or QUEUE */
	size_t used;		/* bytes in BUFFER */
	uint8_t *buffer;	/* OUTPUT_BUFFER bytes, owned */
	struct replace *replace;	/* NULL: the file is written in place */
	bool is_late;		/* the file is emptied by the first write */
	bool is_as_before;	/* IS_LATE, and it has not been emptied yet */
	bool is_new;		/* IS_LATE, and we have created the file */
	bool is_held;		/* all bytes go to HELD: see output_hold() */
	struct buffer held;
	bool is_whole;		/* set by output_close(): everything was written */
	struct output_queue *queue;	/* NULL: written directly */
	struct output_zstd *zstd;	/* NULL: not compressed */
	const struct output_converter *converter;	/* NULL: bytes are written as they are */
	void *converting;	/* the context of CONVERTER */
	int level;		/* of compression; 0: none */
	bool elastic;		/* each file is written through a queue */
};

enum { OUTPUT_BUFFER = 256 * 1024 };	/* bytes; larger than any record */

/* Open FILE ("-": stdout) for writing from its start.  REPORT must outlive OUT. */
void output_open(struct output *out, const char *file, struct report *report);

/* Give all bytes to SINK.  NAME is the name for messages; it must outlive OUT. */
void output_open_sink(struct output *out, const char *name, output_sink *sink, void *context,
		      struct report *report);

/*
 * Like output_open(), but a regular FILE is emptied only before the first bytes are written.  If
 * output_discard() comes earlier, FILE stays unchanged, and is removed if it was created here.
 */
void output_open_late(struct output *out, const char *file, struct report *report);

/* Open a file in memory, which only OUT->fd leads to. */
void output_open_memory(struct output *out, struct report *report);

/*
 * Open FILE ("-": stdout), or NAME in DIRECTORY (a descriptor), so that the file is
 * replaced as a whole when it is closed without failure; else it stays unchanged
 * (base/replace.h, which explains SAME_INODE).
 */
void output_open_whole(struct output *out, const char *file, bool same_inode,
		       struct report *report);
void output_open_in(struct output *out, int directory, const char *name, struct report *report);

/*
 * Discard all further writes, and leave a file of output_open_whole() or _in() unchanged; also one
 * of output_open_late(), to which nothing was written.
 */
void output_discard(struct output *out);

/*
 * If a file of output_open_late() is still unchanged, keep in memory what is written to OUT from
 * now on, so that output_discard() leaves the file unchanged, too.  output_go_on() writes it.
 */
void output_hold(struct output *out);
void output_go_on(struct output *out);

/* Return room for SIZE bytes (at most OUTPUT_BUFFER), for output_commit().  Never NULL. */
uint8_t *output_room(struct output *out, size_t size);

/* Write the first SIZE bytes that the caller put into output_room(). */
static inline void output_commit(struct output *out, size_t size)
{
	out->used += size;
}

void output_write(struct output *out, const void *bytes, size_t size);

/* Write all buffered bytes. */
void output_flush(struct output *out);

/*
 * From now on write in a thread: a flush returns at once, and bytes that a slow
 * reader has not read are kept in memory.  If the thread cannot be started, this is
 * reported, and the output is still written directly.
 */
void output_make_elastic(struct output *out);

/* From now on compress with zstd at LEVEL, 1..19. */
void output_compress(struct output *out, int level);

/*
 * From now on convert each file by CONVERTER.  Nothing was written to OUT yet.  It is not
 * compressed, and it can seek: output_can_seek().
 */
void output_convert(struct output *out, const struct output_converter *converter, void *context);

/* Return whether the start of OUT's file can be written again; also if it could not be opened. */
bool output_can_seek(const struct output *out);

/* Return the number of bytes kept for a slow reader; 0 if the output has no thread. */
size_t output_waiting(const struct output *out);

/* Return whether further writes are discarded. */
static inline bool output_ended(const struct output *out)
{
	return out->ended;
}

/*
 * Flush and close the file, so that the caller can rename it; then start a new file
 * of the same name, with the same compression and thread.  Not for stdout.
 */
void output_end_file(struct output *out);
void output_begin_file(struct output *out);

/*
 * Flush and close OUT, which output_open_memory() opened.  Return a descriptor of the file, at its
 * start, or -1 (reported).
 */
int output_take_memory(struct output *out);

/* Flush and close; failures are reported.  Return false if not all was written, or discarded. */
bool output_close(struct output *out);
