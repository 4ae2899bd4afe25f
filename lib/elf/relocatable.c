/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relocatable files (ET_REL): kernel modules and their debug files.  Addresses in them are
 * relative to the start of a section, and their debug information must be relocated.
 *
 * elf_place_sections() gives the sections addresses.  Code starts at 0, in the order and with
 * the gaps of the kernel's loader (layout_sections() in kernel/module/main.c), so an address
 * is also an offset in the module's memory.  Loaded sections without code, and code that runs
 * only at load time (.init*), are at FAR_AWAY.  Sections that are not loaded, such as debug
 * information, are at 0.
 */
#include "base/arena.h"
#include "elf/internal.h"

#include <elf.h>

enum { ALIGNMENT_MAX = 1 << 24 };	/* bytes; more than a huge page of 2 MiB */
#define FAR_AWAY (1ULL << 40)

static bool is_code(const struct elf *elf, const struct elf_section *s)
{
	const uint64_t loaded_code = SHF_ALLOC | SHF_EXECINSTR;
	const char *name = elf_string(elf->section_names, s->name);

	return (s->flags & loaded_code) == loaded_code &&
	       !(name && !strncmp(name, ".init", 5));
}

void elf_place_sections(struct elf *elf)
{
	struct placed *placed = mem_zeroed(elf->sections + 1, sizeof(*placed));

	for (uint32_t i = 1; i < elf->sections; i++) {
		struct elf_section s = elf_section_at(elf, i);
		uint64_t end = elf->placed_end, mask = s.alignment ? s.alignment - 1 : 0;
		if (s.type == SHT_RELA && s.info < elf->sections && !placed[s.info].relocations)
			placed[s.info].relocations = i;
		if (!(s.flags & SHF_ALLOC))
			continue;
		placed[i].address = FAR_AWAY;
		if (mask >= ALIGNMENT_MAX || mask & s.alignment)
			mask = 0;
		end = (end + mask) & ~mask;
		if (!is_code(elf, &s) || s.size > FAR_AWAY - end || end > FAR_AWAY)
			continue;
		placed[i].address = end;
		elf->placed_end = end + s.size;
	}
	elf->placed = placed;
	elf->fuel.left = elf->data;
}

bool elf_is_relocatable(const struct elf *elf)
{
	return elf->placed;
}

bool elf_next_code(const struct elf *elf, uint32_t *index, struct elf_code *out)
{
	while (elf->placed && ++*index < elf->sections) {
		struct elf_section s = elf_section_at(elf, *index);
		if (!is_code(elf, &s) || s.address >= FAR_AWAY || s.size == 0)
			continue;
		*out = (struct elf_code){ s.address, s.size,
					  elf_string(elf->section_names, s.name) ?: "" };
		return true;
	}
	return false;
}

bool elf_has_relocations(const struct elf *elf, uint32_t index)
{
	return elf->placed && elf->is64 && index < elf->sections &&
	       elf->placed[index].relocations;
}

/* Return the width in bytes of a relocation that stores an address or offset; 0: other TYPE. */
static unsigned width_of(const struct elf *elf, uint64_t type)
{
	switch (elf->machine) {
	case EM_X86_64:
		return type == R_X86_64_64 ? 8
		     : type == R_X86_64_32 || type == R_X86_64_32S ? 4 : 0;
	case EM_AARCH64:
		return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
	}
	return 0;
}

/* Store the value of symbol INDEX in the table SYMBOLS.  False: not defined in this file. */
static bool symbol_value(const struct elf *elf, struct elf_bytes symbols, uint64_t index,
			 uint64_t *value)
{
	const uint8_t *at = symbols.at + index * sizeof(Elf64_Sym);

	*value = 0;
	if (index >= symbols.size / sizeof(Elf64_Sym))
		return false;
	struct cursor c = elf_cursor(elf, (struct elf_bytes){ at, sizeof(Elf64_Sym) });
	cursor_bytes(&c, 6);		/* name, info, other */
	uint16_t section = cursor_u16(&c);
	*value = cursor_u64(&c);
	if (section < elf->sections)
		*value += elf->placed[section].address;
	return section != SHN_UNDEF;
}

/* Write NUMBER to WIDTH bytes at AT, in the file's byte order. */
static void put_number(const struct elf *elf, uint8_t *at, unsigned width, uint64_t number)
{
	bool is_little = elf->swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	for (unsigned i = 0; i < width; i++)
		at[is_little ? i : width - 1 - i] = (uint8_t)(number >> 8 * i);
}

/* Elf64_Rela: u64 offset, info; s64 addend */
void elf_relocate(struct elf *elf, uint32_t index, uint8_t *bytes, uint64_t size)
{
	if (!elf_has_relocations(elf, index))
		return;
	struct elf_section table = elf_section_at(elf, elf->placed[index].relocations);
	struct elf_section s = elf_section_at(elf, table.link);
	struct elf_bytes symbols = elf_part(elf, s.offset, s.size);
	struct cursor c = elf_cursor(elf, elf_part(elf, table.offset, table.size));

	while (cursor_left(&c) >= sizeof(Elf64_Rela) &&
	       fuel_take(&elf->fuel, sizeof(Elf64_Rela))) {
		uint64_t slot = cursor_u64(&c), info = cursor_u64(&c), value;
		uint64_t addend = cursor_u64(&c);
		unsigned width = width_of(elf, ELF64_R_TYPE(info));
		if (width && width <= size && slot <= size - width &&
		    symbol_value(elf, symbols, ELF64_R_SYM(info), &value))
			put_number(elf, bytes + slot, width, value + addend);
	}
}
