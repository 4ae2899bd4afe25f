/* SPDX-License-Identifier: Apache-2.0 */
/* Internal structures and functions of elf, for the files of this module only. */
#pragma once
#include "base/fuel.h"
#include "base/intern.h"
#include "base/span.h"
#include "elf/mapped.h"
#include "elf/pool.h"
#include "elf/section.h"
#include "record/record.h"

enum { BINDING_BITS = 4, BINDING_MASK = (1 << BINDING_BITS) - 1 };

/* A symbol of a function or a variable, or a label. */
struct elf_table_symbol {
	uint64_t address, size;	/* bytes; symbols_index() replaces a size of 0 */
	uint32_t name;		/* offset in the strings of TABLE */
	uint16_t section;	/* index of its section */
	uint8_t table;		/* 0: .symtab, 1: .dynsym */
	uint8_t binding : BINDING_BITS;	/* STB_* */
	bool is_label : 1;	/* STT_NOTYPE */
};

enum { SYMBOL_TABLES = 2 };

/* A symbol table in the image: .symtab is table 0, .dynsym is table 1. */
struct elf_symtab {
	const uint8_t *entries;	/* COUNT of Elf64_Sym or Elf32_Sym */
	uint64_t count;		/* 0: the file does not have the table */
	struct elf_strings strings;
};

/* All symbols of code, or all of data, in both tables. */
struct elf_symbols {
	bool is_read;		/* the rest has been filled */
	struct elf_table_symbol *symbol;	/* by ascending address, one for each address */
	size_t count;		/* elements of SYMBOL */
	struct flats flat;	/* address to index of SYMBOL; in the arena of the file */
};

/* The layout of one section of a relocatable file. */
struct placed {
	uint64_t address;	/* assigned by elf_place_sections() */
	uint32_t relocations;	/* index of the section of its relocations; 0: none */
};

/* A PT_LOAD segment: offset in the file; sizes in bytes, in the file and in memory. */
struct elf_load {
	bool is_code, is_writable;
	uint64_t offset, address, file_size, memory_size;
};

/* Identifies a file in a pool, whatever its name. */
struct elf_file {
	uint64_t device, inode;
	uint64_t part, part_size;	/* the bytes of the file that are ELF; 0: all */
	int64_t size, modified;	/* in bytes; in ns since 1970 */
};

enum { STUB_TABLES_MAX = 8 };	/* three are common */

/*
 * An open ELF file or image.  Opening fills the fields up to SECTION_NAMES, BUILD_ID, and,
 * of a relocatable file, PLACED to FUEL.  elf_pool_open() fills POOL to FILE.
 * The rest is filled on demand.
 */
struct elf {
	struct elf_bytes image;	/* the whole file, or a part of it */
	uint64_t part;		/* offset of IMAGE in the file */
	struct mapped mapped;	/* the mapping with the image; all 0: it is not a file */
	uint8_t *owned;		/* the image, if elf_close() frees it (unpacked); else NULL */
	char *path;		/* without symbolic links; NULL: unknown, or not a file */
	uint64_t data;		/* bytes that the file stores, without its holes */
	bool is64, swap;	/* ELFCLASS64; byte order is not this machine's */
	uint16_t type, machine;	/* ET_*, EM_* */
	uint64_t entry;			/* address where a program or a loader starts; 0: nowhere */
	uint64_t program_headers, section_headers;	/* offsets in the image */
	uint32_t programs, sections;			/* number of headers in the file */
	struct elf_load *load;		/* PT_LOAD segments, in the order of the file */
	uint32_t loads;
	uint64_t frame_header, frame_header_size;	/* address, bytes: see elf_frame_header() */
	uint64_t thread_size, thread_alignment;	/* bytes: PT_TLS, see elf/thread-local.h */
	struct elf_bytes section_names;	/* string table */
	struct inflated *inflated;	/* unpacked or relocated sections, newest first */
	uint64_t packed;	/* bytes in the file of all sections unpacked or copied so far */
	uint64_t unpackable;		/* bytes that may still be unpacked */
	bool refused;			/* a section was too large to unpack */
	struct elf_bytes build_id;	/* GNU build ID, in the image; size 0: none */
	char go_build_id[GO_BUILD_ID_MAX];	/* set by elf_go_build_id(); "": none */
	bool tables_found;	/* TABLE and MINI have been filled */
	struct elf_symtab table[SYMBOL_TABLES];
	uint32_t scans;		/* how many addresses were searched for in TABLE itself */
	bool is_mini;		/* unpacked MiniDebugInfo; set when that is opened */
	struct elf_symbols code, variables;
	struct arena arena;		/* their FLAT */
	/* In these tables and their strings; IS_RETURNED by elf_next_damage(). */
	struct { struct elf_damage first; bool is_returned; } damage[SYMBOL_TABLES];
	struct elf *mini;		/* unpacked MiniDebugInfo (more symbols), or NULL */
	bool stubs_read;		/* STUB_TABLE has been filled */
	uint32_t stub_tables;
	struct elf_section stub_table[STUB_TABLES_MAX];	/* procedure linkage tables */
	uint32_t relocation_scans;	/* how many words were searched for in the file itself */
	bool relocations_read;		/* RELOCATION has been filled */
	struct relocation *relocation;	/* by ascending address of the word that they fill */
	size_t relocations;
	struct intern names;		/* names that no string table has, as "foo@plt" */
	struct placed *placed;		/* by section; NULL: the file is not relocatable */
	uint64_t placed_end;		/* end address of the placed code, which starts at 0 */
	struct fuel fuel;		/* bytes of relocations that may still be applied */
	struct elf_pool *pool;		/* that contains this file; NULL: none */
	struct elf *next_in_pool;	/* in the same hash chain */
	struct elf_file file;		/* its identity, if it is in a pool */
	uint32_t further_users;		/* number of users, without the first */
	bool is_awake;			/* it is element AWAKE of the list of its pool */
	uint32_t awake;
	uint64_t memory;		/* bytes of memory charged with elf_charge() */
	void *beside;			/* the user's own data: see elf_beside() */
};

/* Read an address or offset: 8 bytes in a 64-bit file, else 4. */
static inline uint64_t elf_word(const struct elf *elf, struct cursor *c)
{
	return elf->is64 ? cursor_u64(c) : cursor_u32(c);
}

/* Read a number at AT, which is not checked, in the byte order of ELF. */
static inline uint16_t elf_load_u16(const struct elf *elf, const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return elf->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t elf_load_u32(const struct elf *elf, const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return elf->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t elf_load_u64(const struct elf *elf, const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return elf->swap ? __builtin_bswap64(v) : v;
}

/* The contents of a section that was unpacked or relocated. */
struct inflated {
	struct inflated *next;
	uint32_t section;	/* index */
	uint64_t size;		/* in bytes; 0: damaged or refused */
	uint8_t *bytes;		/* from malloc(); NULL: damaged or refused */
};

/*
 * Unpack PACKED, a zlib or zstd stream in ELF, which must give exactly SIZE bytes; or copy it
 * (PACKED_NOT; SIZE is its size).  Return the bytes with a zero byte after them, for the caller to
 * free; or NULL if the stream is damaged or too large.  The bytes are charged to ELF.
 */
enum packing { PACKED_ZLIB, PACKED_ZSTD, PACKED_NOT };
uint8_t *inflate_section(struct elf *elf, enum packing packing, struct elf_bytes packed,
			 uint64_t size);

/*
 * Return the name of the symbol whose address a relocation puts at address SLOT.  Without a
 * symbol, return NULL and set *VALUE to the address that the relocation puts there, or to 0.
 */
const char *elf_relocated_by(struct elf *elf, uint64_t slot, uint64_t *value);

/* Assign addresses to the sections of a relocatable file. */
void elf_place_sections(struct elf *elf);

/* Return whether section INDEX of a 64-bit relocatable file has relocations to apply. */
bool elf_has_relocations(const struct elf *elf, uint32_t index);

/* Apply the relocations of section INDEX to BYTES, a copy of its contents of SIZE bytes. */
void elf_relocate(struct elf *elf, uint32_t index, uint8_t *bytes, uint64_t size);

/*
 * Find the symbol of ELF's own tables that covers ADDRESS.  Return false if no symbol does.  Narrow
 * SAME, which contains ADDRESS, to a range with the same answer.
 */
bool elf_table_symbol(struct elf *elf, uint64_t address, struct elf_table_symbol *out,
		      struct extent *same);

/* Find the entry of the procedure linkage table at ADDRESS.  False: none, or unknown. */
bool elf_stub(struct elf *elf, uint64_t address, struct elf_symbol *out);

/* Read the headers of ELF, whose image is set.  On failure, close ELF and return NULL. */
struct elf *elf_open_image(struct elf *elf, const char **why);

/* Return whether the whole file is compressed with gzip, xz or zstd. */
bool elf_is_packed(const struct elf *elf);

/*
 * Unpack PACKED, which is in ELF and compressed with gzip, xz or zstd.  Set *BYTES and *SIZE, and
 * return NULL.  A zero byte follows the bytes; the caller frees them.  On failure, return the
 * reason: PACKED is damaged, or unpacks to more than any real file.
 */
const char *elf_unpack(const struct elf *elf, struct elf_bytes packed, uint8_t **bytes,
		       size_t *size);

/* Unpack and open the ELF file in .gnu_debugdata.  Return NULL if ELF has no such section. */
struct elf *elf_open_mini(struct elf *elf);

/* Store the GNU build ID in the ELF notes NOTES; return its size in bytes (1..20), or 0. */
size_t build_id_in_notes(struct cursor notes, uint8_t id[BUILD_ID_MAX]);

/* Store Go's build ID in NOTES, with a NUL; return its length without the NUL, or 0. */
size_t build_id_go_in_notes(struct cursor notes, uint8_t id[GO_BUILD_ID_MAX]);

/* Remove ELF from its pool; elf_close() calls this for the last user. */
void elf_pool_remove(struct elf *elf);

