/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/detect.h"
#include "stream/inflate.h"

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
	uint8_t magic[512] = { 0 }, first[4] = { 0 };
	bool is_stdin = !strcmp(file, "-");
	int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	size_t size = peek(fd, magic, sizeof(magic));
	if (!is_stdin)
		close(fd);
	if (magic[0] == 0x1f && magic[1] == 0x8b)
		return inflate_first(magic, size, first, sizeof(first)) < sizeof(first) ||
		       memcmp(first, "PERF", sizeof(first)) != 0;
	return size >= 3 && magic[0] == 0x0a && magic[1] < 0x20 && magic[2] == 0x08;
}
