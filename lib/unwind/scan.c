/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/scan.h"
#include "base/arena.h"
#include "dwarf/constants.h"
#include "elf/section.h"
#include "unwind/scan-state.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	PENDING = 256,		/* ways that are not followed yet */
	DEAD_ENDS = 32,		/* calls that do not return */
	ALIGNMENT = 16,		/* of most functions */
	SEEN = 1 << 14,		/* slots of the table of addresses; a power of two */
	STEPS = SEEN / 2,	/* instructions of a scan */
};

/* An address that a scan has reached, and what the stack pointer was there. */
struct seen {
	uint64_t at;
	uint32_t scan;
	bool is_after_call;	/* reached from the call before it */
	struct scan_value sp;
};

struct code_scan {
	const struct machine *machine;
	struct elf *elf;
	struct elf_bytes code;	/* from the address CODE_AT on */
	uint64_t code_at;
	const struct starts *starts;
	uint64_t *fuel;
	struct state pending[PENDING];
	unsigned pendings;
	struct seen seen[SEEN];
	uint32_t scans;		/* number of the current scan */
	unsigned steps;
	bool has_failed;	/* two ways contradict each other, or there are too many */
	uint64_t dead_end[DEAD_ENDS];	/* addresses after calls that do not return */
	unsigned dead_ends;
	bool has_dead_end;	/* one was found */
	uint64_t goal;		/* address where the scan ends; 0: at returns */
	bool is_found;
	struct state end;	/* at the goal, or at the first return */
};

struct code_scan *scan_new(void)
{
	return mem_zeroed(1, sizeof(struct code_scan));
}

void scan_free(struct code_scan *s)
{
	free(s);
}

/* Read the instruction at AT. */
static bool fetch(struct code_scan *s, uint64_t at, struct opcode *i)
{
	if (at < s->code_at || at - s->code_at >= s->code.size) {
		s->code = elf_constant_at(s->elf, at);
		s->code_at = at;
	}
	uint64_t offset = at - s->code_at;
	if (offset >= s->code.size ||
	    !instruction_read(s->machine, s->code.at + offset, s->code.size - offset, at, i))
		return false;
	if (*s->fuel < i->size)
		return false;
	*s->fuel -= i->size;
	return true;
}

/*
 * Two ways come to the same address with different stack pointers.  If one of them comes from the
 * call before that address, that call does not return.  Else the code is not understood.
 */
static void contradict(struct code_scan *s, const struct seen *seen, const struct state *state)
{
	if (state->is_after_call)
		return;
	if (!seen->is_after_call || s->dead_ends == DEAD_ENDS) {
		s->has_failed = true;
		return;
	}
	s->dead_end[s->dead_ends++] = seen->at;
	s->has_dead_end = true;
}

/* Return whether the scan comes to the address of STATE for the first time. */
static bool is_new(struct code_scan *s, const struct state *state)
{
	uint64_t slot = state->at * 0x9e3779b97f4a7c15ULL >> 50;
	struct scan_value sp = state->reg[RSP];

	for (;; slot++) {
		struct seen *seen = &s->seen[slot & (SEEN - 1)];
		if (seen->scan != s->scans) {
			*seen = (struct seen){ state->at, s->scans, state->is_after_call, sp };
			return true;
		}
		if (seen->at == state->at) {
			if (!scan_equal(seen->sp, sp))
				contradict(s, seen, state);
			return false;
		}
	}
}

/* Follow the way that starts with STATE later. */
static void postpone(struct code_scan *s, const struct state *state, uint64_t at)
{
	if (s->pendings == PENDING) {
		s->has_failed = true;
		return;
	}
	struct state *later = &s->pending[s->pendings++];
	*later = *state;
	later->at = at;
	later->is_after_call = false;
}

/* Keep of END what is true of both. */
static void meet(struct state *end, const struct state *other)
{
	for (unsigned r = 0; r < REGISTERS; r++)
		if (!scan_equal(end->reg[r], other->reg[r]))
			end->reg[r] = (struct scan_value){ 0 };
}

/* A way ends at a return. */
static void end_way(struct code_scan *s, const struct state *state)
{
	if (s->goal)
		return;
	s->has_failed |= s->is_found && !scan_equal(s->end.reg[RSP], state->reg[RSP]);
	if (!s->is_found)
		s->end = *state;
	else
		meet(&s->end, state);
	s->is_found = true;
}

/* Return whether the bytes at AT look like those that fill the space between functions. */
static bool is_padding(const struct code_scan *s, uint64_t at)
{
	struct elf_bytes b = elf_constant_at(s->elf, at);

	if (b.size < 2)
		return true;
	return b.at[0] == 0xcc || b.at[0] == 0x90 || (b.at[0] == 0x0f && b.at[1] == 0x1f) ||
	       (b.at[0] == 0x66 && (b.at[1] == 0x90 || b.at[1] == 0x0f || b.at[1] == 0x2e ||
				    b.at[1] == 0x66));
}

/* Return whether another function starts at AT, as it seems, or after some padding. */
static bool is_boundary(const struct code_scan *s, uint64_t at)
{
	return starts_before(s->starts, at) == at || (at % ALIGNMENT && is_padding(s, at));
}

/* Return whether the function at ADDRESS, or of this entry of the PLT, never returns. */
static bool never_returns(const struct code_scan *s, uint64_t address)
{
	static const char *const name[] = {
		"abort", "exit", "_exit", "_Exit", "quick_exit", "__assert_fail", "__assert",
		"__stack_chk_fail", "__chk_fail", "__fortify_fail", "longjmp", "_longjmp",
		"siglongjmp", "__longjmp_chk", "pthread_exit", "_Unwind_Resume", "__cxa_throw",
		"__cxa_rethrow", "__cxa_bad_cast",
	};
	struct elf_symbol symbol;

	if (!elf_symbol(s->elf, address, &symbol) || symbol.address != address)
		return false;
	size_t size = strcspn(symbol.name, "@");
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (strlen(name[i]) == size && !memcmp(symbol.name, name[i], size))
			return true;
	return false;
}

/* Return whether call I, which is before AT, does not return, as it seems. */
static bool is_dead_end(const struct code_scan *s, const struct opcode *i, uint64_t at)
{
	for (unsigned n = 0; n < s->dead_ends; n++)
		if (s->dead_end[n] == at)
			return true;
	/* From the function's start on, the other scan finds such a mistake. */
	return is_boundary(s, at) || (at % ALIGNMENT == 0 && !s->goal) ||
	       (i->kind == INSTRUCTION_CALL && never_returns(s, i->target));
}

/* Do instruction I of STATE, and go on.  Return false if the way ends. */
static bool go_on(struct code_scan *s, struct state *state, const struct opcode *i)
{
	uint64_t next = state->at + i->size;

	switch (i->kind) {
	case INSTRUCTION_RETURN:
		if (i->value == 0)
			end_way(s, state);
		return false;
	case INSTRUCTION_JUMP_INDIRECT:
		if (i->target)	/* another function's */
			end_way(s, state);
		return false;
	case INSTRUCTION_TRAP:
		return false;
	case INSTRUCTION_JUMP:
		state->at = i->target;
		state->is_after_call = false;
		return true;
	case INSTRUCTION_BRANCH:
		postpone(s, state, i->target);
		break;
	case INSTRUCTION_CALL:
		if (i->target == next)	/* it only wants to know its address */
			scan_push(state, (struct scan_value){ 0 });
		/* fallthrough */
	default:
		scan_execute(state, i);
	}
	state->at = next;
	state->is_after_call = i->kind == INSTRUCTION_CALL || i->kind == INSTRUCTION_CALL_INDIRECT;
	return !state->is_after_call || !is_dead_end(s, i, next);
}

/* Follow one way, up to an instruction that was seen. */
static void follow_way(struct code_scan *s, struct state *state)
{
	struct opcode i;

	do {
		if (!is_new(s, state))
			return;
		if (s->steps++ == STEPS)
			s->has_failed = true;
		if (s->has_failed || !fetch(s, state->at, &i))
			return;
		if (s->goal && s->goal - state->at < i.size) {
			s->end = *state;
			s->is_found = true;
		}
	} while (go_on(s, state, &i));
}

/* Follow the code from STATE on, along all ways. */
static void follow(struct code_scan *s, const struct state *first)
{
	s->dead_ends = 0;
	do {
		s->scans++;
		s->steps = s->pendings = 0;
		s->is_found = s->has_failed = s->has_dead_end = false;
		postpone(s, first, first->at);
		while (s->pendings > 0 && !s->has_failed && !s->has_dead_end) {
			struct state state = s->pending[--s->pendings];
			follow_way(s, &state);
		}
	} while (s->has_dead_end && !s->has_failed);
}

/*
 * Follow the code from ADDRESS on to GOAL; 0: to returns.  The registers in the mask LOST are not
 * known.
 */
static bool follow_from(struct code_scan *s, uint64_t address, uint64_t goal, uint64_t lost)
{
	struct state first = { .at = address };

	for (unsigned r = 0; r < REGISTERS; r++)
		first.reg[r] = scan_sum(r, 0);
	scan_forget(&first, lost);
	s->goal = goal;
	follow(s, &first);
	return s->is_found && !s->has_failed;
}

/* Return V, of a scan that started in STATE, in terms of STATE's start. */
static struct scan_value substitute(const struct state *state, struct scan_value v)
{
	struct scan_value place;

	if (v.kind == UNKNOWN || v.base >= REGISTERS)
		return (struct scan_value){ 0 };
	place = scan_add(state->reg[v.base], v.offset);
	return v.kind == SUM ? place : scan_add(scan_load(state, place), v.more);
}

static void add_save(struct cfi_row *row, unsigned reg, unsigned kind, int32_t value)
{
	row->save[row->saves++] = (struct cfi_save){ .reg = (uint8_t)reg, .kind = (uint8_t)kind,
						     .value = value };
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
		add_save(row, reg, CFI_OFFSET, place.offset - row->cfa_value);
		return;
	}
	id = place.base < REGISTERS ? add_expression(c, place.base, place.offset, false, 0) : -1;
	add_save(row, reg, id < 0 ? CFI_UNDEFINED : CFI_EXPRESSION, id < 0 ? 0 : id);
}

/* Make ROW of END, the state at the function's return, from the row's address on. */
static bool make_from_return(struct cfi *c, const struct state *end, struct cfi_row *row)
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
			add_save(row, r, CFI_REGISTER, v.base);
		else
			add_save(row, r, CFI_UNDEFINED, 0);
	}
	add_save(row, RIP, CFI_OFFSET, -WORD);
	return true;
}

/*
 * Return what BASE + OFFSET, in terms of the start of the scan that ended with END, is in terms of
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
			add_save(row, reg, CFI_OFFSET, slot->offset - WORD);
		else if (place.kind == SUM)
			save_at(c, place, reg, row);
		else
			continue;
		return;
	}
	add_save(row, reg, CFI_UNDEFINED, 0);
}

/* Make ROW of END, the state at the row's address, from the function's start on. */
static bool make_from_start(struct cfi *c, const struct state *end, struct cfi_row *row)
{
	if (!set_cfa(c, turn(end, RSP, WORD), row))
		return false;
	for (unsigned r = 0; r < REGISTERS; r++)
		if (KEPT >> r & 1 && !scan_equal(end->reg[r], scan_sum(r, 0)))
			add_kept(c, end, r, row);
	add_save(row, RIP, CFI_OFFSET, -WORD);
	return true;
}

/* Follow the code from one of the STARTS at OWN. */
static bool follow_from_start(struct code_scan *s, const struct scan_place *p)
{
	enum { TRIES = 3 };
	uint64_t at = p->own, symbol = p->symbol;

	for (int i = 0; i < TRIES; i++) {
		uint64_t start = starts_before(p->starts, at);
		if (symbol > start && symbol <= at)
			start = symbol;
		if (!start)
			return false;
		if (follow_from(s, start, p->own, 0))
			return true;
		at = start - 1;
	}
	return false;
}

/*
 * Follow the code from P to the function's return.  A call that does not return may be the last
 * thing in a function: then the next function would follow, at its start.
 */
static bool follow_to_return(struct code_scan *s, const struct scan_place *p)
{
	if (p->is_exact)
		return follow_from(s, p->own, 0, 0);
	return !is_boundary(s, p->own + 1) && follow_from(s, p->own + 1, 0, SCRATCH) &&
	       !scan_equal(s->end.reg[RSP], scan_sum(RSP, 0));
}

bool scan_row(struct code_scan *s, const struct scan_place *p, struct cfi *c, struct cfi_row *row)
{
	if (p->machine->elf != EM_X86_64)
		return false;
	s->machine = p->machine;
	s->elf = p->elf;
	s->fuel = p->fuel;
	s->starts = p->starts;
	s->code.size = 0;
	bool by_start = follow_from_start(s, p);
	struct state at = s->end;
	bool by_return = follow_to_return(s, p);
	if (!by_start || !make_from_start(c, &at, row))
		return by_return && make_from_return(c, &s->end, row);
	struct scan_value sp = substitute(&at, s->end.reg[RSP]);
	return !by_return || sp.kind == UNKNOWN || scan_equal(sp, scan_sum(RSP, 0));
}
