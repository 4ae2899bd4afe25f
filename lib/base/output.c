/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output.h"
#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void output_open(struct output *out, const char *file, struct report *report)
{
	bool is_stdout = !strcmp(file, "-");

	*out = (struct output){ .report = report, .file = is_stdout ? "stdout" : file,
				.buffer = mem_resize(NULL, OUTPUT_BUFFER) };
	out->fd = is_stdout ? STDOUT_FILENO
			    : open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out->fd < 0) {
		report_failure(report, "cannot open '%s' for writing", file);
		out->ended = true;
	}
}

/* Write all of BYTES, waiting where the other end was made non-blocking. */
static void write_all(struct output *out, const uint8_t *bytes, size_t size)
{
	while (size > 0 && !out->ended) {
		ssize_t n = write(out->fd, bytes, size);
		if (n >= 0) {
			bytes += n;
			size -= (size_t)n;
			out->written += (uint64_t)n;
		} else if (errno == EAGAIN) {
			struct pollfd writable = { .fd = out->fd, .events = POLLOUT };
			poll(&writable, 1, -1);
		} else if (errno != EINTR) {
			if (errno != EPIPE)
				report_failure(out->report, "cannot write to %s", out->file);
			out->ended = true;
		}
	}
}

void output_flush(struct output *out)
{
	write_all(out, out->buffer, out->used);
	out->used = 0;
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
		write_all(out, bytes, size);
		return;
	}
	memcpy(out->buffer + out->used, bytes, size);
	out->used += size;
}

void output_close(struct output *out)
{
	output_flush(out);
	/* A network or quota file system may tell of a failed write only now. */
	if (out->fd >= 0 && close(out->fd) < 0 && !out->ended)
		report_failure(out->report, "cannot write to %s", out->file);
	out->fd = -1;
	out->ended = true;
	free(out->buffer);
	out->buffer = NULL;
}
