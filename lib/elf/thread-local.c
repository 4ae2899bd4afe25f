/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/thread-local.h"
#include "elf/internal.h"

#include <elf.h>

enum { SYMBOLS_MAX = 1 << 20, RELOCATIONS_MAX = 1 << 22 };	/* read in one file */

#ifndef R_AARCH64_TLS_DTPMOD
#define R_AARCH64_TLS_DTPMOD 1028
#define R_AARCH64_TLS_TPREL 1030
#endif

/* Return what a relocation of TYPE sets. */
static enum thread_place place_of(uint16_t machine, uint64_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_TLSDESC ? THREAD_DESCRIPTOR
		     : type == R_X86_64_TPOFF64 ? THREAD_OFFSET_WORD
		     : type == R_X86_64_DTPMOD64 ? THREAD_MODULE_WORDS : THREAD_NOWHERE;
	if (machine == EM_AARCH64)
		return type == R_AARCH64_TLSDESC ? THREAD_DESCRIPTOR
		     : type == R_AARCH64_TLS_TPREL ? THREAD_OFFSET_WORD
		     : type == R_AARCH64_TLS_DTPMOD ? THREAD_MODULE_WORDS : THREAD_NOWHERE;
	return THREAD_NOWHERE;
}

/* A symbol table: Elf64_Sym. */
struct thread_symbols {
	struct elf_bytes symbols, strings;
};

static struct thread_symbols symbols_of(const struct elf *elf, uint32_t section)
{
	struct elf_section table = elf_section_at(elf, section);
	struct elf_section strings = elf_section_at(elf, table.link);

	return (struct thread_symbols){ elf_part(elf, table.offset, table.size),
					elf_part(elf, strings.offset, strings.size) };
}

/* Return whether symbol INDEX is NAME and thread-local.  Set its *VALUE, and if it is *DEFINED. */
static bool is_symbol(const struct elf *elf, const struct thread_symbols *s, uint64_t index,
		      const char *name, uint64_t *value, bool *defined)
{
	if (index >= s->symbols.size / sizeof(Elf64_Sym))
		return false;
	struct cursor c = elf_cursor(elf, (struct elf_bytes){
		s->symbols.at + index * sizeof(Elf64_Sym), sizeof(Elf64_Sym) });
	uint32_t own = cursor_u32(&c);
	uint8_t info = cursor_u8(&c);
	cursor_u8(&c);			/* visibility */
	*defined = cursor_u16(&c) != SHN_UNDEF;
	*value = cursor_u64(&c);
	if (ELF64_ST_TYPE(info) != STT_TLS)
		return false;
	const char *text = elf_string(s->strings, own);
	return text && !strcmp(text, name);
}

/* Find the symbol NAME in tables of TYPE. */
static bool find_symbol(const struct elf *elf, uint32_t type, const char *name, uint64_t *value)
{
	bool defined;

	for (uint32_t i = 1; i < elf->sections; i++) {
		if (elf_section_at(elf, i).type != type)
			continue;
		struct thread_symbols s = symbols_of(elf, i);
		uint64_t count = s.symbols.size / sizeof(Elf64_Sym);
		for (uint64_t n = 1; n < count && n < SYMBOLS_MAX; n++)
			if (is_symbol(elf, &s, n, name, value, &defined) && defined)
				return true;
		break;		/* a file has at most one of each type */
	}
	return false;
}

/* Find the first relocation that fills words for the variable NAME. */
static struct thread_variable find_relocation(const struct elf *elf, const char *name)
{
	uint64_t left = RELOCATIONS_MAX, value;
	bool defined;

	for (uint32_t i = 1; i < elf->sections; i++) {
		struct elf_section section = elf_section_at(elf, i);
		if (section.type != SHT_RELA)
			continue;
		struct thread_symbols s = symbols_of(elf, section.link);
		struct cursor c = elf_cursor(elf, elf_part(elf, section.offset, section.size));
		for (; left && cursor_left(&c) >= sizeof(Elf64_Rela); left--) {
			uint64_t slot = cursor_u64(&c), info = cursor_u64(&c);
			cursor_u64(&c);		/* addend */
			enum thread_place place = place_of(elf->machine, ELF64_R_TYPE(info));
			if (place != THREAD_NOWHERE && ELF64_R_SYM(info) &&
			    is_symbol(elf, &s, ELF64_R_SYM(info), name, &value, &defined))
				return (struct thread_variable){ place, slot };
		}
	}
	return (struct thread_variable){ THREAD_NOWHERE, 0 };
}

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
	return alignment > 1 ? (value + alignment - 1) / alignment * alignment : value;
}

/* The program's own block is right before the thread pointer; on arm64, 16 bytes after it. */
static uint64_t offset_in_program(const struct elf *elf, uint64_t value)
{
	if (elf->machine == EM_AARCH64)
		return round_up(16, elf->thread_alignment) + value;
	return value - round_up(elf->thread_size, elf->thread_alignment);
}

struct thread_variable elf_thread_variable(const struct elf *elf, const char *name)
{
	uint64_t value;

	if (!elf->is64 || (elf->machine != EM_X86_64 && elf->machine != EM_AARCH64))
		return (struct thread_variable){ THREAD_NOWHERE, 0 };
	struct thread_variable found = find_relocation(elf, name);
	if (found.place == THREAD_NOWHERE && elf->thread_size &&
	    (find_symbol(elf, SHT_DYNSYM, name, &value) ||
	     find_symbol(elf, SHT_SYMTAB, name, &value)))
		found = (struct thread_variable){ THREAD_OFFSET, offset_in_program(elf, value) };
	return found;
}

bool elf_links_by_musl(struct elf *elf)
{
	static const char name[] = "/ld-musl-";
	struct elf_bytes path;

	return elf_section(elf, ".interp", &path) &&
	       memmem(path.at, path.size, name, sizeof(name) - 1);
}
