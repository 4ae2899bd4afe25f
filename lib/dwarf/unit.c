/* SPDX-License-Identifier: Apache-2.0 */
/* Units: their headers (DWARF 5 §7.5.1), root DIEs, and address ranges. */
#include "dwarf/constants.h"
#include "base/bisect.h"
#include "dwarf/internal.h"
#include "elf/section.h"

#include <stdlib.h>

enum {
	FUEL_LEAST = 16 << 20,	/* bytes: for any file but small ones */
	HEADER_MAX = 64,	/* bytes of a unit's header; the longest has 40 */
	/*
	 * Bytes for each byte of the sections.  If every address is looked up, programs take
	 * 1.3 to 2.6; one of empty C files takes 11, which it has from FUEL_LEAST.
	 */
	FUEL_EACH = 8,
};

/*
 * Read the header at C into U, and move C to the next unit.  False: the length is damaged.
 * Other damage, and an unknown version, set U->is_bad.
 */
static bool read_header(struct dwarf_file *f, struct cursor *c, struct unit *u)
{
	const uint8_t *info = f->section[S_INFO].at;

	*u = (struct unit){ .file = f, .offset = (uint64_t)(c->at - info) };
	dwarf_need(f, c, HEADER_MAX);
	uint64_t length = form_length(c, &u->offset_size);
	if (c->failed || length > cursor_left(c))
		return false;
	struct cursor h = { .at = c->at, .end = c->at + length, .swap = c->swap };
	c->at += length;
	u->end = (uint64_t)(c->at - info);
	u->version = cursor_u16(&h);
	if (u->version >= 5) {
		u->type = cursor_u8(&h);
		u->address_size = cursor_u8(&h);
	}
	u->abbrev_offset = form_number(&h, u->offset_size);
	if (u->version < 5) {
		u->type = f->has_types ? DW_UT_type : DW_UT_compile;
		u->address_size = cursor_u8(&h);
	}
	if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
		u->dwo_id = cursor_u64(&h);
	if (u->type == DW_UT_type || u->type == DW_UT_split_type) {
		u->signature = cursor_u64(&h);
		u->type_at = form_number(&h, u->offset_size);
	}
	u->dies = (uint64_t)(h.at - info);
	u->is_bad = h.failed || !dwarf_is_read(u->version) ||
		    (u->address_size != 4 && u->address_size != 8);
	return true;
}

/*
 * Give F fuel for its sections.  Sparse or highly compressed input can claim any size for free, so
 * the size is capped at 4 times the bytes that the file really stores.
 */
static void add_fuel(struct dwarf_file *f)
{
	enum { PACKED_AT_MOST = 4 };	/* size of the sections / bytes that the file stores */
	static const enum dwarf_section all[] = { S_INFO, S_ABBREV, S_LINE, S_LINE_STR, S_RANGES,
						  S_RNGLISTS, S_CU_INDEX };
	uint64_t size = 0, most = PACKED_AT_MOST * elf_stored(f->elf);

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		size += f->section[all[i]].size;
	f->fuel.left = elf_allowance(f->elf, FUEL_LEAST) +
		       FUEL_EACH * (size < most ? size : most);
}

static void read_headers(struct dwarf_file *f)
{
	struct cursor c = section_cursor(f, S_INFO, 0);
	struct unit u;

	while (cursor_left(&c) > 0 && dwarf_pay(f, sizeof(u))) {
		if (!read_header(f, &c, &u)) {
			dwarf_damaged(f, S_INFO, u.offset);
			break;
		}
		if (u.is_bad) {
			if (dwarf_is_read(u.version))
				dwarf_damaged(f, S_INFO, u.offset);
			else		/* 0: zeros, for example from a hole in the file */
				dwarf_unread(f->dwarf, u.version);
			continue;
		}
		f->unit = array_grow(f->unit, f->units, sizeof(u));
		f->unit[f->units++] = u;
	}
	dwarf_charge(f->dwarf, f->units * sizeof(u));
}

/*
 * Return whether the first unit in INFO is not a type unit.  A .dwo file may have many sections
 * with type units.
 */
static bool has_code_unit(const struct elf *elf, struct elf_bytes info)
{
	struct dwarf_file f = { .elf = (struct elf *)(uintptr_t)elf, .section[S_INFO] = info,
				.swap = elf_is_swapped(elf) };
	struct cursor c = section_cursor(&f, S_INFO, 0);
	struct unit u;

	return read_header(&f, &c, &u) && !u.is_bad && u.type != DW_UT_type &&
	       u.type != DW_UT_split_type;
}

/* Open the sections of ELF; INFO is the name of that with the units. */
static struct dwarf_file *open_file(struct dwarf *d, struct elf *elf, const char *info,
				    const char *suffix)
{
	struct dwarf_file *f = mem_zeroed(1, sizeof(*f));
	char full[64];

	f->dwarf = d;
	f->elf = elf;
	f->swap = elf_is_swapped(elf);
	f->has_types = info != dwarf_section_names[S_INFO];
	for (int s = 0; s < SECTIONS; s++) {
		snprintf(full, sizeof(full), "%s%s", s == S_INFO ? info : dwarf_section_names[s],
			 s == S_CU_INDEX ? "" : suffix);
		elf_section_range(elf, full, s == S_INFO && !f->has_types ? has_code_unit : NULL,
				  &f->section[s]);
		if (!(PARTLY_USED >> s & 1))
			elf_need(elf, f->section[s].at, f->section[s].size);
	}
	f->str = (struct elf_strings){ .elf = elf, .bytes = f->section[S_STR] };
	f->line_str = (struct elf_strings){ .elf = elf, .bytes = f->section[S_LINE_STR] };
	add_fuel(f);
	read_headers(f);
	return f;
}

struct dwarf_file *dwarf_file_open(struct dwarf *d, struct elf *elf, const char *suffix)
{
	return open_file(d, elf, dwarf_section_names[S_INFO], suffix);
}

struct dwarf_file *dwarf_file_open_types(struct dwarf *d, struct elf *elf)
{
	static const char types[] = ".debug_types";
	struct elf_bytes bytes;

	return elf_section_range(elf, types, NULL, &bytes) ? open_file(d, elf, types, "") : NULL;
}

void dwarf_file_close(struct dwarf_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->units; i++)
		free(f->unit[i].code);
	free(f->unit);
	abbrevs_release(f);
	lines_release(f);
	table_release(&f->split_ids);
	if (f->is_owned)
		elf_close(f->elf);
	free(f);
}

/* Set the bases that hold if the root DIE has none: just after the header of the only table. */
static void set_default_bases(struct unit *u)
{
	if (u->version < 5)
		return;
	u->str_offsets_base += u->offset_size == 8 ? 16 : 8;
	u->rnglists_base += u->offset_size == 8 ? 20 : 12;
	u->addr_base = u->offset_size == 8 ? 16 : 8;
}

static struct value taken(const struct die *d, enum slot slot)
{
	return die_has(d, slot) ? d->value[slot] : (struct value){ 0 };
}

struct cursor unit_cursor(const struct unit *u, uint64_t offset)
{
	struct cursor c = section_cursor(u->file, S_INFO, offset);

	if (c.failed)
		return c;
	c.end = u->file->section[S_INFO].at + u->end;
	dwarf_need(u->file, &c, UINT64_MAX);
	return c;
}

/*
 * Read the root DIE of U.  Of most units, nothing else is read, and the root DIE of nearly all is
 * short.  False: damage.
 */
static bool read_root(const struct unit *u, struct die *die)
{
	enum { USUAL = 2048 };		/* bytes */
	struct cursor c = section_cursor(u->file, S_INFO, u->dies);

	if (!c.failed && u->end - u->dies > USUAL) {
		c.end = c.at + USUAL;
		dwarf_need(u->file, &c, USUAL);
		if (die_read(u, &c, die))
			return die->abbrev;
	}
	c = unit_cursor(u, u->dies);
	return !c.failed && die_read(u, &c, die) && die->abbrev;
}

bool unit_read_root(struct unit *u)
{
	struct die die;

	if (u->root_read || u->is_bad)
		return !u->is_bad;
	u->root_read = true;
	u->abbrevs = abbrevs_find(u->file, u);
	if (!read_root(u, &die)) {
		u->is_bad = true;
		dwarf_damaged(u->file, S_INFO, u->dies);
		return false;
	}
	set_default_bases(u);
	u->low_pc = taken(&die, A_LOW_PC);
	u->high_pc = taken(&die, A_HIGH_PC);
	u->ranges = taken(&die, A_RANGES);
	u->name = taken(&die, A_NAME);
	u->comp_dir = taken(&die, A_COMP_DIR);
	u->dwo_name = taken(&die, A_DWO_NAME);
	u->stmt_list = taken(&die, A_STMT_LIST);
	if (die_has(&die, A_DWO_ID))
		u->dwo_id = die.value[A_DWO_ID].number;
	if (die_has(&die, A_STR_OFFSETS_BASE))
		u->str_offsets_base = die.value[A_STR_OFFSETS_BASE].number;
	if (die_has(&die, A_ADDR_BASE))
		u->addr_base = die.value[A_ADDR_BASE].number;
	if (die_has(&die, A_RNGLISTS_BASE))
		u->rnglists_base = die.value[A_RNGLISTS_BASE].number;
	if (die_has(&die, A_GNU_RANGES_BASE))
		u->gnu_ranges_base = die.value[A_GNU_RANGES_BASE].number;
	if (!form_address(u, &u->low_pc, &u->base))
		u->base = 0;
	return true;
}

struct unit *unit_at(struct dwarf_file *f, uint64_t offset)
{
	size_t next = BISECT(0, f->units, i, f->unit[i].offset > offset);
	struct unit *u = next ? &f->unit[next - 1] : NULL;

	return u && offset >= u->dies && offset < u->end && unit_read_root(u) ? u : NULL;
}

static const struct value *if_any(const struct value *v)
{
	return v->kind == V_NONE ? NULL : v;
}

void units_index(struct dwarf *d)
{
	struct dwarf_file *f = d->main;
	struct spans spans = { 0 };

	/* In reverse order, so the first unit wins where units overlap. */
	for (size_t i = f->units; i-- > 0; ) {
		struct unit *u = &f->unit[i];
		if (u->type == DW_UT_type || !unit_read_root(u))
			continue;
		size_t before = spans.count;
		ranges_add(u, if_any(&u->low_pc), if_any(&u->high_pc), if_any(&u->ranges), &spans,
			   (uint32_t)i);
		bool has_ranges = spans.count > before || u->ranges.kind || u->high_pc.kind;
		if (has_ranges || !d->rangeless_read)
			continue;
		/* The unit has no ranges: use the ranges of its functions. */
		if (!u->functions_read)
			unit_read_functions(u);
		for (size_t k = 0; k < u->functions.count; k++)
			if (u->functions.at[k].value != SPAN_NONE && k + 1 < u->functions.count)
				spans_add(&spans, u->functions.at[k].start,
					  u->functions.at[k + 1].start, (uint32_t)i);
	}
	d->units = spans_flatten(&spans, &d->arena);
	spans_release(&spans);
}
