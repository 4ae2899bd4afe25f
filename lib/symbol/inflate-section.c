/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks compressed sections.  The size that a section claims is believed up
 * to more than any debug information reaches, which is packed at 10 to 1 or less.
 */
#include "base/arena.h"
#include "symbol/elf-internal.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

enum { RATIO_MAX = 100, SMALL = 64 * 1024 };
#define UNPACKED_MAX (8ULL << 30)	/* bytes */

static bool unpack_zlib(struct elf_bytes packed, uint8_t *to, size_t size)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool good = d && libdeflate_zlib_decompress(d, packed.at, packed.size, to, size, NULL) ==
			 LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(d);
	return good;
}

uint8_t *inflate_section(enum packing packing, struct elf_bytes packed, uint64_t size)
{
	bool good;

	if (size == 0 || size > UNPACKED_MAX || size > packed.size * RATIO_MAX + SMALL)
		return NULL;
	uint8_t *to = malloc(size + 1);
	if (!to)
		return NULL;
	if (packing == PACKED_ZLIB)
		good = unpack_zlib(packed, to, size);
	else
		good = ZSTD_decompress(to, size, packed.at, packed.size) == size;
	if (!good) {
		free(to);
		return NULL;
	}
	to[size] = 0;
	return to;
}
