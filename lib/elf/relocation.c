/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit relocations with addends (Elf64_Rela), read once, and sorted by the word they fill. */
#include "base/arena.h"
#include "base/bisect.h"
#include "elf/internal.h"

#include <elf.h>
#include <stdlib.h>

enum { RELOCATIONS_MAX = 2 * 1000 * 1000 };	/* per file */

struct relocation {
	uint64_t slot, info, addend;	/* slot: address of the word; others: as Elf64_Rela */
	uint32_t symbols;	/* section index of the symbol table */
	uint32_t order;		/* position in the file; breaks ties */
};

static int by_slot(const void *a, const void *b)
{
	const struct relocation *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void read_relocations(struct elf *elf)
{
	elf->relocations_read = true;
	for (uint32_t i = 1; elf->is64 && !elf->placed && i < elf->sections; i++) {
		struct elf_section s = elf_section_at(elf, i);
		if (s.type != SHT_RELA)
			continue;
		struct cursor c = elf_cursor(elf, elf_part(elf, s.offset, s.size));
		while (elf->relocations < RELOCATIONS_MAX &&
		       cursor_left(&c) >= sizeof(Elf64_Rela)) {
			struct relocation r = { .slot = cursor_u64(&c), .symbols = s.link,
						.order = (uint32_t)elf->relocations };
			r.info = cursor_u64(&c);
			r.addend = cursor_u64(&c);
			elf->relocation = array_grow(elf->relocation, elf->relocations, sizeof(r));
			elf->relocation[elf->relocations++] = r;
		}
	}
	elf_charge(elf, elf->relocations * sizeof(*elf->relocation));
	if (elf->relocations)
		qsort(elf->relocation, elf->relocations, sizeof(*elf->relocation), by_slot);
}

/* Return the first relocation that fills the word at SLOT, or NULL. */
static const struct relocation *find(struct elf *elf, uint64_t slot)
{
	if (!elf->relocations_read)
		read_relocations(elf);
	size_t at = BISECT(0, elf->relocations, i, elf->relocation[i].slot >= slot);
	return at < elf->relocations && elf->relocation[at].slot == slot ? &elf->relocation[at]
									 : NULL;
}

/* Return the name of the symbol that R refers to, or NULL. */
static const char *symbol_name(const struct elf *elf, const struct relocation *r)
{
	struct elf_section symbols = elf_section_at(elf, r->symbols);
	struct elf_section strings = elf_section_at(elf, symbols.link);
	uint64_t index = ELF64_R_SYM(r->info);

	if (index >= symbols.size / sizeof(Elf64_Sym))
		return NULL;
	struct cursor c = elf_cursor(elf, elf_part(elf, symbols.offset + index * sizeof(Elf64_Sym),
						   sizeof(Elf64_Sym)));
	return elf_string(elf_part(elf, strings.offset, strings.size), cursor_u32(&c));
}

const char *elf_relocated_by(struct elf *elf, uint64_t slot, uint64_t *value)
{
	const struct relocation *r = find(elf, slot);

	*value = 0;
	if (!r)
		return NULL;
	if (ELF64_R_SYM(r->info))
		return symbol_name(elf, r);
	*value = r->addend;
	return NULL;
}

bool elf_relocated(struct elf *elf, uint64_t slot, uint64_t *value)
{
	const struct relocation *r = find(elf, slot);

	if (!r || ELF64_R_SYM(r->info))
		return false;
	*value = r->addend;
	return true;
}

bool elf_relocated_to(struct elf *elf, uint64_t value, uint64_t *slot)
{
	if (!elf->relocations_read)
		read_relocations(elf);
	for (size_t i = 0; i < elf->relocations; i++) {
		const struct relocation *r = &elf->relocation[i];
		if (r->addend == value && ELF64_R_SYM(r->info) == 0 && r->slot > *slot) {
			*slot = r->slot;
			return true;
		}
	}
	*slot = UINT64_MAX;
	return false;
}
