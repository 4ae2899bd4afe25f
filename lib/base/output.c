/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/destination.h"
#include "base/output-queue.h"
#include "base/output-zstd.h"
#include "base/replace.h"
#include "base/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct output new_output(const char *file, struct report *report)
{
	return (struct output){ .report = report, .file = file, .fd = -1,
				.buffer = mem_resize(NULL, OUTPUT_BUFFER) };
}

/* Open FILE ("-": stdout).  IS_LATE: see output_open_late(). */
static void open_named(struct output *out, const char *file, bool is_late, struct report *report)
{
	bool is_stdout = !strcmp(file, "-");

	*out = new_output(is_stdout ? "stdout" : file, report);
	out->is_late = is_late;
	if (is_stdout) {
		out->fd = STDOUT_FILENO;
		descriptor_enlarge_pipe(out->fd);
	} else {
		output_begin_file(out);
	}
}

void output_open(struct output *out, const char *file, struct report *report)
{
	open_named(out, file, false, report);
}

void output_open_late(struct output *out, const char *file, struct report *report)
{
	open_named(out, file, true, report);
}

static void report_unopened(struct output *out)
{
	report_error(out->report, "cannot open '%s' for writing: %s", out->file,
		     destination_why(errno));
	out->ended = true;
}

void output_open_sink(struct output *out, const char *name, output_sink *sink, void *context,
		      struct report *report)
{
	*out = new_output(name, report);
	out->sink = sink;
	out->context = context;
}

void output_open_memory(struct output *out, struct report *report)
{
	*out = new_output("memory", report);
	out->fd = memfd_create("pmukit", MFD_CLOEXEC);
	if (out->fd < 0)
		report_unopened(out);
}

/* Write OUT to REPLACE; NULL: report that it could not be opened (errno). */
static void write_whole_file(struct output *out, struct replace *replace)
{
	out->replace = replace;
	if (replace) {
		out->fd = replace_fd(replace);
		descriptor_enlarge_pipe(out->fd);	/* it may be a FIFO */
	} else {
		report_unopened(out);
	}
}

void output_open_whole(struct output *out, const char *file, bool same_inode,
		       struct report *report)
{
	if (!strcmp(file, "-")) {
		output_open(out, file, report);
		return;
	}
	*out = new_output(file, report);
	write_whole_file(out, replace_open(file, same_inode));
}

void output_open_in(struct output *out, int directory, const char *name, struct report *report)
{
	*out = new_output(name, report);
	write_whole_file(out, replace_open_in(directory, name, 0666));
}

void output_begin_file(struct output *out)
{
	struct destination d;

	out->written = 0;
	out->ended = false;
	bool is_found = destination_find(&d, out->file);
	out->fd = is_found ? destination_open(&d, O_CREAT | (out->is_late ? 0 : O_TRUNC)) : -1;
	out->is_new = out->is_late && !d.exists;
	out->is_as_before = out->is_late && out->fd >= 0 && (!d.exists || S_ISREG(d.st.st_mode));
	descriptor_close(d.directory);
	if (out->fd < 0)
		report_unopened(out);
	else
		descriptor_enlarge_pipe(out->fd);	/* FILE may be a FIFO */
	if (out->level)
		output_compress(out, out->level);
	if (out->converter)
		out->converter->begin(out->converting);
	if (out->elastic)
		output_make_elastic(out);
}

/* A write failed with ERROR.  EPIPE is not reported: the reader has closed the pipe. */
static void end_output(struct output *out, int error)
{
	errno = error;
	if (error != EPIPE && !out->ended)
		report_failure(out->report, "cannot write to %s", out->file);
	out->ended = true;
}

/* Return 0, or why the bytes could not be written, as in errno. */
static int write_out(struct output *out, const uint8_t *bytes, size_t size)
{
	if (out->sink)
		return out->sink(out->context, bytes, size) ? 0 : errno;
	return out->queue ? output_queue_add(out->queue, bytes, size)
			  : write_whole(out->fd, bytes, size);
}

/* Empty the file of an output that opened it late, if that has not been done. */
static void empty_late(struct output *out)
{
	if (out->is_as_before && ftruncate(out->fd, 0) < 0)
		end_output(out, errno);
	out->is_as_before = false;
}

static void write_all(struct output *out, const uint8_t *bytes, size_t size)
{
	if (out->ended || size == 0)
		return;
	if (out->is_held) {
		buffer_add(&out->held, bytes, size);
		return;
	}
	empty_late(out);
	if (out->ended)
		return;
	out->written += size;
	int error = write_out(out, bytes, size);
	if (error)
		end_output(out, error);
}

/* For a converter. */
static void write_converted(void *context, const void *bytes, size_t size)
{
	write_all(context, bytes, size);
}

static void write_compressed(void *context, const void *bytes, size_t size)
{
	write_all(context, bytes, size);
}

/* Write SIZE bytes, compressed if that was asked for. */
static void put(struct output *out, const uint8_t *bytes, size_t size, bool is_last)
{
	if (out->converter && !out->ended)
		out->converter->convert(out->converting, bytes, size, write_converted, out);
	else if (!out->zstd || out->ended)
		write_all(out, bytes, size);
	else if (!output_zstd_write(out->zstd, bytes, size, is_last, write_compressed, out))
		end_output(out, ENOMEM);
}

void output_flush(struct output *out)
{
	if (out->used > 0)
		put(out, out->buffer, out->used, false);
	out->used = 0;
}

void output_hold(struct output *out)
{
	out->is_held = out->is_as_before;
}

void output_go_on(struct output *out)
{
	out->is_held = false;
	write_all(out, out->held.at, out->held.size);
	free(out->held.at);
	out->held = (struct buffer){ 0 };
}

uint8_t *output_room(struct output *out, size_t size)
{
	if (OUTPUT_BUFFER - out->used < size)
		output_flush(out);
	return out->buffer + out->used;
}

void output_write(struct output *out, const void *bytes, size_t size)
{
	if (OUTPUT_BUFFER - out->used < size)
		output_flush(out);
	if (size > OUTPUT_BUFFER) {
		put(out, bytes, size, false);
		return;
	}
	memcpy(out->buffer + out->used, bytes, size);
	out->used += size;
}

void output_make_elastic(struct output *out)
{
	if (out->fd < 0 || out->queue)
		return;
	out->elastic = true;
	out->queue = output_queue_start(out->fd);
	if (!out->queue)
		report_failure(out->report, "cannot start a thread to write to %s", out->file);
}

void output_compress(struct output *out, int level)
{
	out->level = level;
	out->zstd = output_zstd_open(level);
	if (!out->zstd)
		end_output(out, ENOMEM);
}

void output_convert(struct output *out, const struct output_converter *converter, void *context)
{
	out->converter = converter;
	out->converting = context;
	converter->begin(context);
}

bool output_can_seek(const struct output *out)
{
	bool appends = out->fd >= 0 && fcntl(out->fd, F_GETFL) & O_APPEND;

	return out->fd < 0 || (!appends && lseek(out->fd, 0, SEEK_CUR) == 0);
}

size_t output_waiting(const struct output *out)
{
	return out->queue ? output_queue_waiting(out->queue) : 0;
}

/* Remove the file of OUT, unless another has taken its name, or somebody has written to it. */
static void remove_file(const struct output *out)
{
	struct destination d;
	struct stat st;

	if (!destination_find(&d, out->file))
		return;
	if (d.exists && fstat(out->fd, &st) == 0 && st.st_size == 0 &&
	    st.st_dev == d.st.st_dev && st.st_ino == d.st.st_ino)
		unlinkat(d.directory, d.name, 0);
	descriptor_close(d.directory);
}

void output_end_file(struct output *out)
{
	const void *start = NULL;
	size_t size = 0;

	output_flush(out);
	if (out->converter && !out->ended)
		start = out->converter->end(out->converting, &size, write_converted, out);
	if (out->zstd)
		put(out, out->buffer, 0, true);
	output_zstd_close(out->zstd);
	out->zstd = NULL;
	if (out->queue) {
		int error = output_queue_stop(out->queue);
		if (error)
			end_output(out, error);
		out->queue = NULL;
	}
	if (start && !out->ended && pwrite(out->fd, start, size, 0) != (ssize_t)size)
		end_output(out, errno);
	if (!out->ended)
		empty_late(out);
	else if (out->is_as_before && out->is_new)
		remove_file(out);
	/* A network or quota file system may report a failed write only now. */
	bool good = out->replace ? replace_close(out->replace, !out->ended)
				 : out->fd < 0 || close(out->fd) == 0;
	out->replace = NULL;
	out->fd = -1;
	if (!good)
		end_output(out, errno);
	out->is_whole = !out->ended;
	out->ended = true;
}

void output_discard(struct output *out)
{
	out->used = 0;
	out->ended = true;
}

bool output_close(struct output *out)
{
	output_end_file(out);
	free(out->buffer);
	free(out->held.at);
	out->buffer = out->held.at = NULL;
	return out->is_whole;
}

int output_take_memory(struct output *out)
{
	output_flush(out);
	int fd = output_ended(out) ? -1 : fcntl(out->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	output_close(out);
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}
