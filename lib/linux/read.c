/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/read.h"
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

__attribute__((format(printf, 1, 0)))
static int open_path(const char *format, va_list args)
{
	char path[PATH_MAX];
	int length = vsnprintf(path, sizeof(path), format, args);

	errno = ENAMETOOLONG;
	return length < 0 || (size_t)length >= sizeof(path)
		? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

__attribute__((format(printf, 3, 0)))
static ssize_t read_path(void *bytes, size_t size, const char *format, va_list args)
{
	int fd = open_path(format, args);
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, size);

	descriptor_close(fd);
	return n;
}

int linux_open(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int fd = open_path(format, args);
	va_end(args);
	return fd;
}

FILE *linux_open_stream(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int fd = open_path(format, args);
	va_end(args);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

ssize_t linux_read(void *bytes, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	ssize_t n = read_path(bytes, size, format, args);
	va_end(args);
	return n;
}

bool linux_read_text(char *text, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	ssize_t n = read_path(text, size - 1, format, args);
	va_end(args);
	bool was_read = n >= 0;
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[was_read ? n : 0] = '\0';
	return was_read;
}
