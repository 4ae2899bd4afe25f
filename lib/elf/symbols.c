/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function symbols, sorted by address.  A symbol without a size extends to the next symbol,
 * unless it is a label inside a function.  If several symbols have one address, the symbol
 * that perf would show is kept: a symbol with a size before a label; global before local
 * before weak; then fewer leading underscores; then the longer name; then the first read.
 */
#include "base/arena.h"
#include "elf/internal.h"

#include <elf.h>
#include <stdlib.h>

enum { SYMBOLS_MAX = 20 * 1000 * 1000 };	/* more than any program has */

/* By number of the table. */
static const char *const table_names[] = { ".symtab", ".dynsym" };
static const char *const string_names[] = { ".strtab", ".dynstr" };

/* "$x", "$d.realign": symbols that mark the start of code or data, and name no function. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("axdt", name[1]) &&
	       (!name[2] || name[2] == '.');
}

static uint8_t rank_of(uint64_t symbol_size, unsigned binding, const char *name)
{
	enum { MOST = 7 };
	unsigned underscores = 0;
	unsigned rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 0 : 1;

	while (underscores < MOST && name[underscores] == '_')
		underscores++;
	rank |= symbol_size ? 4 : 0;
	return (uint8_t)(rank << 3 | (MOST - underscores));
}

/* Note damage at OFFSET of SECTION, which belongs to symbol table TABLE. */
static void damaged(struct elf *elf, uint8_t table, const char *section, uint64_t offset)
{
	if (!elf->damage[table].first.section && !elf_is_cut(elf))
		elf->damage[table].first = (struct elf_damage){ section, offset };
}

bool elf_next_damage(struct elf *elf, struct elf_damage *out)
{
	for (int i = 0; elf && i < 2; i++) {
		if (!elf->damage[i].first.section || elf->damage[i].is_returned)
			continue;
		elf->damage[i].is_returned = true;
		*out = elf->damage[i].first;
		return true;
	}
	return elf && elf_next_damage(elf->mini, out);
}

/*
 * Read an Elf64_Sym, or an Elf32_Sym, whose fields have another order, at OFFSET of TABLE.  Add the
 * symbol if it is code.
 */
static void add_symbol(struct elf *elf, struct cursor *c, uint8_t table, uint64_t offset)
{
	struct elf_table_symbol s = { .name = cursor_u32(c), .table = table };

	if (!elf->is64) {
		s.address = cursor_u32(c);
		s.size = cursor_u32(c);
	}
	const uint8_t *info_other = cursor_bytes(c, 2);
	uint16_t section = cursor_u16(c);
	if (elf->is64) {
		s.address = cursor_u64(c);
		s.size = cursor_u64(c);
	}
	if (elf->placed && section < elf->sections)
		s.address += elf->placed[section].address;
	if (c->failed || section == SHN_UNDEF || s.size > UINT64_MAX - s.address)
		return;
	unsigned type = ELF64_ST_TYPE(info_other[0]);	/* the same in both classes */
	const char *name = elf_string(elf->strings[table], s.name);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return;
	if (s.name >= elf->strings[table].size)
		damaged(elf, table, table_names[table], offset);
	if (!name || !*name ||
	    (type == STT_NOTYPE && (section >= SHN_LORESERVE || is_mapping_symbol(name))))
		return;
	if (type == STT_NOTYPE &&
	    !(elf_section_at(elf, section).flags & SHF_EXECINSTR))
		return;		/* a label in data */
	if (elf->machine == EM_ARM)
		s.address &= ~1ULL;	/* bit 0 marks Thumb code */
	s.section = section;
	s.order = (uint32_t)elf->symbols;
	s.rank = rank_of(s.size, ELF64_ST_BIND(info_other[0]), name);
	elf->symbol = array_grow(elf->symbol, elf->symbols, sizeof(s));
	elf->symbol[elf->symbols++] = s;
}

/* Read all symbols of the first section of this type. */
static void read_table(struct elf *elf, uint32_t type, uint8_t table)
{
	uint64_t entry = elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

	for (uint32_t i = 0; i < elf->sections; i++) {
		struct elf_section s = elf_section_at(elf, i);
		if (s.type != type)
			continue;
		struct elf_section strings = elf_section_at(elf, s.link);
		struct elf_bytes bytes = elf_part(elf, s.offset, s.size);
		elf->strings[table] = elf_part(elf, strings.offset, strings.size);
		if (bytes.size < s.size)
			damaged(elf, table, table_names[table], 0);
		else if (elf->strings[table].size < strings.size)
			damaged(elf, table, string_names[table], 0);
		struct cursor c = elf_cursor(elf, bytes);
		for (size_t n = 0; n < SYMBOLS_MAX && cursor_left(&c) >= entry; n++)
			add_symbol(elf, &c, table, n * entry);
		return;
	}
}

static const char *name_of(const struct elf *elf, const struct elf_table_symbol *s)
{
	return elf_string(elf->strings[s->table], s->name);
}

static int by_address(const void *a, const void *b)
{
	const struct elf_table_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Return the index of the symbol to show of SYMBOL[first..end), which have one address. */
static size_t best_of(const struct elf *elf, size_t first, size_t end)
{
	size_t best = first, longest = 0;

	if (first + 1 == end)
		return first;
	for (size_t i = first; i < end && elf->symbol[i].rank == elf->symbol[first].rank; i++) {
		const char *name = name_of(elf, &elf->symbol[i]);
		size_t length = name ? strlen(name) : 0;
		if (length > longest) {
			longest = length;
			best = i;
		}
	}
	return best;
}

/* Keep one symbol for each address, with the largest size of the symbols there. */
static void keep_one_each(struct elf *elf)
{
	size_t kept = 0, end;

	for (size_t first = 0; first < elf->symbols; first = end) {
		uint64_t size = elf->symbol[first].size;
		for (end = first + 1; end < elf->symbols &&
		     elf->symbol[end].address == elf->symbol[first].address; end++)
			if (elf->symbol[end].size > size)
				size = elf->symbol[end].size;
		struct elf_table_symbol best = elf->symbol[best_of(elf, first, end)];
		best.size = size;
		elf->symbol[kept++] = best;
	}
	elf->symbols = kept;
}

/* Return the end address of a symbol without a size: the next symbol, or the section's end. */
static uint64_t presumed_end(const struct elf *elf, size_t i)
{
	struct elf_section s = elf_section_at(elf, elf->symbol[i].section);
	uint64_t end = s.size <= UINT64_MAX - s.address ? s.address + s.size : 0;

	if (i + 1 < elf->symbols && (end == 0 || elf->symbol[i + 1].address < end))
		end = elf->symbol[i + 1].address;
	return end > elf->symbol[i].address ? end : elf->symbol[i].address + 1;
}

/* Index symbols by address.  The innermost of nested symbols wins; labels in functions do not. */
static void index_symbols(struct elf *elf)
{
	struct spans spans = { 0 };
	uint64_t covered = 0;

	for (size_t i = 0; i < elf->symbols; i++) {
		struct elf_table_symbol *s = &elf->symbol[i];
		if (s->size == 0 && s->address < covered)
			continue;
		if (s->size == 0)
			s->size = presumed_end(elf, i) - s->address;
		else if (s->address + s->size > covered)
			covered = s->address + s->size;
		spans_add(&spans, s->address, s->address + s->size, (uint32_t)i);
	}
	elf->flat = spans_flatten(&spans);
}

static void read_symbols(struct elf *elf)
{
	elf->symbols_read = true;
	read_table(elf, SHT_SYMTAB, 0);
	if (elf->symbols == 0 && !elf->is_mini)
		elf->mini = elf_open_mini(elf);
	read_table(elf, SHT_DYNSYM, 1);
	if (elf->symbols == 0)
		return;
	qsort(elf->symbol, elf->symbols, sizeof(*elf->symbol), by_address);
	keep_one_each(elf);
	elf->symbol = mem_resize(elf->symbol, elf->symbols * sizeof(*elf->symbol));
	index_symbols(elf);
	elf_charge(elf, elf->symbols * sizeof(*elf->symbol) +
		   elf->flat.count * sizeof(*elf->flat.at));
}

/* Return the name of S without the version that some tables append: "memcpy@@GLIBC_2.14". */
static const char *shown_name(struct elf *elf, const struct elf_table_symbol *s)
{
	const char *name = name_of(elf, s), *version = name ? strchr(name, '@') : NULL;

	if (!version || version == name)
		return name ? name : "";
	uint32_t id = intern_bytes(&elf->names, name, (size_t)(version - name));
	return elf->names.text[id];
}

bool elf_symbol(struct elf *elf, uint64_t address, struct elf_symbol *out)
{
	struct elf_symbol other;
	struct extent same = { 0, UINT64_MAX };

	if (!elf->symbols_read)
		read_symbols(elf);
	uint32_t id = flats_narrow(&elf->flat, address, &same);
	const struct elf_table_symbol *s = id == SPAN_NONE ? NULL : &elf->symbol[id];
	bool is_other = elf->mini && elf_symbol(elf->mini, address, &other);
	if (elf->mini)
		extent_narrow(&same, other.same.start, other.same.end);
	*out = (struct elf_symbol){ .same = same };
	if (is_other && (!s || other.address > s->address)) {
		out->name = other.name;
		out->address = other.address;
		return true;
	}
	if (elf_is_cut(elf))
		return false;
	if (!s)
		return elf_stub(elf, address, out);
	out->name = shown_name(elf, s);
	out->address = s->address;
	return true;
}

bool elf_address_of(const struct elf *elf, const char *name, uint64_t *address)
{
	struct elf_section table = { 0 };

	if (!elf->is64)		/* only 64-bit kernels are looked up */
		return false;
	for (uint32_t i = 0; i < elf->sections && table.type != SHT_SYMTAB; i++)
		table = elf_section_at(elf, i);
	if (table.type != SHT_SYMTAB)
		return false;
	struct elf_section s = elf_section_at(elf, table.link);
	struct elf_bytes strings = elf_part(elf, s.offset, s.size);
	struct cursor c = elf_cursor(elf, elf_part(elf, table.offset, table.size));
	for (size_t n = 0; n < SYMBOLS_MAX && cursor_left(&c) >= sizeof(Elf64_Sym); n++) {
		const char *own = elf_string(strings, cursor_u32(&c));
		cursor_bytes(&c, 4);	/* info, other, section */
		*address = cursor_u64(&c);
		cursor_u64(&c);		/* size */
		if (own && !strcmp(own, name))
			return true;
	}
	return false;
}
