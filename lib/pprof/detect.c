/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/detect.h"
#include "stream/look.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
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

bool detect_profile(const char *file)
{
	uint8_t head[512];
	bool is_stdin = !strcmp(file, "-");
	int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	size_t size = peek(fd, head, sizeof(head));
	if (!is_stdin)
		close(fd);
	return look_at(head, size, true).kind == LOOK_PROFILE;
}
