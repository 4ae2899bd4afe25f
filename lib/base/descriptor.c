/* SPDX-License-Identifier: Apache-2.0 */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

void descriptor_close(int fd)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
}

void descriptor_fill(int fd, int flags)
{
	if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
		return;
	int null = open("/dev/null", flags);

	if (null >= 0 && null != fd) {
		dup2(null, fd);
		close(null);
	}
}

/* Errors are expected: FD is not a pipe (EBADF), or this user has no right to more (EPERM). */
void descriptor_enlarge_pipe(int fd)
{
	enum { WANTED = 1 << 20 };
	int error = errno, now = fcntl(fd, F_GETPIPE_SZ);

	for (int size = WANTED; now > 0 && size > now; size /= 2)
		if (fcntl(fd, F_SETPIPE_SZ, size) >= 0)
			break;
	errno = error;
}

uint64_t descriptor_raise_limit(void)
{
	struct rlimit limit = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur;
}
