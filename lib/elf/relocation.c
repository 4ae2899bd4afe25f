/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit relocations with addends (Elf64_Rela).  The first few look-ups search the file.  After
 * that, all relocations are read, and sorted by the word that they fill.
 */
#include "base/arena.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "elf/internal.h"

#include <elf.h>
#include <stdlib.h>

enum {
	RELOCATIONS_MAX = 2 * 1000 * 1000,	/* per file */
	SCANS_MAX = 16,		/* searches that cost less than sorting */
};

struct relocation {
	uint64_t slot, info, addend;	/* slot: address of the word; others: as Elf64_Rela */
	uint32_t symbols;	/* section index of the symbol table */
};

/* Return relocation INDEX in BYTES, whose symbols are in section SYMBOLS. */
static struct relocation relocation_at(const struct elf *elf, struct elf_bytes bytes, size_t index,
				       uint32_t symbols)
{
	const uint8_t *at = bytes.at + index * sizeof(Elf64_Rela);

	return (struct relocation){
		.slot = elf_load_u64(elf, at + offsetof(Elf64_Rela, r_offset)),
		.info = elf_load_u64(elf, at + offsetof(Elf64_Rela, r_info)),
		.addend = elf_load_u64(elf, at + offsetof(Elf64_Rela, r_addend)),
		.symbols = symbols,
	};
}

/*
 * Find the next section with relocations after *INDEX, 0 at first.  *LEFT is the number of
 * relocations that may still be read.  Return how many the section has.
 */
static size_t next_section(const struct elf *elf, uint32_t *index, size_t *left,
			   struct elf_bytes *bytes, uint32_t *symbols)
{
	while (elf->is64 && !elf->placed && ++*index < elf->sections) {
		struct elf_section s = elf_section_at(elf, *index);
		if (s.type != SHT_RELA)
			continue;
		*bytes = elf_part(elf, s.offset, s.size);
		*symbols = s.link;
		size_t count = bytes->size / sizeof(Elf64_Rela);
		count = count < *left ? count : *left;
		*left -= count;
		if (count)
			return count;
	}
	return 0;
}

/* Sort by slot; relocations of the same slot stay in the order of the file. */
static void sort_relocations(struct elf *elf)
{
	size_t count = elf->relocations;
	struct sort_key *room = mem_resize(NULL, 2 * count * sizeof(*room));
	struct relocation *sorted = mem_resize(NULL, count * sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		room[i] = (struct sort_key){ elf->relocation[i].slot, i };
	const struct sort_key *key = sort_keys(room, room + count, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = elf->relocation[key[i].item];
	free(room);
	free(elf->relocation);
	elf->relocation = sorted;
}

static void read_relocations(struct elf *elf)
{
	size_t left = RELOCATIONS_MAX, count;
	struct elf_bytes bytes;
	uint32_t index = 0, symbols;

	elf->relocations_read = true;
	while ((count = next_section(elf, &index, &left, &bytes, &symbols)) > 0) {
		elf->relocation = mem_resize(elf->relocation, (elf->relocations + count) *
					     sizeof(*elf->relocation));
		for (size_t i = 0; i < count; i++)
			elf->relocation[elf->relocations++] = relocation_at(elf, bytes, i, symbols);
	}
	elf_charge(elf, elf->relocations * sizeof(*elf->relocation));
	if (elf->relocations)
		sort_relocations(elf);
}

/* Find the first relocation in the file that fills the word at SLOT. */
static bool scan(const struct elf *elf, uint64_t slot, struct relocation *out)
{
	size_t left = RELOCATIONS_MAX, count;
	struct elf_bytes bytes;
	uint32_t index = 0, symbols;

	while ((count = next_section(elf, &index, &left, &bytes, &symbols)) > 0)
		for (size_t i = 0; i < count; i++) {
			if (elf_load_u64(elf, bytes.at + i * sizeof(Elf64_Rela)) != slot)
				continue;
			*out = relocation_at(elf, bytes, i, symbols);
			return true;
		}
	return false;
}

/* Find the first relocation that fills the word at SLOT. */
static bool find(struct elf *elf, uint64_t slot, struct relocation *out)
{
	if (!elf->relocations_read && elf->relocation_scans < SCANS_MAX) {
		elf->relocation_scans++;
		return scan(elf, slot, out);
	}
	if (!elf->relocations_read)
		read_relocations(elf);
	size_t at = BISECT(0, elf->relocations, i, elf->relocation[i].slot >= slot);
	if (at == elf->relocations || elf->relocation[at].slot != slot)
		return false;
	*out = elf->relocation[at];
	return true;
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
	struct relocation r;

	*value = 0;
	if (!find(elf, slot, &r))
		return NULL;
	if (ELF64_R_SYM(r.info))
		return symbol_name(elf, &r);
	*value = r.addend;
	return NULL;
}

bool elf_relocated(struct elf *elf, uint64_t slot, uint64_t *value)
{
	struct relocation r;

	if (!find(elf, slot, &r) || ELF64_R_SYM(r.info))
		return false;
	*value = r.addend;
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
