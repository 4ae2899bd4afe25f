/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol-table - the entries of .symtab and .dynsym: function symbols and labels in code, or
 * symbols of variables and labels in data (data-symbols.c).
 *
 * The first few look-ups of code search the tables as they are (symbol-scan.c).  After that, the
 * entries are read into an array, sorted, and indexed (symbols.c).  Both find the same symbol;
 * symbols.c says which.
 */
#pragma once
#include "elf/internal.h"

#include <elf.h>

/* Return the bytes of an entry. */
static inline uint64_t symbol_size(const struct elf *elf)
{
	return elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* Return the offset of the name of the entry at AT, in the strings. */
static inline uint32_t symbol_name_at(const struct elf *elf, const uint8_t *at)
{
	return elf_load_u32(elf, at);	/* the same in both classes */
}

/* Return whether entries have this machine's layout, with addresses that need no change. */
static inline bool symbols_are_plain(const struct elf *elf)
{
	return elf->is64 && !elf->swap && !elf->placed && elf->machine != EM_ARM;
}

/* Types of symbols to read, as bits 1 << STT_*. */
enum {
	SYMBOL_CODE = 1 << STT_FUNC | 1 << STT_GNU_IFUNC | 1 << STT_NOTYPE,
	SYMBOL_DATA = 1 << STT_OBJECT | 1 << STT_COMMON | 1 << STT_NOTYPE,
};

/*
 * Read entry INDEX of TABLE.  False: it is not defined in this file, or not of the TYPES.
 * IS_PLAIN: symbols_are_plain(), or false.  Constants as IS_PLAIN and TYPES make loops fast.
 */
static inline __attribute__((always_inline)) bool
symbol_read(const struct elf *elf, bool is_plain, unsigned types, uint8_t table, uint64_t index,
	    struct elf_table_symbol *s)
{
	bool is64 = is_plain || elf->is64;
	const uint8_t *at = elf->table[table].entries +
			    index * (is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	uint8_t info = at[is64 ? offsetof(Elf64_Sym, st_info) : offsetof(Elf32_Sym, st_info)];
	unsigned type = ELF64_ST_TYPE(info);	/* the same in both classes */

	if (!(1U << type & types))
		return false;
	s->table = table;
	s->is_label = type == STT_NOTYPE;
	s->binding = ELF64_ST_BIND(info) & BINDING_MASK;
	s->name = symbol_name_at(elf, at);
	if (is_plain) {
		Elf64_Sym plain;
		memcpy(&plain, at, sizeof(plain));
		s->section = plain.st_shndx;
		s->address = plain.st_value;
		s->size = plain.st_size;
	} else if (is64) {
		s->section = elf_load_u16(elf, at + offsetof(Elf64_Sym, st_shndx));
		s->address = elf_load_u64(elf, at + offsetof(Elf64_Sym, st_value));
		s->size = elf_load_u64(elf, at + offsetof(Elf64_Sym, st_size));
	} else {
		s->section = elf_load_u16(elf, at + offsetof(Elf32_Sym, st_shndx));
		s->address = elf_load_u32(elf, at + offsetof(Elf32_Sym, st_value));
		s->size = elf_load_u32(elf, at + offsetof(Elf32_Sym, st_size));
	}
	if (!is_plain && elf->placed && s->section < elf->sections)
		s->address += elf->placed[s->section].address;
	if (s->section == SHN_UNDEF || s->size > UINT64_MAX - s->address)
		return false;
	if (!is_plain && elf->machine == EM_ARM && types == SYMBOL_CODE)
		s->address &= ~1ULL;	/* bit 0 marks Thumb code */
	return true;
}

/* Return whether S has a name, and is neither a label in data nor a label without a meaning. */
bool symbol_is_code(struct elf *elf, const struct elf_table_symbol *s);

/* Return whether S has a name, and is neither a label in code nor a label without a meaning. */
bool symbol_is_data(struct elf *elf, const struct elf_table_symbol *s);

/* Return the name of S; NULL: it is outside of the strings, or too long. */
const char *symbol_name(struct elf *elf, const struct elf_table_symbol *s);

/* "$x", "$d.realign": return whether NAME marks the start of code or data, and names nothing. */
bool symbol_is_mark(const char *name);

/* Return the name of S without the version that some tables append: "memcpy@@GLIBC_2.14". */
const char *symbol_shown_name(struct elf *elf, const struct elf_table_symbol *s);

/* Find the symbol tables, unless that was done. */
void symbols_find_tables(struct elf *elf);

/* Read the symbols of TYPES that pass TEST into OUT, and index them. */
typedef bool symbol_test(struct elf *elf, const struct elf_table_symbol *s);
void symbols_read(struct elf *elf, unsigned types, symbol_test *test, struct elf_symbols *out);

/* Chooses the symbol to show if several are at one address.  Zero-initialised: no symbol. */
struct symbol_choice {
	struct elf_table_symbol best;
	uint64_t size;		/* the largest size of all these symbols, in bytes */
	uint32_t count;		/* of symbols */
	unsigned rank;		/* priority of BEST; filled when there are several */
	size_t length;		/* of its name; filled when there are several */
};

/* Add S to the symbols at its address. */
void symbol_choose(struct elf *elf, struct symbol_choice *c, const struct elf_table_symbol *s);

/* Return the end of S, which has no size: the NEXT symbol (0: none), or the end of its section. */
uint64_t symbol_presumed_end(const struct elf *elf, const struct elf_table_symbol *s,
			     uint64_t next);

/*
 * Search the tables for the symbol that covers ADDRESS.  Return false if no symbol does.  Narrow
 * SAME to a range around ADDRESS with the same answer.
 */
bool symbol_scan(struct elf *elf, uint64_t address, struct elf_table_symbol *out,
		 struct extent *same);
