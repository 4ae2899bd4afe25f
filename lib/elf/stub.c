/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the procedure linkage table (.plt, .plt.sec, .plt.got) of x86-64 and AArch64.
 * Each entry jumps through a slot of the global offset table.  The entry's instructions give
 * the address of the slot, and the relocation of the slot gives the symbol.
 */
#include "elf/internal.h"

#include <elf.h>

enum { NAME_MAX_BYTES = 1000, ENTRY = 16 };

/* Find the sections with names .plt, .plt.sec, .plt.got, ... */
static void find_tables(struct elf *elf)
{
	elf->stubs_read = true;
	for (uint32_t i = 1; i < elf->sections && elf->stub_tables < STUB_TABLES_MAX; i++) {
		struct elf_section s = elf_section_at(elf, i);
		struct elf_bytes names = elf->section_names;
		if (s.type == SHT_PROGBITS && s.name < names.size && names.size - s.name > 4 &&
		    !memcmp(names.at + s.name, ".plt", 4))
			elf->stub_table[elf->stub_tables++] = s;
	}
}

/* Find the procedure linkage table that contains ADDRESS. */
static bool find_table(struct elf *elf, uint64_t address, struct elf_section *out)
{
	if (!elf->stubs_read)
		find_tables(elf);
	for (uint32_t i = 0; i < elf->stub_tables; i++) {
		*out = elf->stub_table[i];
		if (address - out->address < out->size)
			return true;
	}
	return false;
}

/* The slot of "jmp *slot(%rip)" (ff 25), which may follow endbr64 or a prefix; 0: none. */
static uint64_t slot_x86_64(const struct elf *elf, struct elf_bytes code, uint64_t address)
{
	for (uint64_t i = 0; i + 6 <= code.size; i++) {
		if (code.at[i] != 0xff || code.at[i + 1] != 0x25)
			continue;
		struct cursor c = elf_cursor(elf, (struct elf_bytes){ code.at + i + 2, 4 });
		return address + i + 6 + (uint64_t)(int32_t)cursor_u32(&c);
	}
	return 0;
}

/* The slot of "adrp x16, page; ldr x17, [x16, offset]", which may follow "bti c"; 0: none. */
static uint64_t slot_aarch64(const struct elf *elf, struct elf_bytes code, uint64_t address)
{
	for (uint64_t i = 0; i + 8 <= code.size; i += 4) {
		struct cursor c = elf_cursor(elf, (struct elf_bytes){ code.at + i, 8 });
		uint32_t adrp = cursor_u32(&c), ldr = cursor_u32(&c);
		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		int64_t pages = (int64_t)((uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
		pages = (pages ^ 0x100000) - 0x100000;	/* sign bit: bit 20 */
		return ((address + i) & ~0xfffULL) + ((uint64_t)pages << 12) +
		       (uint64_t)(ldr >> 10 & 0xfff) * 8;
	}
	return 0;
}

static uint64_t slot_of(const struct elf *elf, struct elf_bytes code, uint64_t address)
{
	if (!elf->is64 || code.size == 0)
		return 0;
	return elf->machine == EM_X86_64 ? slot_x86_64(elf, code, address)
		: elf->machine == EM_AARCH64 ? slot_aarch64(elf, code, address) : 0;
}

/*
 * Return the name of the symbol in the relocation of SLOT.  If it has no symbol (IFUNC), return
 * the name of the function at the relocated address.  NULL: unknown.
 */
static const char *name_of_slot(struct elf *elf, uint64_t slot)
{
	struct elf_table_symbol own;
	struct elf_symbol target;
	struct extent same = { 0, UINT64_MAX };
	uint64_t value;
	const char *name = elf_relocated_by(elf, slot, &value);

	return name ? name : value && elf_table_symbol(elf, value, &own, &same) &&
			     elf_symbol(elf, value, &target) ? target.name : NULL;
}

bool elf_stub(struct elf *elf, uint64_t address, struct elf_symbol *out)
{
	char name[NAME_MAX_BYTES];
	struct elf_section table;

	if (!find_table(elf, address, &table))
		return false;
	uint64_t size = table.entry_size == 8 ? 8 : ENTRY;
	uint64_t start = (address - table.address) / size * size;
	if (table.offset > UINT64_MAX - start || start + size > table.size)
		return false;
	uint64_t slot = slot_of(elf, elf_part(elf, table.offset + start, size),
				table.address + start);
	const char *target = slot ? name_of_slot(elf, slot) : NULL;
	if (!target || !*target || strlen(target) > sizeof(name) - sizeof("@plt"))
		return false;
	snprintf(name, sizeof(name), "%s@plt", target);
	uint32_t id = intern_text(&elf->names, name);
	start += table.address;
	*out = (struct elf_symbol){ .name = elf->names.text[id], .address = start,
				    .same = { start, start + size } };
	return true;
}
