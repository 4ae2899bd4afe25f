/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks compressed sections.  Debug information is packed at 10 to 1 or less,
 * but for what repeats itself, as the lines of generated code, where zlib gets to
 * 1000 to 1 and zstd beyond.  So what a section claims is believed up to a
 * sane ratio, and up to any for some MiB of each file: what its rows and functions
 * take in memory is a multiple of that.
 */
#include "base/arena.h"
#include "elf/internal.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

enum { RATIO_MAX = 100 };
#define UNPACKED_MAX (8ULL << 30)	/* bytes */
#define DENSE_MAX (16ULL << 20)		/* bytes of a file that are packed better than that */

static bool unpack_zlib(struct elf_bytes packed, uint8_t *to, size_t size)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool good = d && libdeflate_zlib_decompress(d, packed.at, packed.size, to, size, NULL) ==
			 LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(d);
	return good;
}

/* Count SIZE bytes as unpacked.  False: they are too many. */
static bool take(struct elf *elf, uint64_t packed_size, uint64_t size)
{
	bool is_dense = size / RATIO_MAX > packed_size;

	if (size > UNPACKED_MAX || (is_dense && size > DENSE_MAX - elf->dense)) {
		elf->refused = true;
		return false;
	}
	elf->dense += is_dense ? size : 0;
	return true;
}

uint8_t *inflate_section(struct elf *elf, enum packing packing, struct elf_bytes packed,
			 uint64_t size)
{
	bool good;

	if (size == 0 || !take(elf, packed.size, size))
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
