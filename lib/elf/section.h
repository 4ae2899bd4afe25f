/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section - the contents of an ELF file, for those who read what is in them: DWARF,
 * Go's tables.
 *
 * Nothing here trusts the file: an offset or a size outside it gives no bytes.
 */
#pragma once
#include "base/cursor.h"
#include "elf/elf.h"

struct elf_section {
	uint32_t name, type, link, info;	/* NAME is an offset into the section names */
	uint64_t flags, address, offset, size, alignment, entry_size;
};

/* How many section headers the file has. */
uint32_t elf_sections(const struct elf *elf);

/* Bytes that the file stores, without the holes of a sparse file: work is limited by them. */
uint64_t elf_stored(const struct elf *elf);

/* Count BYTES more of memory for what was read of ELF (or NULL): its pool has a limit. */
void elf_charge(struct elf *elf, uint64_t bytes);

/* Return section header INDEX, all 0 if it is damaged. */
struct elf_section elf_section_at(const struct elf *elf, uint32_t index);

/* Find the section NAME that has contents.  False: the file has none. */
bool elf_find_section(const struct elf *elf, const char *name, struct elf_section *out);

/* Return SIZE bytes at OFFSET of the file, or none if the file does not have all of them. */
struct elf_bytes elf_part(const struct elf *elf, uint64_t offset, uint64_t size);

/* Return a cursor over BYTES that reads in the file's byte order. */
struct cursor elf_cursor(const struct elf *elf, struct elf_bytes bytes);

enum { STRING_MAX = 32768 };	/* bytes; a longer string is hostile, and counts as missing */

/* Return the string at OFFSET of a string table, or NULL. */
const char *elf_string(struct elf_bytes table, uint64_t offset);

/* Store the lowest and the highest address of executable segments; 0 and 0 if there are none. */
void elf_text(const struct elf *elf, uint64_t *start, uint64_t *end);

/* Return the bytes that the file has from ADDRESS to the end of its segment. */
struct elf_bytes elf_at_address(const struct elf *elf, uint64_t address);

/* Store what a relocation puts at address SLOT, without the load address.  False: none does. */
bool elf_relocated(struct elf *elf, uint64_t slot, uint64_t *value);

/* Find the first address above *SLOT where a relocation puts VALUE, without the load address. */
bool elf_relocated_to(struct elf *elf, uint64_t value, uint64_t *slot);
