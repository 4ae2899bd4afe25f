/* SPDX-License-Identifier: Apache-2.0 */
/* Makes rows of call frame information from the states at the ends of scans. */
#include "code/scan-state.h"
#include "dwarf/constants.h"

/* Return V, of a scan that started in STATE, in terms of STATE's start. */
static struct scan_value substitute(const struct state *state, struct scan_value v)
{
	struct scan_value place;

	if (v.kind == UNKNOWN || v.base >= REGISTERS)
		return (struct scan_value){ 0 };
	place = scan_add(state->reg[v.base], v.offset);
	return v.kind == SUM ? place : scan_add(scan_load(state, place), v.more);
}

/* Append VALUE, of four bytes. */
static uint8_t *add_number(uint8_t *at, int32_t value)
{
	*at++ = DW_OP_const4s;
	for (int i = 0; i < 4; i++)
		*at++ = (uint8_t)((uint32_t)value >> 8 * i);
	return at;
}

/* Add the expression of the address REG + OFFSET; IS_LOADED: of the word there, plus MORE. */
static int32_t add_expression(struct cfi *c, unsigned reg, int32_t offset, bool is_loaded,
			      int32_t more)
{
	uint8_t bytes[32], *at = bytes;

	*at++ = (uint8_t)(DW_OP_breg0 + reg);
	*at++ = 0;
	at = add_number(at, offset);
	*at++ = DW_OP_plus;
	if (is_loaded) {
		*at++ = DW_OP_deref;
		at = add_number(at, more);
		*at++ = DW_OP_plus;
	}
	return cfi_add_expression(c, bytes, (size_t)(at - bytes));
}

/* Set the CFA of ROW to V, which is in terms of registers at the row's address. */
static bool set_cfa(struct cfi *c, struct scan_value v, struct cfi_row *row)
{
	*row = (struct cfi_row){ .ra_reg = RIP };
	if (v.kind == UNKNOWN || v.base >= REGISTERS)
		return false;
	row->cfa_kind = v.kind == SUM ? CFI_OFFSET : CFI_VALUE_EXPRESSION;
	row->cfa_reg = v.kind == SUM ? v.base : 0;
	row->cfa_value = v.kind == SUM ? v.offset
				       : add_expression(c, v.base, v.offset, true, v.more);
	return v.kind == SUM || row->cfa_value >= 0;
}

/* Add to ROW that register REG has its caller's value in the word at PLACE. */
static void save_at(struct cfi *c, struct scan_value place, unsigned reg, struct cfi_row *row)
{
	int32_t id;

	if (row->cfa_kind == CFI_OFFSET && place.base == row->cfa_reg) {
		cfi_row_save(row, reg, CFI_OFFSET, place.offset - row->cfa_value);
		return;
	}
	id = place.base < REGISTERS ? add_expression(c, place.base, place.offset, false, 0) : -1;
	cfi_row_save(row, reg, id < 0 ? CFI_UNDEFINED : CFI_EXPRESSION, id < 0 ? 0 : id);
}

bool scan_row_from_return(struct cfi *c, const struct state *end, struct cfi_row *row)
{
	struct scan_value sp = end->reg[RSP];
	bool is_popped = sp.kind == SUM && sp.base == RSP && sp.offset < 0;

	if (is_popped || !set_cfa(c, scan_add(sp, WORD), row))
		return false;
	for (unsigned r = 0; r < REGISTERS; r++) {
		struct scan_value v = end->reg[r];
		if (!(KEPT >> r & 1) || (v.kind == SUM && v.base == r && v.offset == 0))
			continue;
		if (v.kind == LOADED && v.more == 0)
			save_at(c, scan_sum(v.base, v.offset), r, row);
		else if (v.kind == SUM && v.base < REGISTERS && v.offset == 0)
			cfi_row_save(row, r, CFI_REGISTER, v.base);
		else
			cfi_row_save(row, r, CFI_UNDEFINED, 0);
	}
	cfi_row_save(row, RIP, CFI_OFFSET, -WORD);
	return true;
}

/*
 * BASE + OFFSET is in terms of the start of the scan that ended with END.  Return it in terms of
 * registers at its end.
 */
static struct scan_value turn(const struct state *end, unsigned base, int32_t offset)
{
	static const uint8_t order[] = {
		RSP, RBP, RBX, 12, 13, 14, 15, 0, 1, 2, 4, 5, 8, 9, 10, 11,
	};
	struct scan_value sp = end->reg[RSP];

	for (unsigned i = 0; i < sizeof(order); i++) {
		struct scan_value v = end->reg[order[i]];
		if (v.kind == SUM && v.base == base)
			return scan_sum(order[i], (int64_t)offset - v.offset);
	}
	/* A word of the aligned frame may have it. */
	for (unsigned i = 0; i < end->slots && sp.kind == SUM; i++) {
		const struct scan_slot *slot = &end->slot[i];
		if (slot->base == sp.base && slot->value.kind == SUM && slot->value.base == base &&
		    (int64_t)slot->offset >= sp.offset)
			return (struct scan_value){ LOADED, RSP, slot->offset - sp.offset,
					       offset - slot->value.offset };
	}
	return (struct scan_value){ 0 };
}

/* Add to ROW where register REG has its caller's value, by END. */
static void add_kept(struct cfi *c, const struct state *end, unsigned reg, struct cfi_row *row)
{
	for (unsigned i = 0; i < end->slots; i++) {
		const struct scan_slot *slot = &end->slot[i];
		if (!scan_equal(slot->value, scan_sum(reg, 0)))
			continue;
		struct scan_value place = turn(end, slot->base, slot->offset);
		bool is_plain = slot->base == RSP && row->cfa_kind == CFI_OFFSET;
		if (is_plain)
			cfi_row_save(row, reg, CFI_OFFSET, slot->offset - WORD);
		else if (place.kind == SUM)
			save_at(c, place, reg, row);
		else
			continue;
		return;
	}
	cfi_row_save(row, reg, CFI_UNDEFINED, 0);
}

bool scan_row_from_start(struct cfi *c, const struct state *end, struct cfi_row *row)
{
	if (!set_cfa(c, turn(end, RSP, WORD), row))
		return false;
	for (unsigned r = 0; r < REGISTERS; r++)
		if (KEPT >> r & 1 && !scan_equal(end->reg[r], scan_sum(r, 0)))
			add_kept(c, end, r, row);
	cfi_row_save(row, RIP, CFI_OFFSET, -WORD);
	return true;
}

bool scan_agree(const struct state *start, const struct state *end)
{
	struct scan_value sp = substitute(start, end->reg[RSP]);

	return sp.kind == UNKNOWN || scan_equal(sp, scan_sum(RSP, 0));
}
