/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpack compressed sections.  Debug information usually compresses to 1/10 of its size at
 * best.  Repetitive contents, such as the line tables of generated code, compress further: to
 * 1/1000 with zlib, and to less with zstd.  So the sections of a file together may unpack to
 * RATIO_MAX times their compressed size, plus DENSE_MAX (less in a small file).  This also limits
 * the memory for rows and functions, which is a multiple of the unpacked size.
 */
#include "base/arena.h"
#include "elf/internal.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zstd.h>

enum { RATIO_MAX = 32 };
#define UNPACKED_MAX (8ULL << 30)	/* bytes */
#define DENSE_MAX (16ULL << 20)		/* bytes that any file may unpack to, beside the ratio */

static bool unpack_zlib(struct elf_bytes packed, uint8_t *to, size_t size)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool good = d && libdeflate_zlib_decompress(d, packed.at, packed.size, to, size, NULL) ==
			 LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(d);
	return good;
}

/* Fill the SIZE bytes at TO from PACKED.  False: it is damaged, or has another size. */
static bool unpack(enum packing packing, struct elf_bytes packed, uint8_t *to, size_t size)
{
	if (packing == PACKED_ZLIB)
		return unpack_zlib(packed, to, size);
	if (packing == PACKED_ZSTD)
		return ZSTD_decompress(to, size, packed.at, packed.size) == size;
	memcpy(to, packed.at, size);
	return true;
}

/*
 * PACKED_SIZE bytes of the file allow RATIO times as many bytes to be unpacked: add them to the
 * allowance, and take SIZE bytes from it.  False: SIZE is too large; ELF->refused is set.
 */
static bool take(struct elf *elf, uint64_t packed_size, uint64_t ratio, uint64_t size)
{
	uint64_t left = elf->data > elf->packed ? elf->data - elf->packed : 0;
	uint64_t packed = packed_size < left ? packed_size : left;	/* sections may overlap */

	if (elf->packed == 0)
		elf->unpackable += elf_allowance(elf, DENSE_MAX);
	elf->packed += packed;
	elf->unpackable += ratio * packed;
	if (size > UNPACKED_MAX || size > elf->unpackable) {
		elf->refused = true;
		return false;
	}
	elf->unpackable -= size;
	elf_charge(elf, size);
	return true;
}

/*
 * Return SIZE bytes for the caller to free, or NULL.  A large block is in huge pages if the system
 * has them, because each page costs a fault, in which the kernel clears it.
 */
static uint8_t *allocate(size_t size)
{
	enum { HUGE_PAGE = 2 << 20, LEAST = 2 * HUGE_PAGE };
	size_t whole = (size + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);

	if (size < LEAST)
		return malloc(size);
	uint8_t *at = aligned_alloc(HUGE_PAGE, whole);
	if (at)		/* the last page may be small, because it is not used to its end */
		madvise(at, size & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
	return at;
}

uint8_t *inflate_section(struct elf *elf, enum packing packing, struct elf_bytes packed,
			 uint64_t size)
{
	uint64_t ratio = packing == PACKED_NOT ? 1 : RATIO_MAX;

	if (size == 0 || packed.size == 0 || !take(elf, packed.size, ratio, size))
		return NULL;
	uint8_t *to = allocate(size + 1);
	if (!to || !unpack(packing, packed, to, size)) {
		elf_charge(elf, -size);
		free(to);
		return NULL;
	}
	to[size] = 0;
	/* it is not read again */
	elf_charge(elf, -mapped_rest(&elf->mapped, packed.at, packed.size));
	return to;
}
