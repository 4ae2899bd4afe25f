/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run the instructions of an FDE: the machine of DWARF 5, section 6.4.2, with GNU's and Arm's
 * extensions.  The instructions build rows by ascending address; the run stops at the end of
 * the row that contains the address wanted.
 */
#include "cfi/cfi-internal.h"
#include "dwarf/constants.h"

enum {
	DEPTH_MAX = 64,		/* remembered states */
	EXPRESSION_BYTES = 32,	/* memory for an expression */
};

struct run {
	struct cfi *cfi;
	const struct fde *fde;
	const struct cfi_section *section;
	uint64_t wanted;	/* address */
	struct extent row;	/* addresses of the row; END is known only if IS_DONE */
	uint64_t steps, steps_max;	/* so far, and at most */
	bool is_done;		/* STATE is the row wanted */
	bool is_damaged;
	enum cfi_limit limit;	/* the limit that it exceeds, if it is called damaged for that */
	bool is_initial;	/* the instructions are those of the CIE */
	struct cursor at;	/* the next instruction */
	struct cfi_state state;
	struct cfi_state initial;	/* after the CIE's instructions */
	unsigned depth;		/* number of elements of SAVED in use */
	struct cfi_state saved[DEPTH_MAX];
};

/* Rules of registers that are not tracked, such as vector registers, are dropped. */
static void set_rule(struct run *r, uint64_t reg, enum cfi_kind kind, int32_t value)
{
	if (reg < CFI_REGISTERS)
		r->state.rule[reg] = (struct cfi_rule){ (uint8_t)kind, value };
}

/* Return OFFSET * FACTOR.  No real frame has 2 GiB. */
static int32_t multiply(struct run *r, int64_t offset, int64_t factor)
{
	int64_t product;

	if (!__builtin_mul_overflow(offset, factor, &product) && product == (int32_t)product)
		return (int32_t)product;
	r->is_damaged = true;
	return 0;
}

static int32_t unsigned_offset(struct run *r)
{
	return multiply(r, (int64_t)cursor_uleb(&r->at), r->fde->cie.data_factor);
}

static int32_t signed_offset(struct run *r)
{
	return multiply(r, cursor_sleb(&r->at), r->fde->cie.data_factor);
}

static void go_to(struct run *r, uint64_t location)
{
	if (location < r->row.start || r->is_initial) {
		r->is_damaged = true;
	} else if (location > r->wanted) {
		r->row.end = location;
		r->is_done = true;
	} else {
		r->row.start = location;
	}
}

static void advance(struct run *r, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, r->fde->cie.code_factor, &bytes) ||
	    bytes > UINT64_MAX - r->row.start)
		r->is_damaged = true;
	else
		go_to(r, r->row.start + bytes);
}

/* Read an expression and return its id. */
static int32_t expression(struct run *r)
{
	uint64_t size = cursor_uleb(&r->at);
	const uint8_t *bytes = cursor_bytes(&r->at, size);
	uint32_t before = r->cfi->expressions;
	int32_t id = bytes ? expression_add(r->cfi, bytes, size) : -1;

	r->steps += bytes ? size / 8 : 0;
	r->steps += (r->cfi->expressions - before) * EXPRESSION_BYTES;
	r->is_damaged |= id < 0;
	if (bytes && id < 0)
		r->limit = CFI_LIMIT_EXPRESSIONS;
	return id;
}

/* Set the CFA's register. */
static void set_cfa(struct run *r, uint64_t reg)
{
	r->is_damaged |= reg >= CFI_REGISTERS;
	r->state.cfa_kind = CFI_OFFSET;
	r->state.cfa_reg = (uint8_t)reg;
}

static void restore(struct run *r, uint64_t reg)
{
	if (reg < CFI_REGISTERS)
		r->state.rule[reg] = r->initial.rule[reg];
}

static void remember_or_restore(struct run *r, bool remember)
{
	if (remember && r->depth < DEPTH_MAX)
		r->saved[r->depth++] = r->state;
	else if (!remember && r->depth > 0)
		r->state = r->saved[--r->depth];
	else
		r->is_damaged = true;
	if (remember && r->is_damaged)
		r->limit = CFI_LIMIT_DEPTH;
}

/* A rule "it is in register VALUE".  The value of a register that is not tracked is lost. */
static void set_register(struct run *r, uint64_t reg, uint64_t value)
{
	set_rule(r, reg, value < CFI_REGISTERS ? CFI_REGISTER : CFI_UNDEFINED,
		 value < CFI_REGISTERS ? (int32_t)value : 0);
}

/* Do an instruction that sets the CFA.  Return false if OP does not. */
static bool step_cfa(struct run *r, uint8_t op)
{
	struct cursor *c = &r->at;

	switch (op) {
	case DW_CFA_def_cfa:
		set_cfa(r, cursor_uleb(c));
		r->state.cfa_offset = multiply(r, (int64_t)cursor_uleb(c), 1);
		return true;
	case DW_CFA_def_cfa_sf:
		set_cfa(r, cursor_uleb(c));
		r->state.cfa_offset = signed_offset(r);
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(r, cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_offset:
		r->state.cfa_offset = multiply(r, (int64_t)cursor_uleb(c), 1);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		r->state.cfa_offset = signed_offset(r);
		return true;
	case DW_CFA_def_cfa_expression:
		r->state.cfa_kind = CFI_VALUE_EXPRESSION;
		r->state.cfa_expression = expression(r);
		return true;
	default:
		return false;
	}
}

/* Do an instruction that sets the rule of the register that follows.  Return false if not. */
static bool step_rule(struct run *r, uint8_t op)
{
	struct cursor *c = &r->at;
	uint64_t reg;

	if (op < DW_CFA_offset_extended || (op > DW_CFA_register && op < DW_CFA_expression) ||
	    (op > DW_CFA_val_expression && op != DW_CFA_GNU_negative_offset_extended))
		return false;
	reg = cursor_uleb(c);
	switch (op) {
	case DW_CFA_offset_extended:
		set_rule(r, reg, CFI_OFFSET, unsigned_offset(r));
		return true;
	case DW_CFA_offset_extended_sf:
		set_rule(r, reg, CFI_OFFSET, signed_offset(r));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_rule(r, reg, CFI_OFFSET, multiply(r, -1, unsigned_offset(r)));
		return true;
	case DW_CFA_val_offset:
		set_rule(r, reg, CFI_VALUE_OFFSET, unsigned_offset(r));
		return true;
	case DW_CFA_val_offset_sf:
		set_rule(r, reg, CFI_VALUE_OFFSET, signed_offset(r));
		return true;
	case DW_CFA_restore_extended:
		restore(r, reg);
		return true;
	case DW_CFA_undefined:
		set_rule(r, reg, CFI_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(r, reg, CFI_SAME, 0);
		return true;
	case DW_CFA_register:
		set_register(r, reg, cursor_uleb(c));
		return true;
	case DW_CFA_expression:
		set_rule(r, reg, CFI_EXPRESSION, expression(r));
		return true;
	case DW_CFA_val_expression:
		set_rule(r, reg, CFI_VALUE_EXPRESSION, expression(r));
		return true;
	default:	/* those of the CFA */
		return false;
	}
}

/* Do the instruction OP, whose operands follow. */
static void step(struct run *r, uint8_t op)
{
	struct cursor *c = &r->at;
	const struct cie *cie = &r->fde->cie;

	switch (op & 0xc0) {	/* the most frequent ones have an operand in the other bits */
	case DW_CFA_advance_loc:
		advance(r, op & 0x3f);
		return;
	case DW_CFA_offset:
		set_rule(r, op & 0x3f, CFI_OFFSET, unsigned_offset(r));
		return;
	case DW_CFA_restore:
		restore(r, op & 0x3f);
		return;
	}
	if (step_cfa(r, op) || step_rule(r, op))
		return;
	switch (op) {
	case DW_CFA_nop:
		return;
	case DW_CFA_set_loc:
		go_to(r, cfi_section_pointer(r->section, c, cie->encoding, cie->address_size));
		return;
	case DW_CFA_advance_loc1:
		advance(r, cursor_u8(c));
		return;
	case DW_CFA_advance_loc2:
		advance(r, cursor_u16(c));
		return;
	case DW_CFA_advance_loc4:
		advance(r, cursor_u32(c));
		return;
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		remember_or_restore(r, op == DW_CFA_remember_state);
		return;
	case DW_CFA_AARCH64_negate_ra_state:
	case DW_CFA_AARCH64_negate_ra_state_with_pc:
		r->state.signs_return = !r->state.signs_return;
		return;
	case DW_CFA_GNU_args_size:	/* only landing pads need it */
		cursor_uleb(c);
		return;
	default:
		r->is_damaged = true;
	}
}

/* Continue at POINT, unless it is not in the program that R is about to run. */
static void start_at(struct run *r, const struct kept_point *point)
{
	if (!point || point->at < r->at.at || point->at > r->at.end)
		return;
	r->at.at = point->at;
	r->row.start = r->is_initial ? r->row.start : point->start;
	r->depth = point->depth;
	for (unsigned i = 0; i < r->depth; i++)
		kept_read(point->state[i], &r->saved[i]);
	kept_read(point->state[r->depth], &r->state);
}

/*
 * Keep the current state of the program P.  Return the step after which to keep the next: large
 * states are kept less often, so that all take at most four bytes for a step.
 */
static uint64_t keep(struct run *r, struct kept_program *p)
{
	uint64_t bytes = 0;

	if (!r->is_done && !r->is_damaged)
		bytes = kept_add(r->cfi, p, r->is_initial ? 0 : r->row.start, r->at.at, r->saved,
				 r->depth, &r->state);
	r->steps += bytes;
	return r->steps + KEPT_STEPS + bytes / 4;
}

/* Run PROGRAM, of the entry at OFFSET. */
static void run_program(struct run *r, struct cursor program, uint64_t offset)
{
	bool is_long = cursor_left(&program) > KEPT_LEAST;
	struct kept_program *kept = is_long ? kept_find(r->cfi, r->section, offset) : NULL;
	uint64_t due = r->steps + KEPT_STEPS;

	r->at = program;
	if (kept)
		start_at(r, kept_before(kept, r->is_initial ? 0 : r->wanted));
	while (!r->is_done && !r->is_damaged && cursor_left(&r->at) > 0 &&
	       r->steps < r->steps_max) {
		step(r, cursor_u8(&r->at));
		r->is_damaged |= r->at.failed;
		if (++r->steps >= due && kept)
			due = keep(r, kept);
	}
	if (kept && (r->is_initial || r->steps >= r->steps_max))
		keep(r, kept);
}

static void store_row(const struct run *r, struct cfi_row *row)
{
	const struct cfi_state *s = &r->state;

	*row = (struct cfi_row){
		.is_signal = r->fde->cie.is_signal, .signs_return = s->signs_return,
		.ra_reg = r->fde->cie.ra_reg, .cfa_kind = s->cfa_kind,
		.cfa_reg = s->cfa_kind == CFI_OFFSET ? s->cfa_reg : 0,
		.cfa_value = s->cfa_kind == CFI_OFFSET ? s->cfa_offset
			: s->cfa_kind == CFI_VALUE_EXPRESSION ? s->cfa_expression : 0,
	};
	for (uint8_t i = 0; i < CFI_REGISTERS; i++)
		if (s->rule[i].kind != CFI_SAME)
			row->save[row->saves++] = (struct cfi_save){
				.reg = i, .kind = s->rule[i].kind, .value = s->rule[i].value,
			};
}

enum cfi_result cfi_run(struct cfi *c, const struct cfi_section *s, const struct fde *fde,
			uint64_t address, struct cfi_row *row, struct extent *same,
			uint64_t *steps, enum cfi_limit *limit)
{
	struct run r;

	r.cfi = c;
	r.fde = fde;
	r.section = s;
	r.wanted = address;
	r.row = (struct extent){ fde->start, fde->end };
	r.steps_max = *steps;
	r.steps = r.depth = 0;
	r.is_done = r.is_damaged = false;
	r.limit = CFI_NO_LIMIT;
	r.state = (struct cfi_state){ .cfa_kind = CFI_UNDEFINED };
	r.initial = r.state;
	r.is_initial = true;
	run_program(&r, fde->cie.program, fde->cie.offset);
	r.initial = r.state;
	r.is_initial = false;
	bool is_ready = cursor_left(&r.at) == 0;
	if (is_ready)
		run_program(&r, fde->program, fde->offset);
	*steps = r.steps;
	*limit = r.limit;
	if (r.is_damaged)
		return CFI_DAMAGED;
	if (!is_ready || (!r.is_done && cursor_left(&r.at) > 0))
		return CFI_LATER;
	extent_narrow(same, r.row.start, r.row.end);
	store_row(&r, row);
	return CFI_FOUND;
}
