/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split units (DWARF 5 §7.3).  The program keeps a skeleton unit with address ranges and
 * lines.  The functions are in a split unit, in a .dwo file, or in a .dwp package of many
 * split units.  A package has an index by ID of the unit (dwo_id).
 */
#include "dwarf/constants.h"
#include "base/bisect.h"
#include "dwarf/internal.h"
#include "elf/pool.h"

#include <limits.h>

/* The offsets of a unit's parts in the sections of a package, by DW_SECT_* number. */
struct contribution {
	uint64_t offset[DW_SECT_RNGLISTS + 1];
};

/* Return the row of unit ID in F's index (from 1), or 0.  C is at the hash table's slots. */
static uint32_t find_row(struct dwarf_file *f, struct cursor *c, uint32_t slots, uint64_t id)
{
	enum { SLOT_SIZE = 8 + 4 };	/* bytes: an ID and a row */
	uint64_t mask = slots - 1, step = (id >> 32 & mask) | 1, slot = id & mask;
	const uint8_t *ids = cursor_bytes(c, 8 * (size_t)slots);
	const uint8_t *rows = cursor_bytes(c, 4 * (size_t)slots);

	if (!rows || slots == 0 || slots & mask)
		return 0;
	for (uint32_t i = 0; i < slots && dwarf_pay(f, SLOT_SIZE);
	     i++, slot = (slot + step) & mask) {
		struct cursor id_at = { ids + 8 * slot, ids + 8 * slot + 8, c->swap, false };
		struct cursor row_at = { rows + 4 * slot, rows + 4 * slot + 4, c->swap, false };
		uint64_t found = cursor_u64(&id_at);
		uint32_t row = cursor_u32(&row_at);
		if (found == id && row)
			return row;
		if (!found && !row)
			return 0;
	}
	return 0;
}

/* Look up unit ID in .debug_cu_index (DWARF 5 §7.3.5.3; version 2 is GNU's). */
static bool find_contribution(struct dwarf_file *f, uint64_t id, struct contribution *out)
{
	enum { COLUMNS_MAX = 64 };	/* DWARF 5 has eight kinds of sections */
	struct cursor c = section_cursor(f, S_CU_INDEX, 0);
	uint16_t version = cursor_u16(&c);

	cursor_u16(&c);
	uint32_t columns = cursor_u32(&c), units = cursor_u32(&c), slots = cursor_u32(&c);
	uint32_t row = c.failed || columns > COLUMNS_MAX ? 0 : find_row(f, &c, slots, id);
	const uint8_t *ids = cursor_bytes(&c, 4 * (size_t)columns);
	if (!ids || row == 0 || row > units ||
	    !cursor_bytes(&c, 4 * (size_t)(row - 1) * columns))
		return false;
	struct cursor section = { ids, ids + 4 * (size_t)columns, c.swap, false };
	for (uint32_t i = 0; i < columns; i++) {
		uint32_t which = cursor_u32(&section), offset = cursor_u32(&c);
		if (which <= DW_SECT_RNGLISTS && (version >= 5 || which != DW_SECT_RNGLISTS))
			out->offset[which] = offset;
	}
	return !c.failed;
}

static struct unit *find_in_package(struct dwarf_file *f, uint64_t id)
{
	struct contribution at = { 0 };

	if (!find_contribution(f, id, &at))
		return NULL;
	uint64_t offset = at.offset[DW_SECT_INFO];
	size_t index = BISECT(0, f->units, i, f->unit[i].offset >= offset);
	if (index == f->units || f->unit[index].offset != offset)
		return NULL;
	struct unit *u = &f->unit[index];
	if (!u->root_read) {
		u->abbrev_offset += at.offset[DW_SECT_ABBREV];
		u->str_offsets_base = at.offset[DW_SECT_STR_OFFSETS];
		u->rnglists_base = at.offset[DW_SECT_RNGLISTS];
	}
	return u;
}

/* Return the unit ID of those indexed, or NULL. */
static struct unit *find_split_id(const struct dwarf_file *f, uint64_t id)
{
	uint32_t at = TABLE_FIND(&f->split_ids, hash_u64(id), i, f->unit[i].dwo_id == id);

	return at == TABLE_NONE ? NULL : &f->unit[at];
}

/* Index the units of a .dwo file by ID: of equal IDs, the first. */
static void index_split_ids(struct dwarf_file *f)
{
	f->split_ids_read = true;
	for (size_t i = 0; i < f->units; i++) {
		struct unit *u = &f->unit[i];
		if (u->type != DW_UT_split_type && (u->version >= 5 || unit_read_root(u)) &&
		    !find_split_id(f, u->dwo_id))
			table_add(&f->split_ids, hash_u64(u->dwo_id), (uint32_t)i);
	}
}

/* Return the unit ID in a .dwo file, or NULL. */
static struct unit *find_in_file(struct dwarf_file *f, uint64_t id)
{
	if (!f->split_ids_read)
		index_split_ids(f);
	return find_split_id(f, id);
}

/*
 * Return ELF as a .dwo file of D, which takes over ELF.  A .dwo file may have the split units of
 * several skeletons, so it may be open already.  NULL: too many .dwo files.
 */
static struct dwarf_file *add_split(struct dwarf *d, struct elf *elf)
{
	enum { SPLITS_MAX = ELF_POOL_MAX / 2 };

	for (struct dwarf_file *f = d->split; f; f = f->next)
		if (f->elf == elf) {
			elf_close(elf);
			return f;
		}
	if (d->splits == SPLITS_MAX) {
		d->exceeded = true;
		elf_close(elf);
		return NULL;
	}
	struct dwarf_file *f = dwarf_file_open(d, elf, ".dwo");
	f->is_owned = true;
	f->next = d->split;
	d->split = f;
	d->splits++;
	return f;
}

static struct unit *open_split(struct unit *u)
{
	struct dwarf *d = u->file->dwarf;
	const char *name = form_string(u, &u->dwo_name);
	const char *directory = form_string(u, &u->comp_dir);
	char path[PATH_MAX];

	if (!name || !d->inputs.open_split)
		return NULL;
	int length = *name == '/' || !directory
		? snprintf(path, sizeof(path), "%s", name)
		: snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (length >= (int)sizeof(path))
		return NULL;
	struct elf *elf = d->inputs.open_split(d->inputs.context, path);
	if (!elf)
		return NULL;
	struct dwarf_file *f = add_split(d, elf);
	return f ? find_in_file(f, u->dwo_id) : NULL;
}

struct unit *unit_with_code(struct unit *u)
{
	struct dwarf *d = u->file->dwarf;

	if (u->dwo_name.kind == V_NONE)
		return u;
	if (!u->split_tried) {
		u->split_tried = true;
		struct unit *split = d->package ? find_in_package(d->package, u->dwo_id) : NULL;
		if (!split) {
			d->has_parts = true;
			split = open_split(u);
		}
		if (split && !split->skeleton) {
			split->skeleton = u;
			if (unit_read_root(split))
				u->split = split;
		}
	}
	return u->split ? u->split : u;
}
