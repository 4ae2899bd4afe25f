/* SPDX-License-Identifier: Apache-2.0 */
#include "base/write.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

int write_whole(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t n = write(fd, at, size);
		if (n >= 0) {
			at += n;
			size -= (size_t)n;
		} else if (errno == EAGAIN) {
			struct pollfd writable = { .fd = fd, .events = POLLOUT };
			poll(&writable, 1, -1);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}
