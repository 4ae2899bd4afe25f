/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf - an ELF file, or image in memory: segments, build ID, function symbols.
 *
 * Everything in it is checked before use: a hostile file costs a lookup, no
 * more.  Addresses are the file's own virtual addresses.
 */
#pragma once
#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

/* Bytes of a file; size 0: absent. */
struct elf_bytes {
	const uint8_t *at;
	uint64_t size;
};

/*
 * Open the regular file FD, which is taken over.  NULL: *WHY says what is
 * wrong with it.
 */
struct elf *elf_open(int fd, const char **why);

/* The image of at most SIZE bytes at BYTES, which outlives the result. */
struct elf *elf_open_memory(const void *bytes, size_t size, const char **why);

/* The same of bytes from malloc(), which are taken over. */
struct elf *elf_open_owned(uint8_t *bytes, size_t size, const char **why);

void elf_close(struct elf *elf);

/* The build ID: its size in bytes (0: none), and where it is. */
size_t elf_build_id(const struct elf *elf, const uint8_t **id);

/* The build ID that Go's linker gave it; "": none. */
const char *elf_go_build_id(struct elf *elf);

/* What the user of ELF keeps with it; NULL at first. */
void **elf_beside(struct elf *elf);

/* ELF may not be used for long: give back the memory that its file has taken so far. */
void elf_rest(const struct elf *elf);

/* Has it code, which debug files have not; DWARF; DWARF or a symbol table? */
bool elf_has_code(const struct elf *elf);
bool elf_has_dwarf(const struct elf *elf);
bool elf_has_debug(const struct elf *elf);

/* Where the file was when it was opened, without symbolic links; "": no file. */
const char *elf_path(const struct elf *elf);

/* An executable segment as the kernel maps it: from page to page. */
struct elf_segment {
	uint64_t address, size;
	uint64_t file_offset;		/* of ADDRESS's byte */
};

/* The executable segment with the file's byte FILE_OFFSET; false: there is none. */
bool elf_segment(const struct elf *elf, uint64_t file_offset, struct elf_segment *out);

/*
 * A relocatable file, as a kernel module is, has no segments, and its sections have no
 * addresses.  Its code gets addresses from 0 on, as the kernel's loader lays it out from
 * where the module begins; code for booting alone has none of these.
 */
bool elf_is_relocatable(const struct elf *elf);

/*
 * Of a relocatable file: the executable section at *INDEX (0 at first) or behind, which
 * counts on; false: there is no more.
 */
struct elf_code {
	uint64_t address, size;
	const char *name;	/* ".text"; valid until elf_close() */
};
bool elf_next_code(const struct elf *elf, uint32_t *index, struct elf_code *out);

struct elf_symbol {
	const char *name;		/* valid until elf_close() */
	uint64_t address;
	/* around where it was asked for, this is the answer; or there is none but in the PLT */
	struct extent same;
};

/*
 * The function that covers ADDRESS, from .symtab, .dynsym or .gnu_debugdata;
 * or an entry of the procedure linkage table, as "foo@plt".  The tables are
 * read at the first call.
 */
bool elf_symbol(struct elf *elf, uint64_t address, struct elf_symbol *out);

/* The address of the symbol NAME in .symtab, of whatever type; false: it has none. */
bool elf_address_of(const struct elf *elf, const char *name, uint64_t *address);

/*
 * The contents of the section NAME, as ".debug_info"; inflated if they are
 * compressed, also under the older name ".zdebug_info".  False: it is absent,
 * has no contents in this file, or is damaged.  Valid until elf_close(); what
 * follows the last byte may be read and ends a string.
 */
bool elf_section(struct elf *elf, const char *name, struct elf_bytes *out);

/*
 * The same; of several sections of that name, as compilers write for what may
 * be in several files, the first whose contents pass the test, else the first.
 */
typedef bool elf_section_test(const struct elf *elf, struct elf_bytes contents);
bool elf_section_wanted(struct elf *elf, const char *name, elf_section_test *is_wanted,
			struct elf_bytes *out);

/*
 * Whether a section counts as absent because it would unpack to more than any
 * real one (NULL: no).
 */
bool elf_has_refused(const struct elf *elf);

/* The whole file. */
struct elf_bytes elf_image(const struct elf *elf);

/*
 * A number that is another one for another file, or if the file was changed
 * since; 0: it is no file, or NULL.
 */
uint64_t elf_identity(const struct elf *elf);

/* When the file was changed last, as of its opening, in ns since 1970; 0: it is no file. */
int64_t elf_modified(const struct elf *elf);

/*
 * Whether a loader may map SIZE bytes from FILE_OFFSET of this file as code: an
 * executable segment has them, and the file has the segment; or they are the
 * room for all segments, which starts with code.  PAGE: bytes of a page.
 */
bool elf_may_map(const struct elf *elf, uint64_t file_offset, uint64_t size, uint64_t page);

/* Has the file become shorter since it was opened (NULL: no)?  Then what was read is void. */
bool elf_is_cut(const struct elf *elf);

/* Whether the file's byte order is not this machine's. */
bool elf_is_swapped(const struct elf *elf);
