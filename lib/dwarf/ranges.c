/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address ranges: low and high PC, .debug_ranges (DWARF 4 §7.23) and
 * .debug_rnglists (DWARF 5 §7.25).
 *
 * Linkers leave the DIEs of code that they dropped in place, with an address of 0 or near -1.
 * Such ranges, and all ranges outside of code, are left out.
 */
#include "dwarf/constants.h"
#include "dwarf/internal.h"

struct range_reader {
	struct unit *unit;
	const struct unit *owner;	/* has the base and .debug_ranges: UNIT or its skeleton */
	struct spans *out;
	uint32_t value;			/* of each range in OUT */
};

static void add(const struct range_reader *r, uint64_t start, uint64_t end)
{
	const struct dwarf *d = r->unit->file->dwarf;

	if (start >= end || start >= UINT64_MAX - 1)
		return;
	if (d->text_end ? start < d->text_start || start >= d->text_end : start == 0)
		return;
	spans_add(r->out, start, end, r->value);
}

/* Pay for a range.  Many DIEs may refer to the same list.  False: not enough fuel is left. */
static bool pay(struct unit *u)
{
	return dwarf_pay(u->file, sizeof(struct span));
}

/* C, in F, is about to read an entry.  The bytes up to *UNTIL, at first C's, were asked for. */
static inline void need_entry(const struct dwarf_file *f, const struct cursor *c,
			      const uint8_t **until)
{
	enum { ENTRY_MAX = 1 + 2 * 16, AHEAD = 512 };	/* bytes: a kind and two numbers */

	if (*until - c->at >= ENTRY_MAX)
		return;
	dwarf_need(f, c, AHEAD);
	*until = cursor_left(c) > AHEAD ? c->at + AHEAD : c->end;
}

static void read_ranges(const struct range_reader *r, uint64_t offset)
{
	const struct unit *owner = r->owner;
	unsigned size = r->unit->address_size;
	uint64_t base = owner->base, base_mark = size == 4 ? UINT32_MAX : UINT64_MAX;
	struct cursor c = section_cursor(owner->file, S_RANGES, offset);
	const uint8_t *until = c.at;

	while (pay(r->unit)) {
		need_entry(owner->file, &c, &until);
		uint64_t start = form_number(&c, size), end = form_number(&c, size);
		if (c.failed)
			dwarf_damaged(owner->file, S_RANGES, offset);
		if (c.failed || (start == 0 && end == 0))
			return;
		if (start == base_mark)
			base = end;
		else
			add(r, base + start, base + end);
	}
}

/* Read an index into .debug_addr, and return the address there. */
static uint64_t indexed(const struct range_reader *r, struct cursor *c)
{
	struct value v = { .number = cursor_uleb(c), .kind = V_ADDRESS_INDEX };
	uint64_t address;

	if (form_address(r->unit, &v, &address))
		return address;
	c->failed = true;
	return 0;
}

static void read_rnglists(const struct range_reader *r, uint64_t offset)
{
	unsigned size = r->unit->address_size;
	uint64_t base = r->owner->base, start, end;
	struct cursor c = section_cursor(r->unit->file, S_RNGLISTS, offset);
	const uint8_t *until = c.at;

	while (!c.failed && pay(r->unit)) {
		need_entry(r->unit->file, &c, &until);
		start = end = 0;
		switch (cursor_u8(&c)) {
		case DW_RLE_base_addressx:
			base = indexed(r, &c);
			continue;
		case DW_RLE_base_address:
			base = form_number(&c, size);
			continue;
		case DW_RLE_startx_endx:
			start = indexed(r, &c);
			end = indexed(r, &c);
			break;
		case DW_RLE_startx_length:
			start = indexed(r, &c);
			end = start + cursor_uleb(&c);
			break;
		case DW_RLE_offset_pair:
			start = base + cursor_uleb(&c);
			end = base + cursor_uleb(&c);
			if (base >= UINT64_MAX - 1)	/* the base was dropped */
				continue;
			break;
		case DW_RLE_start_end:
			start = form_number(&c, size);
			end = form_number(&c, size);
			break;
		case DW_RLE_start_length:
			start = form_number(&c, size);
			end = start + cursor_uleb(&c);
			break;
		case DW_RLE_end_of_list:
			if (!c.failed)
				return;
			break;
		default:
			cursor_fail(&c);
		}
		if (!c.failed)
			add(r, start, end);
	}
	/* If an address is missing, .debug_addr is damaged, and more bytes are left here. */
	if (c.failed && cursor_left(&c) == 0)
		dwarf_damaged(r->unit->file, S_RNGLISTS, offset);
}

/* Store the offset of list INDEX.  The table of offsets is at the base; offsets start there. */
static bool list_offset(const struct unit *u, uint64_t index, uint64_t *offset)
{
	uint64_t at = u->rnglists_base + index * u->offset_size;
	struct cursor c = { .failed = true };

	if (index <= u->file->section[S_RNGLISTS].size)
		c = section_cursor(u->file, S_RNGLISTS, at);
	dwarf_need(u->file, &c, u->offset_size);
	*offset = u->rnglists_base + form_number(&c, u->offset_size);
	if (c.failed)
		dwarf_damaged(u->file, S_RNGLISTS, at);
	return !c.failed;
}

void ranges_add(struct unit *u, const struct value *low_pc, const struct value *high_pc,
		const struct value *ranges, struct spans *out, uint32_t value)
{
	struct range_reader r = { u, u->skeleton ? u->skeleton : u, out, value };
	uint64_t start, end, offset;

	if (ranges) {
		offset = ranges->number;
		if (ranges->kind == V_LIST_INDEX && !list_offset(u, ranges->number, &offset))
			return;
		if (u->version >= 5)
			read_rnglists(&r, offset);
		else
			read_ranges(&r, offset + (u->skeleton ? u->skeleton->gnu_ranges_base : 0));
		return;
	}
	if (!low_pc || !high_pc || !form_address(u, low_pc, &start) || !pay(u))
		return;
	if (high_pc->kind == V_CONSTANT)
		end = start + high_pc->number;
	else if (!form_address(u, high_pc, &end))
		return;
	add(&r, start, end);
}

void die_ranges(struct unit *u, const struct die *die, struct spans *out, uint32_t value)
{
	ranges_add(u, die_has(die, A_LOW_PC) ? &die->value[A_LOW_PC] : NULL,
		   die_has(die, A_HIGH_PC) ? &die->value[A_HIGH_PC] : NULL,
		   die_has(die, A_RANGES) ? &die->value[A_RANGES] : NULL, out, value);
}
