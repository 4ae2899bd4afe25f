/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of functions or variables, sorted by address.  A symbol without a size extends to the
 * next symbol, unless it is a label inside a function or variable.  If several symbols have one
 * address, the symbol that perf would show is kept: a symbol with a size before a label; global
 * before local before weak; then fewer leading underscores; then the longer name; then the first
 * read.
 */
#include "base/arena.h"
#include "base/sort.h"
#include "elf/symbol-table.h"

#include <stdlib.h>

enum {
	SYMBOLS_MAX = 20 * 1000 * 1000,	/* more than any program has */
	SCANS_MAX = 16,			/* searches that cost less than sorting */
};

/* By number of the table. */
static const char *const table_names[] = { ".symtab", ".dynsym" };
static const char *const string_names[] = { ".strtab", ".dynstr" };

bool symbol_is_mark(const char *name)
{
	return name[0] == '$' && name[1] && strchr("axdt", name[1]) &&
	       (!name[2] || name[2] == '.');
}

/* Return the priority of S, named NAME, among symbols at one address: the highest wins. */
static unsigned rank_of(const struct elf_table_symbol *s, const char *name)
{
	enum { MOST = 7 };
	unsigned underscores = 0;
	unsigned rank = s->binding == STB_GLOBAL ? 2 : s->binding == STB_WEAK ? 0 : 1;

	while (underscores < MOST && name[underscores] == '_')
		underscores++;
	rank |= s->size ? 4 : 0;
	return rank << 3 | (MOST - underscores);
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

const char *symbol_name(struct elf *elf, const struct elf_table_symbol *s)
{
	return elf_strings_at(&elf->table[s->table].strings, s->name);
}

bool symbol_is_code(struct elf *elf, const struct elf_table_symbol *s)
{
	const char *name = symbol_name(elf, s);

	if (!name || !*name)
		return false;
	return !s->is_label ||
	       (s->section < SHN_LORESERVE && !symbol_is_mark(name) &&
		elf_section_at(elf, s->section).flags & SHF_EXECINSTR);
}

/* Find TABLE, the first section of this type, and its strings. */
static void find_table(struct elf *elf, uint32_t type, uint8_t table)
{
	struct elf_symtab *t = &elf->table[table];
	uint32_t i = 0;

	while (i < elf->sections && elf_section_at(elf, i).type != type)
		i++;
	if (i == elf->sections)
		return;
	struct elf_section s = elf_section_at(elf, i), strings = elf_section_at(elf, s.link);
	struct elf_bytes entries = elf_part(elf, s.offset, s.size);
	t->strings.elf = elf;
	t->strings.bytes = elf_range(elf, strings.offset, strings.size);
	if (entries.size < s.size)
		damaged(elf, table, table_names[table], 0);
	else if (t->strings.bytes.size < strings.size)
		damaged(elf, table, string_names[table], 0);
	t->entries = entries.at;
	t->count = entries.size / symbol_size(elf);
	if (t->count > SYMBOLS_MAX)
		t->count = SYMBOLS_MAX;
}

/* Return whether TABLE names any code.  Note damage at the first name outside of the strings. */
static bool check_table(struct elf *elf, uint8_t table)
{
	const struct elf_symtab *t = &elf->table[table];
	uint64_t size = symbol_size(elf), at = 0;
	bool has_code = false;
	struct elf_table_symbol s;

	for (uint64_t i = 0; i < t->count; i++, at += size) {
		bool is_good = symbol_name_at(elf, t->entries + at) < t->strings.bytes.size;
		if ((has_code && is_good) ||
		    !symbol_read(elf, false, SYMBOL_CODE, table, i, &s))
			continue;
		if (!is_good)
			damaged(elf, table, table_names[table], at);
		has_code = has_code || symbol_is_code(elf, &s);
	}
	return has_code;
}

/* Add the symbols of TABLE that are of TYPES and pass TEST to OUT. */
static inline __attribute__((always_inline)) void
read_table(struct elf *elf, uint8_t table, unsigned types, symbol_test *test,
	   struct elf_symbols *out)
{
	uint64_t count = elf->table[table].count;
	bool is_plain = symbols_are_plain(elf);
	struct elf_table_symbol s;

	if (count)
		elf_strings_check(&elf->table[table].strings);
	out->symbol = mem_resize(out->symbol, (out->count + count) * sizeof(s));
	for (uint64_t i = 0; i < count; i++)
		if (symbol_read(elf, is_plain, types, table, i, &s) && test(elf, &s))
			out->symbol[out->count++] = s;
}

/* Set C's RANK and LENGTH for its first symbol. */
static void rate(struct elf *elf, struct symbol_choice *c)
{
	const char *name = symbol_name(elf, &c->best) ?: "";

	c->rank = rank_of(&c->best, name);
	c->length = strlen(name);
}

void symbol_choose(struct elf *elf, struct symbol_choice *c, const struct elf_table_symbol *s)
{
	struct symbol_choice other = { .best = *s };

	if (s->size > c->size)
		c->size = s->size;
	if (c->count++ == 0) {
		c->best = *s;
		return;
	}
	if (c->count == 2)
		rate(elf, c);
	rate(elf, &other);
	if (other.rank < c->rank || (other.rank == c->rank && other.length <= c->length))
		return;
	c->best = *s;
	c->rank = other.rank;
	c->length = other.length;
}

/* Sort the symbols by address, and keep one for each address. */
static void sort_symbols(struct elf *elf, struct elf_symbols *x)
{
	size_t count = x->count, kept = 0, end;
	struct sort_key *room = mem_resize(NULL, 2 * count * sizeof(*room));

	for (size_t i = 0; i < count; i++)
		room[i] = (struct sort_key){ x->symbol[i].address, i };
	const struct sort_key *key = sort_keys(room, room + count, count);
	struct elf_table_symbol *sorted = mem_resize(NULL, count * sizeof(*sorted));
	for (size_t first = 0; first < count; first = end) {
		struct symbol_choice choice = { 0 };
		for (end = first; end < count && key[end].key == key[first].key; end++)
			symbol_choose(elf, &choice, &x->symbol[key[end].item]);
		sorted[kept] = choice.best;
		sorted[kept++].size = choice.size;
	}
	free(room);
	free(x->symbol);
	x->symbol = mem_resize(sorted, kept * sizeof(*sorted));
	x->count = kept;
}

uint64_t symbol_presumed_end(const struct elf *elf, const struct elf_table_symbol *s,
			     uint64_t next)
{
	struct elf_section section = elf_section_at(elf, s->section);
	uint64_t end = section.size <= UINT64_MAX - section.address
		? section.address + section.size : 0;

	if (next && (end == 0 || next < end))
		end = next;
	return end > s->address ? end : s->address + 1;
}

/* Index symbols by address.  The innermost of nested symbols wins; labels inside others do not. */
static void symbols_index(struct elf *elf, struct elf_symbols *x)
{
	struct spans spans = { 0 };
	uint64_t covered = 0;

	for (size_t i = 0; i < x->count; i++) {
		struct elf_table_symbol *s = &x->symbol[i];
		if (s->size == 0 && s->address < covered)
			continue;
		if (s->size == 0)
			s->size = symbol_presumed_end(elf, s, i + 1 < x->count
						      ? s[1].address : 0) - s->address;
		else if (s->address + s->size > covered)
			covered = s->address + s->size;
		spans_add(&spans, s->address, s->address + s->size, (uint32_t)i);
	}
	x->flat = spans_flatten(&spans, &elf->arena);
	spans_release(&spans);
}

/* Find the tables, and symbols in MiniDebugInfo if there is no .symtab. */
void symbols_find_tables(struct elf *elf)
{
	if (elf->tables_found)
		return;
	elf->tables_found = true;
	find_table(elf, SHT_SYMTAB, 0);
	if (!check_table(elf, 0) && !elf->is_mini)
		elf->mini = elf_open_mini(elf);
	find_table(elf, SHT_DYNSYM, 1);
	check_table(elf, 1);
}

void symbols_read(struct elf *elf, unsigned types, symbol_test *test, struct elf_symbols *out)
{
	out->is_read = true;
	for (uint8_t table = 0; table < SYMBOL_TABLES; table++)
		if (types == SYMBOL_CODE)	/* a constant, for speed */
			read_table(elf, table, SYMBOL_CODE, symbol_is_code, out);
		else
			read_table(elf, table, types, test, out);
	if (out->count == 0)
		return;
	sort_symbols(elf, out);
	symbols_index(elf, out);
	elf_charge(elf, out->count * sizeof(*out->symbol) +
		   out->flat.count * sizeof(*out->flat.at));
}

bool elf_table_symbol(struct elf *elf, uint64_t address, struct elf_table_symbol *out,
		      struct extent *same)
{
	symbols_find_tables(elf);
	if (elf->scans < SCANS_MAX) {
		elf->scans++;
		return symbol_scan(elf, address, out, same);
	}
	if (!elf->code.is_read)
		symbols_read(elf, SYMBOL_CODE, symbol_is_code, &elf->code);
	uint32_t id = flats_narrow(&elf->code.flat, address, same);
	if (id != SPAN_NONE)
		*out = elf->code.symbol[id];
	return id != SPAN_NONE;
}

const char *symbol_shown_name(struct elf *elf, const struct elf_table_symbol *s)
{
	const char *name = symbol_name(elf, s), *version = name ? strchr(name, '@') : NULL;

	if (!version || version == name)
		return name ? name : "";
	uint32_t id = intern_bytes(&elf->names, name, (size_t)(version - name));
	return elf->names.text[id];
}

bool elf_symbol(struct elf *elf, uint64_t address, struct elf_symbol *out)
{
	struct elf_symbol other;
	struct elf_table_symbol s;
	struct extent same = { 0, UINT64_MAX };
	bool is_own = elf_table_symbol(elf, address, &s, &same);
	bool is_other = elf->mini && elf_symbol(elf->mini, address, &other);
	if (elf->mini)
		extent_narrow(&same, other.same.start, other.same.end);
	*out = (struct elf_symbol){ .same = same };
	if (is_other && (!is_own || other.address > s.address)) {
		out->name = other.name;
		out->address = other.address;
		out->is_label = other.is_label;
		return true;
	}
	if (elf_is_cut(elf))
		return false;
	if (!is_own)
		return elf_stub(elf, address, out);
	out->name = symbol_shown_name(elf, &s);
	out->address = s.address;
	out->is_label = s.is_label;
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
