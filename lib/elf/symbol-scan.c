/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches symbol tables without sorting them: in most objects, only a few addresses are looked
 * up.  Only names of candidates are read, so most pages of the strings are not read.
 *
 * The innermost symbol with a size that contains the address wins.  A label counts only if no
 * symbol starts between the label and the address.
 */
#include "elf/symbol-table.h"

struct scan {
	uint64_t address;		/* the address that is searched for */
	struct symbol_choice before;	/* nearest start that is not after ADDRESS */
	uint64_t after;			/* nearest start after it; 0: none */
	uint64_t around;		/* innermost start of a symbol that contains ADDRESS */
	bool is_inside;			/* some symbol contains ADDRESS, so AROUND is set */
	struct extent same;		/* contains ADDRESS; no symbol starts or ends in it */
};

/* Consider S, which starts at the address or before it. */
static void consider_before(struct elf *elf, struct scan *scan, const struct elf_table_symbol *s)
{
	uint64_t end = s->address + s->size;
	bool is_inside = s->size && scan->address < end;

	if (scan->before.count && s->address > scan->before.best.address)
		scan->before = (struct symbol_choice){ 0 };
	if (!scan->before.count || s->address == scan->before.best.address)
		symbol_choose(elf, &scan->before, s);
	if (is_inside && (!scan->is_inside || s->address > scan->around))
		scan->around = s->address;
	scan->is_inside |= is_inside;
	extent_narrow(&scan->same, is_inside ? s->address : end, is_inside ? end : UINT64_MAX);
}

/* Read entry INDEX of TABLE.  False: it is not code. */
static bool read_code(const struct elf *elf, uint8_t table, uint64_t index,
		      struct elf_table_symbol *s)
{
	return symbol_read(elf, false, SYMBOL_CODE, table, index, s);
}

/* Consider entry INDEX of TABLE, unless it is outside of SCAN->same. */
static void consider(struct elf *elf, uint8_t table, uint64_t index, struct scan *scan)
{
	struct elf_table_symbol s;

	/* A symbol that only touches SAME matters, too: it may have the same start. */
	if (!read_code(elf, table, index, &s) || s.address >= scan->same.end ||
	    s.address + s.size < scan->same.start || !symbol_is_code(elf, &s))
		return;
	if (s.address <= scan->address)
		consider_before(elf, scan, &s);
	else
		scan->after = scan->same.end = s.address;
}

/*
 * Consider all entries of TABLE, which are plain.  Most entries are outside of SCAN->same, and are
 * skipped fast.
 */
static void consider_plain(struct elf *elf, uint8_t table, struct scan *scan)
{
	const uint8_t *at = elf->table[table].entries;
	uint64_t start = scan->same.start, end = scan->same.end, address, size;

	for (uint64_t i = 0; i < elf->table[table].count; i++, at += sizeof(Elf64_Sym)) {
		memcpy(&address, at + offsetof(Elf64_Sym, st_value), sizeof(address));
		memcpy(&size, at + offsetof(Elf64_Sym, st_size), sizeof(size));
		if (address >= end || address + size < start)
			continue;
		consider(elf, table, i, scan);
		start = scan->same.start;
		end = scan->same.end;
	}
}

/* Return whether a symbol that starts before ADDRESS contains it. */
static bool is_covered(struct elf *elf, uint64_t address)
{
	struct elf_table_symbol s;

	for (uint8_t table = 0; table < SYMBOL_TABLES; table++)
		for (uint64_t i = 0; i < elf->table[table].count; i++)
			if (read_code(elf, table, i, &s) && s.address < address &&
			    address - s.address < s.size && symbol_is_code(elf, &s))
				return true;
	return false;
}

/* Return the symbol to show of those at ADDRESS. */
static struct elf_table_symbol choose_at(struct elf *elf, uint64_t address)
{
	struct symbol_choice choice = { 0 };
	struct elf_table_symbol s;

	for (uint8_t table = 0; table < SYMBOL_TABLES; table++)
		for (uint64_t i = 0; i < elf->table[table].count; i++)
			if (read_code(elf, table, i, &s) && s.address == address &&
			    symbol_is_code(elf, &s))
				symbol_choose(elf, &choice, &s);
	return choice.best;
}

bool symbol_scan(struct elf *elf, uint64_t address, struct elf_table_symbol *out,
		 struct extent *same)
{
	struct scan scan = { .address = address, .same = { 0, UINT64_MAX } };
	const struct symbol_choice *before = &scan.before;

	for (uint8_t table = 0; table < SYMBOL_TABLES; table++)
		if (symbols_are_plain(elf))
			consider_plain(elf, table, &scan);
		else
			for (uint64_t i = 0; i < elf->table[table].count; i++)
				consider(elf, table, i, &scan);
	if (before->count && !before->size && !is_covered(elf, before->best.address)) {
		uint64_t end = symbol_presumed_end(elf, &before->best, scan.after);
		scan.is_inside = address < end;
		scan.around = before->best.address;
		extent_narrow(&scan.same, scan.is_inside ? 0 : end,
			      scan.is_inside ? end : UINT64_MAX);
	}
	extent_narrow(same, scan.same.start, scan.same.end);
	if (!scan.is_inside)
		return false;
	/*
	 * If a symbol ends between AROUND and ADDRESS, other symbols that start at AROUND may not
	 * have been seen.
	 */
	*out = scan.same.start == scan.around ? before->best : choose_at(elf, scan.around);
	return true;
}
