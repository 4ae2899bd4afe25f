/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/call.h"
#include "elf/internal.h"

#include <elf.h>

/* Return the SIZE bytes before ADDRESS, or NULL. */
static const uint8_t *bytes_before(const struct elf *elf, uint64_t address, uint64_t size)
{
	struct elf_bytes bytes = { 0 };

	if (address >= size)
		bytes = elf_constant_at(elf, address - size, size);
	return bytes.size >= size ? bytes.at : NULL;
}

/*
 * Return the bytes of an operand in memory or a register, by its ModRM byte M and the SIB byte
 * after it (Intel's manual, volume 2, tables 2-2 and 2-3).
 */
static size_t operand_size(uint8_t m, uint8_t sib)
{
	enum { AFTER_SIB = 4, NO_BASE = 5 };
	unsigned mode = m >> 6, base = m & 7;
	size_t size = 1;

	if (mode == 3)
		return size;
	if (base == AFTER_SIB) {
		base = sib & 7;
		size++;
	}
	if (mode == 1)
		return size + 1;
	return mode == 2 || base == NO_BASE ? size + 4 : size;
}

enum { X86_CALL_MIN = 2, X86_CALL_MAX = 7 };	/* bytes */

/* Return whether the SIZE bytes of AT are a call: e8 and four bytes, or ff /2 and an operand. */
static bool is_x86_call(const uint8_t *at, uint64_t size)
{
	enum { DIRECT = 5 };

	if (size == DIRECT && *at == 0xe8)
		return true;
	return at[0] == 0xff && (at[1] >> 3 & 7) == 2 &&
	       1 + operand_size(at[1], size > 2 ? at[2] : 0) == size;
}

static bool x86_follows_call(const struct elf *elf, uint64_t address)
{
	for (uint64_t size = X86_CALL_MIN; size <= X86_CALL_MAX; size++) {
		const uint8_t *at = bytes_before(elf, address, size);
		if (!at || is_x86_call(at, size))
			return true;
	}
	return false;
}

/* Return whether AT has BL, or BLR with or without a signature. */
static bool is_arm64_call(const uint8_t *at)
{
	uint32_t word = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			(uint32_t)at[3] << 24;		/* in either byte order of data */

	return (word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000;
}

static bool arm64_follows_call(const struct elf *elf, uint64_t address)
{
	const uint8_t *at = bytes_before(elf, address, 4);

	return !at || is_arm64_call(at);
}

bool call_ends(const uint8_t *end)
{
#ifdef __aarch64__
	return is_arm64_call(end - 4);
#else
	bool is_call = false;

	for (uint64_t size = X86_CALL_MIN; size <= X86_CALL_MAX; size++)
		is_call |= is_x86_call(end - size, size);
	return is_call;
#endif
}

bool elf_follows_call(const struct elf *elf, uint64_t address)
{
	if (elf->machine == EM_X86_64 || elf->machine == EM_386)
		return x86_follows_call(elf, address);
	return elf->machine != EM_AARCH64 || arm64_follows_call(elf, address);
}
