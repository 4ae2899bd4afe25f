/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a stream, from a callback of the program, or from what may let a reader wait. */
#include "library/stream.h"

#include <poll.h>
#include <unistd.h>

static ssize_t call(const struct stream_input *input, void *bytes, size_t size)
{
	struct aside aside = leave_guard();
	ssize_t n = input->read(input->context, bytes, size);
	int error = errno;

	return_to_guard(aside);
	errno = error;
	if (n >= 0 && (size_t)n > size) {	/* it wrote beyond the buffer, or miscounted */
		errno = EINVAL;
		return -1;
	}
	return n;
}

ssize_t stream_input_read(void *context, void *bytes, size_t size)
{
	struct pmukit_stream *s = context;
	struct stream_input *input = &s->input;

	while (!s->is_stopped) {
		struct pollfd fds[] = { { .fd = input->fd, .events = POLLIN },
					{ .fd = owned_fd(&input->wake), .events = POLLIN } };

		if (input->read)
			return call(input, bytes, size);
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -1;
		if (!fds[0].revents)
			continue;
		ssize_t n = read(input->fd, bytes, size);
		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			return n;
	}
	return 0;
}

void pmukit_stream_stop(struct pmukit_stream *s)
{
	static const uint64_t one = 1;
	int error = errno, wake;

	/* a process after fork() has the same eventfd, but a stream of its own */
	if (!s || s->handle.kind != HANDLE_STREAM || !*s->handle.mark)
		return;
	s->is_stopped = 1;
	/* a full counter wakes the reader as well */
	wake = owned_fd(&s->input.wake);
	if (wake >= 0 && write(wake, &one, sizeof(one)) < 0)
		errno = error;
	errno = error;
}
