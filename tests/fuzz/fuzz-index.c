/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-index - any bytes as an index with the right checksum, read and taken over by a new one. */
#include "base/arena.h"
#include "resolve/index-builder.h"
#include "resolve/index-internal.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct index *open_bytes(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("index", MFD_CLOEXEC);
	const char *why;

	if (write(fd, bytes, size) != (ssize_t)size)
		abort();
	return index_open(fd, 0, &why);
}

static void look_up(struct index *x, const uint8_t *bytes, size_t size)
{
	struct index_answer found;
	uint64_t address;

	for (size_t i = 0; i + sizeof(address) <= size; i += 4) {
		memcpy(&address, bytes + i, sizeof(address));
		if (!index_find(x, address, &found) || found.frames == 0)
			continue;
		for (size_t k = 0; k < found.frames; k++)
			if (found.frame[k].file && !strlen(found.frame[k].file))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *file = mem_zeroed(1, size + INDEX_CHECKED);
	uint64_t magic = INDEX_MAGIC;
	uint32_t version = INDEX_VERSION, checksum = libdeflate_crc32(0, bytes, size);
	size_t again;

	memcpy(file, &magic, sizeof(magic));
	memcpy(file + 8, &version, sizeof(version));
	memcpy(file + 12, &checksum, sizeof(checksum));
	memcpy(file + INDEX_CHECKED, bytes, size);
	struct index *x = open_bytes(file, size + INDEX_CHECKED);
	free(file);
	if (!x)
		return 0;
	look_up(x, bytes, size);
	struct index_builder *b = index_builder_new(x);
	struct dwarf_frame frame = { .file = "file.c", .line = 7 };
	index_builder_add(b, (struct extent){ 5, 6 },
			  &(struct index_answer){ INDEX_DEBUG, &frame, 1 }, "symbol");
	file = index_builder_encode(b, 0, &again);
	index_builder_free(b);
	index_close(x);
	x = open_bytes(file, again);
	free(file);
	if (!x)
		abort();
	look_up(x, bytes, size);
	index_close(x);
	return 0;
}
