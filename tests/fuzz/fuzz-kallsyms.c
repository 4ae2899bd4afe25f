/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz-kallsyms - any bytes as a list of symbols, and as a copy with the right checksum. */
#include "symbol/kallsyms-copy.h"
#include "tests/memory-file.h"

#include <libdeflate.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void look_up(const struct kallsyms *k, size_t size)
{
	for (uint64_t bit = 1; bit; bit <<= 1) {
		const char *module, *name = kallsyms_find(k, bit - 1, &module);
		if (name && strlen(name) + (module ? strlen(module) : 0) > 2 * size)
			__builtin_trap();
		kallsyms_is_certain(k, bit - 1);
	}
	kallsyms_address(k, "_text");
}

/* Look up in the copy whose bytes after the checksum are these. */
static void read_copy(const struct kallsyms *any, const uint8_t *bytes, size_t size)
{
	enum { CHECKED = 16 };		/* offset of what the checksum covers, which is before it */
	uint32_t checksum = libdeflate_crc32(0, bytes, size);
	uint64_t key = 0;
	const char *why;
	size_t length;
	uint8_t *copy = kallsyms_encode(any, 0, &length);

	copy = mem_resize(copy, CHECKED + size);
	memcpy(copy + CHECKED - sizeof(checksum), &checksum, sizeof(checksum));
	memcpy(copy + CHECKED, bytes, size);
	memcpy(&key, bytes, size < sizeof(key) ? size : sizeof(key));
	struct kallsyms *k = kallsyms_decode(copy, CHECKED + size, key, &why);
	if (k)
		look_up(k, size);
	kallsyms_close(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char file[MEMORY_FILE_PATH];
	int fd = memory_file(bytes, size, file);
	struct kallsyms *k = kallsyms_open(file);

	close(fd);
	look_up(k, size);
	read_copy(k, bytes, size);
	kallsyms_close(k);
	return 0;
}
