/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files and images; elf.c reads their headers. */
#include "base/arena.h"
#include "elf/internal.h"
#include "linux/proc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Return the path of FD for the caller to free, or NULL if it is unknown. */
static char *path_of(int fd)
{
	char path[PATH_MAX];
	ssize_t length = readlink(proc_descriptor(fd).text, path, sizeof(path));

	return length > 0 && length < PATH_MAX ? strndup(path, (size_t)length) : NULL;
}

/* Return the bytes of the file without its holes.  Data after PARTS_MAX parts is not counted. */
static uint64_t data_size(int fd, uint64_t size)
{
	enum { PARTS_MAX = 10000 };
	uint64_t sum = 0;
	off_t at = 0;

	for (int i = 0; i < PARTS_MAX; i++) {
		off_t start = lseek(fd, at, SEEK_DATA);
		if (start < 0)
			return errno == ENXIO ? sum : size;
		at = lseek(fd, start, SEEK_HOLE);
		if (at < 0)
			return size;
		sum += (uint64_t)(at - start);
	}
	return sum;
}

/* Map the file FD, which is closed.  On failure, return NULL and set *WHY. */
static struct elf *map_file(int fd, const char **why)
{
	struct elf *elf = mem_zeroed(1, sizeof(*elf));
	bool is_mapped = mapped_open(&elf->mapped, fd);

	*why = "it cannot be mapped";
	elf->path = path_of(fd);
	elf->data = is_mapped ? data_size(fd, elf->mapped.size) : 0;
	close(fd);
	if (!is_mapped) {
		free(elf->path);
		free(elf);
		return NULL;
	}
	elf->image = (struct elf_bytes){ elf->mapped.at, elf->mapped.size };
	return elf;
}

struct elf *elf_open(int fd, const char **why)
{
	struct elf *elf = map_file(fd, why);

	return elf ? elf_open_image(elf, why) : NULL;
}

struct elf *elf_open_part(int fd, uint64_t offset, uint64_t size, const char **why)
{
	struct elf *elf = map_file(fd, why);

	if (!elf)
		return NULL;
	elf->image = elf_part(elf, offset, size);
	elf->part = offset;
	if (elf->data > size)
		elf->data = size;
	return elf_open_image(elf, why);
}

struct elf *elf_open_packed(int fd, const char **why)
{
	struct elf *elf = map_file(fd, why);
	uint8_t *bytes;
	size_t size;

	if (!elf || !elf_is_packed(elf))
		return elf ? elf_open_image(elf, why) : NULL;
	const char *trouble = elf_unpack(elf, elf_image(elf), &bytes, &size);
	if (trouble) {
		*why = trouble;
		elf_close(elf);
		return NULL;
	}
	/* the compressed bytes are not read again */
	elf_charge(elf, -mapped_rest(&elf->mapped, elf->mapped.at, elf->mapped.size));
	elf->owned = bytes;
	elf->image = (struct elf_bytes){ bytes, size };
	elf->data = size;
	elf_charge(elf, size);
	return elf_open_image(elf, why);
}

struct elf *elf_open_memory(const void *bytes, size_t size, const char **why)
{
	struct elf *elf = mem_zeroed(1, sizeof(*elf));

	elf->image = (struct elf_bytes){ bytes, size };
	elf->data = size;
	return elf_open_image(elf, why);
}

struct elf *elf_open_owned(uint8_t *bytes, size_t size, const char **why)
{
	struct elf *elf = elf_open_memory(bytes, size, why);

	if (elf)
		elf->owned = bytes;
	else
		free(bytes);
	return elf;
}
