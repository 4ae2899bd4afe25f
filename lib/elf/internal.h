/* SPDX-License-Identifier: Apache-2.0 */
/* elf's inside, shared by the files of this module only. */
#pragma once
#include "base/intern.h"
#include "base/span.h"
#include "elf/mapped.h"
#include "elf/pool.h"
#include "elf/section.h"
#include "record/record.h"

struct symbol {
	uint64_t address, size;
	uint32_t name;		/* offset in the string table of its symbol table */
	uint8_t table;		/* 0: .symtab, 1: .dynsym */
	uint8_t rank;		/* of several at one address the highest is shown */
	uint16_t section;	/* index */
	uint32_t order;		/* in which they were read */
};

/* A section of a relocatable file. */
struct placed {
	uint64_t address;	/* that we gave it */
	uint32_t relocations;	/* the section with its relocations; 0: none */
};

struct elf_load {
	bool is_code;
	uint64_t offset, address, file_size, memory_size;
};

/* What makes it the same file, under another name. */
struct elf_file {
	uint64_t device, inode;
	int64_t size, modified;
};

enum { STUB_TABLES_MAX = 8 };	/* three are usual */

struct elf {
	struct elf_bytes image;
	struct mapped mapped;	/* where the image is, if it is a file */
	uint8_t *owned;		/* where it is, if it came out of another file */
	char *path;		/* the file's own; NULL: it has none */
	uint64_t data;		/* bytes of the image that are no holes of a sparse file */
	bool is64, swap;
	uint16_t type, machine;	/* ET_*, EM_* */
	uint64_t program_headers, section_headers;	/* offsets in the image */
	uint32_t programs, sections;			/* how many */
	struct elf_load *load;		/* segments that are mapped */
	uint32_t loads;
	struct elf_bytes section_names;
	struct inflated *inflated;	/* sections, once asked for */
	uint64_t packed;		/* bytes that sections were unpacked from */
	uint64_t unpackable;		/* bytes that they still may become */
	bool refused;			/* one was not unpacked, for it would be too large */
	struct elf_bytes build_id;
	char go_build_id[GO_BUILD_ID_MAX];	/* once asked for */
	bool symbols_read;
	bool is_mini;		/* it has no further one inside */
	struct symbol *symbol;	/* by address, one for each */
	size_t symbols;
	struct flats flat;		/* address to SYMBOL */
	struct elf_bytes strings[2];	/* of .symtab and .dynsym */
	struct elf *mini;		/* MiniDebugInfo: more symbols, unpacked */
	bool stubs_read;
	uint32_t stub_tables;
	struct elf_section stub_table[STUB_TABLES_MAX];	/* procedure linkage tables */
	bool relocations_read;
	struct relocation *relocation;	/* by what they fill */
	size_t relocations;
	struct intern names;		/* those that are in no table, as "foo@plt" */
	struct placed *placed;		/* by section; NULL: the file is not relocatable */
	uint64_t placed_end;		/* where the code ends that begins at address 0 */
	uint64_t relocation_budget;	/* how many may still be applied */
	struct elf_pool *pool;		/* that it is open in; NULL: none */
	struct elf *next_in_pool;
	struct elf_file file;		/* in a pool: which one */
	uint32_t further_users;		/* beside the first */
	uint64_t memory;		/* bytes that what was read of it takes */
	void *beside;			/* what its user keeps with it */
};

/* Whether section S is called NAME. */
bool elf_is_called(const struct elf *elf, const struct elf_section *s, const char *name);

/* An address or offset, of 4 or 8 bytes by the file's class. */
static inline uint64_t elf_word(const struct elf *elf, struct cursor *c)
{
	return elf->is64 ? cursor_u64(c) : cursor_u32(c);
}

/* Contents that had to be unpacked or relocated. */
struct inflated {
	struct inflated *next;
	uint32_t section;	/* its index */
	uint64_t size;		/* 0: they are damaged */
	uint8_t *bytes;
};

/*
 * Unpack PACKED (a zlib or zstd stream) of ELF into SIZE bytes, all of them.  The
 * caller frees; NULL: it is damaged, or refused.  A zero byte follows them.
 */
enum packing { PACKED_ZLIB, PACKED_ZSTD, PACKED_NOT };
uint8_t *inflate_section(struct elf *elf, enum packing packing, struct elf_bytes packed,
			 uint64_t size);

/* The name of the symbol whose address goes to SLOT; or NULL and *VALUE, the address, or 0. */
const char *elf_relocated_by(struct elf *elf, uint64_t slot, uint64_t *value);

/* Give the sections of a relocatable file addresses. */
void elf_place_sections(struct elf *elf);

/* Whether section INDEX has relocations that count. */
bool elf_has_relocations(const struct elf *elf, uint32_t index);

/* Apply the relocations of section INDEX to its SIZE bytes at BYTES. */
void elf_relocate(struct elf *elf, uint32_t index, uint8_t *bytes, uint64_t size);

/* The entry of the procedure linkage table at ADDRESS. */
bool elf_stub(struct elf *elf, uint64_t address, struct elf_symbol *out);

/* The ELF inside .gnu_debugdata; NULL: none. */
struct elf *elf_open_mini(struct elf *elf);
