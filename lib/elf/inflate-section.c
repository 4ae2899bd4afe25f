/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks compressed sections.  Debug information is packed at 10 to 1 or less,
 * but for what repeats itself, as the lines of generated code, where zlib gets to
 * 1000 to 1 and zstd beyond.  So a file's sections may unpack to a sane multiple
 * of their bytes, all together, and to some MiB of any: what its rows and functions
 * take in memory is a multiple of that.
 */
#include "base/arena.h"
#include "elf/internal.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

enum { RATIO_MAX = 32 };
#define UNPACKED_MAX (8ULL << 30)	/* bytes */
#define DENSE_MAX (16ULL << 20)		/* bytes that any file may unpack to */

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
	uint64_t left = elf->data > elf->packed ? elf->data - elf->packed : 0;
	uint64_t packed = packed_size < left ? packed_size : left;	/* sections may overlap */

	if (elf->packed == 0)
		elf->unpackable += DENSE_MAX;
	elf->packed += packed;
	elf->unpackable += RATIO_MAX * packed;
	if (size > UNPACKED_MAX || size > elf->unpackable) {
		elf->refused = true;
		return false;
	}
	elf->unpackable -= size;
	elf_charge(elf, size);
	return true;
}

uint8_t *inflate_section(struct elf *elf, enum packing packing, struct elf_bytes packed,
			 uint64_t size)
{
	bool good;

	if (size == 0 || packed.size == 0 || !take(elf, packed.size, size))
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
