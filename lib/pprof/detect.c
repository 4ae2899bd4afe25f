/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/detect.h"
#include "stream/look.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Copy the next SIZE bytes of a file or pipe, which can still be read.  Return their number. */
static size_t peek(int fd, uint8_t *bytes, size_t size)
{
	struct stat st;
	ssize_t n = 0;
	int copy[2];

	if (fstat(fd, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode)) {
		n = pread(fd, bytes, size, lseek(fd, 0, SEEK_CUR));
	} else if (S_ISFIFO(st.st_mode) && pipe2(copy, O_CLOEXEC) == 0) {
		n = tee(fd, copy[1], size, 0);
		if (n > 0)
			n = read(copy[0], bytes, (size_t)n);
		close(copy[0]);
		close(copy[1]);
	}
	return n > 0 ? (size_t)n : 0;
}

/*
 * Return whether the writers of a pipe may write more.  A FIFO with a name is not waited for: the
 * tool opens it again, which would block if its writer had finished.
 */
static bool may_grow(int fd)
{
	struct pollfd of = { .fd = fd };
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC && poll(&of, 1, 0) == 0;
}

/*
 * Look at the first bytes of FD.  A pipe may have got only a few of them so far: wait for as many
 * as it takes to know a plain input, or one that is compressed.
 */
static enum look_kind kind_of(int fd)
{
	const struct timespec moment = { .tv_nsec = 2000000 };
	uint8_t head[512];
	size_t size, enough;

	for (;;) {
		bool is_all = !may_grow(fd);
		size = peek(fd, head, sizeof(head));
		/* compressed, or JSON, which may have much white space */
		enough = size > 0 && memchr("\x1f\x28{[ \t\r\n", *head, 8) ? sizeof(head) : 16;
		if (is_all || size >= enough || look_at(head, size, false).kind == LOOK_ROWS)
			return look_at(head, size, true).kind;
		if (size == 0)
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
		else
			nanosleep(&moment, NULL);
	}
}

bool detect_profile(const char *file)
{
	bool is_stdin = !strcmp(file, "-");
	int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	enum look_kind kind = kind_of(fd);
	if (!is_stdin)
		close(fd);
	return kind == LOOK_PROFILE || kind == LOOK_ROWS;
}
