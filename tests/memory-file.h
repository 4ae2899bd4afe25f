/* SPDX-License-Identifier: Apache-2.0 */
/* memory-file - given bytes as a file in memory, for functions that read a file. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_FILE_PATH = 64 };

/* Return a descriptor of a file of the SIZE bytes; PATH, unless NULL, is set to a path of it. */
static inline int memory_file(const void *bytes, size_t size, char path[MEMORY_FILE_PATH])
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || (size && write(fd, bytes, size) != (ssize_t)size))
		abort();
	if (path)
		snprintf(path, MEMORY_FILE_PATH, "/proc/self/fd/%d", fd);
	return fd;
}
