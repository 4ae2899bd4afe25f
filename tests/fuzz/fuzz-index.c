/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-index - any bytes as an index with the right checksum, read and taken over by a new one. */
#include "base/arena.h"
#include "resolve/index.h"
#include "tests/memory-file.h"

#include <libdeflate.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct index *open_bytes(const uint8_t *bytes, size_t size)
{
	const char *why;

	return index_open(memory_file(bytes, size, NULL), 0, &why);
}

static void look_up(struct index *x, const uint8_t *bytes, size_t size)
{
	struct source_answer found;
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
	enum { CHECKED = 16 };		/* offset of what the checksum covers, which is before it */
	struct dwarf_frame frame = { .file = "file.c", .line = 7 };
	uint32_t checksum = libdeflate_crc32(0, bytes, size);
	struct index_builder *b = index_builder_new(NULL);
	size_t again;
	uint8_t *file = index_builder_encode(b, 0, &again);

	index_builder_free(b);
	file = mem_resize(file, size + CHECKED);
	memcpy(file + CHECKED - sizeof(checksum), &checksum, sizeof(checksum));
	memcpy(file + CHECKED, bytes, size);
	struct index *x = open_bytes(file, size + CHECKED);
	free(file);
	if (!x)
		return 0;
	look_up(x, bytes, size);
	b = index_builder_new(x);
	index_builder_add(b, (struct extent){ 5, 6 },
			  &(struct source_answer){ .frame = &frame, .frames = 1,
						    .symbol = "symbol" });
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
