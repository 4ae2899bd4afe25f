/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool linux_read_text(char *text, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	int length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	*text = '\0';
	if (length < 0 || (size_t)length >= sizeof(path))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	return true;
}

long linux_read_number(const char *file, long fallback)
{
	char text[32], *end;

	if (!linux_read_text(text, sizeof(text), "%s", file))
		return fallback;
	long number = strtol(text, &end, 10);
	return end == text ? fallback : number;
}
