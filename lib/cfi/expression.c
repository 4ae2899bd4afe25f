/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluate the expressions of call frame information: a stack machine (DWARF 5, section 2.5).
 * All operations are known but those that need debug information entries, or that make no
 * sense for a frame (section 6.4.2): types, calls, pieces, locations, thread-local storage.
 */
#include "base/arena.h"
#include "cfi/cfi-internal.h"
#include "dwarf/constants.h"

enum {
	EXPRESSIONS_MAX = 1 << 20,	/* ids of an object; LLVM's library has a hundred */
	SIZE_MAX_BYTES = 16384,		/* of an expression */
	OPERATIONS_MAX = 1000,		/* that are done */
	STACK_MAX = 64,			/* values on the stack */
	OPERATION_STEPS = 4,		/* steps of the budget for an operation */
};

/* Return the id of an expression that was added, or -1. */
static int32_t find(const struct cfi *c, const uint8_t *at, uint64_t size, uint64_t hash)
{
	uint32_t id = TABLE_FIND(&c->expression_table, hash, i, c->expression[i].size == size &&
				 !memcmp(c->expression[i].at, at, size));

	return id == TABLE_NONE ? -1 : (int32_t)id;
}

int32_t expression_add(struct cfi *c, const uint8_t *at, uint64_t size)
{
	if (size > SIZE_MAX_BYTES)
		return -1;
	uint64_t hash = hash_bytes(at, size);
	int32_t found = find(c, at, size, hash);
	if (found >= 0 || c->expressions == EXPRESSIONS_MAX)
		return found;
	c->expression = array_grow(c->expression, c->expressions, sizeof(*c->expression));
	uint32_t id = c->expressions++;
	c->expression[id] = (struct expression){ at, (uint32_t)size };
	table_add(&c->expression_table, hash, id);
	return (int32_t)id;
}

int32_t cfi_add_expression(struct cfi *c, const uint8_t *bytes, size_t size)
{
	int32_t found = find(c, bytes, size, hash_bytes(bytes, size));

	if (found >= 0 || c->expressions == EXPRESSIONS_MAX)
		return found;
	return expression_add(c, arena_copy(&c->arena, bytes, size), size);
}

struct expression_machine {
	const struct cfi_registers *registers;
	const struct cfi_memory *memory;
	const uint64_t *cfa;	/* NULL: not known yet */
	bool swap;		/* the memory has the other byte order */
	bool is_damaged;	/* or something is unknown */
	struct cursor at;	/* next operation */
	const uint8_t *start;	/* first operation */
	unsigned depth;		/* number of values in use */
	uint64_t value[STACK_MAX];
};

static void push(struct expression_machine *m, uint64_t value)
{
	if (m->depth < STACK_MAX)
		m->value[m->depth++] = value;
	else
		m->is_damaged = true;
}

static uint64_t pop(struct expression_machine *m)
{
	if (m->depth > 0)
		return m->value[--m->depth];
	m->is_damaged = true;
	return 0;
}

/* Push a copy of the value that is INDEX below the top. */
static void pick(struct expression_machine *m, uint64_t index)
{
	if (index < m->depth)
		push(m, m->value[m->depth - 1 - index]);
	else
		m->is_damaged = true;
}

/* Move the top below the next COUNT values. */
static void rotate(struct expression_machine *m, unsigned count)
{
	if (count >= m->depth) {
		m->is_damaged = true;
		return;
	}
	uint64_t *top = &m->value[m->depth - 1], last = *top;
	memmove(top - count + 1, top - count, count * sizeof(*top));
	*(top - count) = last;
}

static void push_register(struct expression_machine *m, uint64_t reg, int64_t offset)
{
	if (reg < CFI_REGISTERS && m->registers->known >> reg & 1)
		push(m, m->registers->value[reg] + (uint64_t)offset);
	else
		m->is_damaged = true;
}

/* Take a number of SIZE bytes: 1, 2, 4 or 8. */
static uint64_t take(struct cursor *c, unsigned size)
{
	return size == 1 ? cursor_u8(c) : size == 2 ? cursor_u16(c)
	     : size == 4 ? cursor_u32(c) : cursor_u64(c);
}

/* Replace the address on the stack by the SIZE bytes there. */
static void dereference(struct expression_machine *m, unsigned size)
{
	uint64_t address = pop(m), bytes = 0;
	bool is_size = size == 1 || size == 2 || size == 4 || size == 8;

	if (m->is_damaged || !is_size ||
	    !m->memory->read(m->memory->context, address, &bytes, size)) {
		m->is_damaged = true;
		return;
	}
	struct cursor c = { (uint8_t *)&bytes, (uint8_t *)&bytes + size, m->swap, false };
	push(m, take(&c, size));
}

/* Go on OFFSET bytes after the next operation. */
static void jump(struct expression_machine *m, int16_t offset)
{
	if (offset < m->start - m->at.at || offset > m->at.end - m->at.at)
		m->is_damaged = true;
	else
		m->at.at += offset;
}

/* Do an operation that pushes a constant or a register.  Return false if OP does not. */
static bool step_push(struct expression_machine *m, uint8_t op)
{
	struct cursor *c = &m->at;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(m, op - DW_OP_lit0);
		return true;
	}
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, op - DW_OP_breg0, cursor_sleb(c));
		return true;
	}
	if (op >= DW_OP_const1u && op <= DW_OP_const8s) {	/* const1u, const1s, const2u ... */
		unsigned size = 1U << (op - DW_OP_const1u) / 2, above = 64 - 8 * size;
		bool is_signed = (op - DW_OP_const1u) & 1;
		uint64_t value = take(c, size);
		push(m, is_signed ? (uint64_t)((int64_t)(value << above) >> above) : value);
		return true;
	}
	uint64_t reg;
	switch (op) {
	case DW_OP_bregx:
		reg = cursor_uleb(c);
		push_register(m, reg, cursor_sleb(c));
		return true;
	case DW_OP_addr:
		push(m, cursor_u64(c) + m->memory->bias);
		return true;
	case DW_OP_constu:
		push(m, cursor_uleb(c));
		return true;
	case DW_OP_consts:
		push(m, (uint64_t)cursor_sleb(c));
		return true;
	default:
		return false;
	}
}

/* Do an operation on the stack, on memory, or on the order.  Return false if OP is not one. */
static bool step_stack(struct expression_machine *m, uint8_t op)
{
	int16_t offset;

	switch (op) {
	case DW_OP_dup:
		pick(m, 0);
		return true;
	case DW_OP_over:
		pick(m, 1);
		return true;
	case DW_OP_pick:
		pick(m, cursor_u8(&m->at));
		return true;
	case DW_OP_drop:
		pop(m);
		return true;
	case DW_OP_swap:
		rotate(m, 1);
		return true;
	case DW_OP_rot:
		rotate(m, 2);
		return true;
	case DW_OP_deref:
		dereference(m, 8);
		return true;
	case DW_OP_deref_size:
		dereference(m, cursor_u8(&m->at));
		return true;
	case DW_OP_call_frame_cfa:
		push(m, m->cfa ? *m->cfa : 0);
		m->is_damaged |= !m->cfa;
		return true;
	case DW_OP_skip:
		jump(m, (int16_t)cursor_u16(&m->at));
		return true;
	case DW_OP_bra:
		offset = (int16_t)cursor_u16(&m->at);
		if (pop(m))
			jump(m, offset);
		return true;
	case DW_OP_nop:
	case DW_OP_stack_value:	/* it only repeats that the result is a value */
		return true;
	default:
		return false;
	}
}

/* Do an operation that replaces the top.  Return false if OP does not. */
static bool step_unary(struct expression_machine *m, uint8_t op)
{
	uint64_t x;

	switch (op) {
	case DW_OP_abs:
		x = pop(m);
		push(m, (int64_t)x < 0 ? -x : x);
		return true;
	case DW_OP_neg:
		push(m, -pop(m));
		return true;
	case DW_OP_not:
		push(m, ~pop(m));
		return true;
	case DW_OP_plus_uconst:
		x = pop(m);
		push(m, x + cursor_uleb(&m->at));
		return true;
	default:
		return false;
	}
}

static uint64_t divide(struct expression_machine *m, int64_t x, int64_t y)
{
	m->is_damaged |= y == 0;
	return y == 0 ? 0 : y == -1 ? -(uint64_t)x : (uint64_t)(x / y);
}

static uint64_t modulo(struct expression_machine *m, uint64_t x, uint64_t y)
{
	m->is_damaged |= y == 0;
	return y == 0 ? 0 : x % y;
}

/* Return X OP Y.  An unknown operation is damage. */
static uint64_t binary(struct expression_machine *m, uint8_t op, uint64_t x, uint64_t y)
{
	int64_t a = (int64_t)x, b = (int64_t)y;

	switch (op) {
	case DW_OP_and: return x & y;
	case DW_OP_or: return x | y;
	case DW_OP_xor: return x ^ y;
	case DW_OP_plus: return x + y;
	case DW_OP_minus: return x - y;
	case DW_OP_mul: return x * y;
	case DW_OP_div: return divide(m, a, b);
	case DW_OP_mod: return modulo(m, x, y);
	case DW_OP_shl: return y < 64 ? x << y : 0;
	case DW_OP_shr: return y < 64 ? x >> y : 0;
	case DW_OP_shra: return (uint64_t)(a >> (y < 64 ? y : 63));
	case DW_OP_eq: return a == b;
	case DW_OP_ne: return a != b;
	case DW_OP_ge: return a >= b;
	case DW_OP_gt: return a > b;
	case DW_OP_le: return a <= b;
	case DW_OP_lt: return a < b;
	default:
		m->is_damaged = true;
		return 0;
	}
}

bool cfi_evaluate(const struct cfi *c, int32_t expression, const struct cfi_registers *registers,
		  const struct cfi_memory *memory, const uint64_t *cfa, uint64_t *value)
{
	const struct expression *e = &c->expression[expression];
	struct expression_machine m;

	m.registers = registers;
	m.memory = memory;
	m.cfa = cfa;
	m.swap = elf_is_swapped(c->elf);
	m.is_damaged = false;
	m.at = elf_cursor(c->elf, (struct elf_bytes){ e->at, e->size });
	m.start = e->at;
	m.depth = 0;
	if (cfa)
		push(&m, *cfa);
	for (int left = OPERATIONS_MAX; cursor_left(&m.at) > 0; left--) {
		uint8_t op = cursor_u8(&m.at);
		if (c->budget->left < OPERATION_STEPS)
			return false;
		c->budget->left -= OPERATION_STEPS;
		if (!step_push(&m, op) && !step_stack(&m, op) && !step_unary(&m, op)) {
			uint64_t y = pop(&m), x = pop(&m);
			push(&m, binary(&m, op, x, y));
		}
		if (m.is_damaged || m.at.failed || left == 0)
			return false;
	}
	*value = pop(&m);
	return !m.is_damaged;
}
