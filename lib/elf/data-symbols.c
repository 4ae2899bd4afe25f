/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/data-symbols.h"
#include "elf/symbol-table.h"

/* Labels that linkers define at the borders of sections: they name no variable. */
static const char *const borders[] = {
	"__bss_start", "__bss_start__", "_bss_end__", "__bss_end__", "__end__", "_edata", "edata",
	"_end", "end", "__data_start", "data_start", "_data", "__init_array_start", "__exidx_start",
	"_DYNAMIC", "_GLOBAL_OFFSET_TABLE_", "__GNU_EH_FRAME_HDR",
};

static bool is_border(const char *name)
{
	for (size_t i = 0; i < sizeof(borders) / sizeof(*borders); i++)
		if (!strcmp(name, borders[i]))
			return true;
	return false;
}

bool symbol_is_data(struct elf *elf, const struct elf_table_symbol *s)
{
	const char *name = symbol_name(elf, s);

	if (!name || !*name || s->section >= SHN_LORESERVE || (!s->size && is_border(name)))
		return false;
	if (!s->is_label)
		return true;
	uint64_t flags = elf_section_at(elf, s->section).flags;
	return flags & SHF_ALLOC && !(flags & (SHF_EXECINSTR | SHF_TLS)) && !symbol_is_mark(name);
}

bool elf_variable(struct elf *elf, uint64_t address, struct elf_variable *out)
{
	struct extent same = { 0, UINT64_MAX };
	struct elf_symbols *x = &elf->variables;

	symbols_find_tables(elf);
	if (!x->is_read)
		symbols_read(elf, SYMBOL_DATA, symbol_is_data, x);
	uint32_t id = flats_narrow(&x->flat, address, &same);
	if (id == SPAN_NONE || elf_is_cut(elf))
		return false;
	const struct elf_table_symbol *s = &x->symbol[id];
	*out = (struct elf_variable){ .name = symbol_shown_name(elf, s), .address = s->address,
				      .size = s->size };
	return true;
}

bool elf_memory(const struct elf *elf, uint64_t address, struct elf_memory *out)
{
	for (uint32_t i = 0; i < elf->loads; i++) {
		const struct elf_load *p = &elf->load[i];
		if (address < p->address || address - p->address >= p->memory_size)
			continue;
		*out = (struct elf_memory){ .is_code = p->is_code, .address = p->address,
					    .size = p->memory_size, .file_offset = p->offset };
		return true;
	}
	return false;
}
