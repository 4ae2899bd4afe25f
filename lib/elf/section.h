/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section - the raw contents of an ELF file, for readers of DWARF and of Go's tables.
 *
 * Nothing here trusts the file: an offset or a size outside the file gives no bytes.
 */
#pragma once
#include "base/cursor.h"
#include "elf/elf.h"

/* A section header, in this machine's byte order (elf.h: Elf64_Shdr). */
struct elf_section {
	uint32_t name, type, link, info;	/* name: offset in the section names */
	uint64_t flags, address, offset, size, alignment, entry_size;
};

/* Return the number of section headers that the file contains. */
uint32_t elf_sections(const struct elf *elf);

/* Return the bytes that the file stores, without its holes.  Limits of work depend on them. */
uint64_t elf_stored(const struct elf *elf);

/*
 * Return what ELF may use of MOST, a limit for any file, whatever its size: at most 32 times the
 * bytes that it stores.  Otherwise each of thousands of small files could use MOST.
 */
static inline uint64_t elf_allowance(const struct elf *elf, uint64_t most)
{
	enum { SMALL_RATIO = 32 };
	uint64_t stored = elf_stored(elf);

	return stored < most / SMALL_RATIO ? SMALL_RATIO * stored : most;
}

/* Charge BYTES of memory for data read from ELF to ELF and its pool.  ELF may be NULL. */
void elf_charge(struct elf *elf, uint64_t bytes);

/* Return section header INDEX; all fields are 0 if it is not in the file. */
struct elf_section elf_section_at(const struct elf *elf, uint32_t index);

/* Return the name of S, a section of ELF; NULL: it has none. */
const char *elf_section_name(const struct elf *elf, const struct elf_section *s);

/* Find the first section NAME that has contents.  False: ELF has no such section. */
bool elf_find_section(const struct elf *elf, const char *name, struct elf_section *out);

/* Return SIZE bytes at OFFSET of the file, or no bytes if the file ends before. */
struct elf_bytes elf_part(const struct elf *elf, uint64_t offset, uint64_t size);

/* The same for bytes that are used only after elf_need(): they need not be read at once. */
struct elf_bytes elf_range(const struct elf *elf, uint64_t offset, uint64_t size);

/*
 * The SIZE bytes at AT, in the image of ELF, are used from now on.  Call this for bytes of
 * elf_range() and elf_section_range(); see elf/mapped.h.
 */
void elf_need(const struct elf *elf, const uint8_t *at, uint64_t size);

/* Return a cursor over BYTES that reads in the file's byte order. */
struct cursor elf_cursor(const struct elf *elf, struct elf_bytes bytes);

enum { STRING_MAX = 32768 };	/* bytes; a longer string is hostile and treated as missing */

/* Return the string at OFFSET of a string table; NULL: outside, or too long. */
const char *elf_string(struct elf_bytes table, uint64_t offset);

/*
 * A string table from which many strings are read: after some of them, the lengths of all its
 * strings are checked at once.  Set ELF and BYTES, which need not be read; the rest is 0 at first.
 */
struct elf_strings {
	const struct elf *elf;
	struct elf_bytes bytes;
	uint32_t reads;		/* strings that were checked one by one */
	bool is_checked;	/* no string is too long */
};

/* Check all strings of T now, because nearly all will be read. */
void elf_strings_check(struct elf_strings *t);

/* Like elf_string().  Check all strings if that is due. */
const char *elf_strings_find(struct elf_strings *t, uint64_t offset);

/* Like elf_string(). */
static inline const char *elf_strings_at(struct elf_strings *t, uint64_t offset)
{
	if (t->is_checked)
		return offset < t->bytes.size ? (const char *)t->bytes.at + offset : NULL;
	return elf_strings_find(t, offset);
}

/* Return the machine (EM_*) of a 64-bit file; EM_NONE: the file is not 64-bit. */
uint16_t elf_machine(const struct elf *elf);

/* Return the address where the program, or a loader, starts; 0: nowhere. */
uint64_t elf_entry(const struct elf *elf);

/*
 * Get the bytes that the file has of the next executable segment, and advance *INDEX, which starts
 * at 0.  False: there are no more.
 */
bool elf_next_segment(const struct elf *elf, uint32_t *index, struct elf_bytes *out);

/* Return the contents of the segment of .eh_frame_hdr, and store its address; size 0: none. */
struct elf_bytes elf_frame_header(const struct elf *elf, uint64_t *address);

/* Store the start and the end address of all code; 0 and 0 if ELF has no code. */
void elf_text(const struct elf *elf, uint64_t *start, uint64_t *end);

/* Return at most MOST bytes of the file, from ADDRESS to the end of the segment that has it. */
struct elf_bytes elf_at_address(const struct elf *elf, uint64_t address, uint64_t most);

/* Like elf_at_address(), but no bytes if the process may write to them. */
struct elf_bytes elf_constant_at(const struct elf *elf, uint64_t address, uint64_t most);

/*
 * Like elf_section(), for contents that are used only after elf_need().  If several sections have
 * that name (compilers write one for each group of definitions that may be in several files), take
 * the first whose contents pass the test, or the very first if none does.
 */
typedef bool elf_section_test(const struct elf *elf, struct elf_bytes contents);
bool elf_section_range(struct elf *elf, const char *name, elf_section_test *is_wanted,
		       struct elf_bytes *out);

/* Store the value that a relocation without symbol puts at address SLOT.  False: none does. */
bool elf_relocated(struct elf *elf, uint64_t slot, uint64_t *value);

/* Set *SLOT to the next address after it where a relocation without symbol puts VALUE. */
bool elf_relocated_to(struct elf *elf, uint64_t value, uint64_t *slot);
