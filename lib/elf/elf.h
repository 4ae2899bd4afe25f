/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf - reads an ELF file, or an ELF image in memory: segments, sections, build ID and function
 * symbols.
 *
 * Everything in the file is checked before use: a hostile file can cause wrong or missing answers,
 * but no other harm.  Addresses are the file's own virtual addresses.
 */
#pragma once
#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

/* A range of bytes in memory.  Size 0: absent. */
struct elf_bytes {
	const uint8_t *at;
	uint64_t size;
};

/*
 * Open the regular file FD.  FD is closed in any case.  On failure, return NULL and set *WHY
 * to the reason.
 */
struct elf *elf_open(int fd, const char **why);

/* The same for the ELF file that is the SIZE bytes at OFFSET of the file FD. */
struct elf *elf_open_part(int fd, uint64_t offset, uint64_t size, const char **why);

/*
 * Like elf_open().  If the whole file is compressed with gzip, xz or zstd, as kernel modules are,
 * open what it unpacks to.
 */
struct elf *elf_open_packed(int fd, const char **why);

/* Open the image of at most SIZE bytes at BYTES.  The bytes must outlive the result. */
struct elf *elf_open_memory(const void *bytes, size_t size, const char **why);

/* Open the image in bytes from malloc().  BYTES is freed by elf_close(), or on failure. */
struct elf *elf_open_owned(uint8_t *bytes, size_t size, const char **why);

void elf_close(struct elf *elf);

/* Return the size in bytes of the GNU build ID (0: none), and point *ID to it. */
size_t elf_build_id(const struct elf *elf, const uint8_t **id);

/* Return Go's build ID, or "". */
const char *elf_go_build_id(struct elf *elf);

/* Return a pointer slot for the user's own data about ELF.  The slot is NULL at first. */
void **elf_beside(struct elf *elf);

/* Release the memory of ELF's file pages.  The next access reads the pages from the file again. */
void elf_rest(const struct elf *elf);

/*
 * Return whether ELF contains code (debug files do not); DWARF; DWARF or a symbol table (.symtab).
 */
bool elf_has_code(const struct elf *elf);
bool elf_has_dwarf(const struct elf *elf);
bool elf_has_debug(const struct elf *elf);

/* Return the file's path at opening, without symbolic links; "" for an image in memory. */
const char *elf_path(const struct elf *elf);

/* An executable segment as the kernel maps it: in whole pages. */
struct elf_segment {
	uint64_t address, size;
	uint64_t file_offset;		/* of the byte at ADDRESS */
};

/* Find the executable segment that contains FILE_OFFSET.  Return false if none does. */
bool elf_segment(const struct elf *elf, uint64_t file_offset, struct elf_segment *out);

/* Where the segments of a file start, by its own addresses, rounded down to pages of 4 KiB. */
struct elf_bases {
	bool is_movable;	/* a loader chooses where to map it (ET_DYN): PIE, library */
	uint64_t first;			/* address of the first segment */
	struct elf_segment code;	/* the first executable segment; size 0: ELF has no code */
};

struct elf_bases elf_bases(const struct elf *elf);

/*
 * Return whether ELF is a relocatable file, such as a kernel module.  Such a file has no segments,
 * and its sections have no addresses.  This module gives its code addresses from 0 on, in the
 * layout that the kernel's loader uses from the start of the module.  Code that runs only at boot
 * or load time (.init*) is left out of this layout.
 */
bool elf_is_relocatable(const struct elf *elf);

/*
 * Find the next executable section of a relocatable file after section *INDEX (0 to start),
 * and set *INDEX to it.  Return false if there are no more.
 */
struct elf_code {
	uint64_t address, size;
	const char *name;	/* ".text"; valid until elf_close() */
};
bool elf_next_code(const struct elf *elf, uint32_t *index, struct elf_code *out);

struct elf_symbol {
	const char *name;		/* valid until elf_close() */
	uint64_t address;
	bool is_label;			/* it has no type, and may be inside a function */
	/*
	 * The range around the query with the same answer; after a miss, the range without a
	 * symbol (PLT stubs apart).
	 */
	struct extent same;
};

/*
 * Find the function that covers ADDRESS in .symtab, .dynsym or .gnu_debugdata, or an entry
 * of the procedure linkage table, as "foo@plt".  Return false if no symbol covers it; OUT->same
 * is set in any case.  The first call reads the tables.
 */
bool elf_symbol(struct elf *elf, uint64_t address, struct elf_symbol *out);

/* The first damage that was found in a section. */
struct elf_damage {
	const char *section;	/* ".symtab"; NULL: none */
	uint64_t offset;	/* in that section */
};

/*
 * Return the next damage that was found in the symbol tables and not returned yet; at most one per
 * table.  False: there is no more so far.  ELF may be NULL.
 */
bool elf_next_damage(struct elf *elf, struct elf_damage *out);

/* Store the address of symbol NAME in .symtab, of any type.  False: no such symbol. */
bool elf_address_of(const struct elf *elf, const char *name, uint64_t *address);

/*
 * Get the contents of the section NAME, for example ".debug_info".  Compressed contents are
 * unpacked, also those under the older name ".zdebug_info".  Return false if the section is
 * absent, has no contents in this file, or is damaged.  The contents are valid until
 * elf_close().  The byte after them may be read; a string in them ends there at the latest.
 */
bool elf_section(struct elf *elf, const char *name, struct elf_bytes *out);

/*
 * Return whether a section was treated as absent because it would unpack to more bytes than any
 * real section does.  False if ELF is NULL.
 */
bool elf_has_refused(const struct elf *elf);

/* Return the bytes of the whole file, which are all read. */
struct elf_bytes elf_image(const struct elf *elf);

/*
 * Return a hash of the file's build ID, size, modification time and owner.  It differs for
 * different files and changes with the file.  0: an image in memory, or NULL.
 */
uint64_t elf_identity(const struct elf *elf);

/* Return the file's modification time at opening, in ns since 1970; 0: an image in memory. */
int64_t elf_modified(const struct elf *elf);

/*
 * Return whether a loader may map SIZE bytes from FILE_OFFSET of this file as code: an executable
 * segment, which is whole in the file, contains them; or they are the address space that a loader
 * reserves for all segments, from the start of an executable segment.  PAGE is the page size in
 * bytes.
 */
bool elf_may_map(const struct elf *elf, uint64_t file_offset, uint64_t size, uint64_t page);

/* Return whether the file was truncated while open; then discard all answers.  False if NULL. */
bool elf_is_cut(const struct elf *elf);

/* Return whether the file's byte order is not this machine's. */
bool elf_is_swapped(const struct elf *elf);
