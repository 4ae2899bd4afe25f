/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search through the instructions, each of which is visited once.  A call is followed by the
 * next instruction, as if it returned.  The search has a budget, because code may be long.
 */
#include "unwind/code-flow.h"
#include "code/instruction.h"
#include "unwind/code-bytes.h"
#include "unwind/internal.h"

enum {
	STEPS_MAX = 4096,	/* instructions, at most half of FLOW_VISITED */
	WAITING_MAX = 256,	/* addresses where the search continues later */
	INSTRUCTION_MAX = 15,	/* bytes */
	CODE_ALIGNMENT = 16,	/* bytes, of functions and loops */
};

struct way_left {
	uint64_t address;
	struct flow_state state;
};

struct search {
	struct unwind *u;
	const struct walk_process *process;
	const struct machine *machine;
	uint64_t to;
	/* Addresses to go on at: the hard ones from the start, the soft ones from the end. */
	struct way_left waiting[WAITING_MAX];
	uint32_t hard, soft;
	uint32_t steps;
	bool is_open, is_live;
	struct elf_bytes bytes;		/* of the code at ADDRESS */
	uint64_t address;
};

/* Return whether the instruction at ADDRESS is new, and remember it. */
static bool visit(struct search *s, uint64_t address)
{
	struct flow_visited *v = &s->u->visited;
	uint32_t i = (uint32_t)hash_u64(address) & (FLOW_VISITED - 1);

	for (; v->search[i] == v->searches; i = (i + 1) & (FLOW_VISITED - 1))
		if (v->address[i] == address)
			return false;
	v->address[i] = address;
	v->search[i] = v->searches;
	return true;
}

static void add_waiting(struct search *s, uint64_t address, const struct flow_state *state)
{
	if (s->hard + s->soft == WAITING_MAX)
		s->is_open = true;
	else if (state->is_soft)
		s->waiting[WAITING_MAX - ++s->soft] = (struct way_left){ address, *state };
	else
		s->waiting[s->hard++] = (struct way_left){ address, *state };
}

/* Read the instruction at ADDRESS. */
static bool read_at(struct search *s, uint64_t address, struct opcode *i)
{
	uint64_t skip = address - s->address;

	if (s->bytes.size <= skip || s->bytes.size - skip < INSTRUCTION_MAX) {
		s->bytes = code_bytes_at(s->u, s->process, address, &s->is_live);
		s->address = address;
		skip = 0;
	}
	if (!s->bytes.size)
		return false;
	if (instruction_read(s->machine, s->bytes.at + skip, s->bytes.size - skip, address, i))
		return true;
	/* The rest of it may be in the next block. */
	uint8_t joined[2 * INSTRUCTION_MAX];
	size_t size = s->bytes.size - skip;
	if (size >= INSTRUCTION_MAX)
		return false;
	memcpy(joined, s->bytes.at + skip, size);
	struct elf_bytes next = code_bytes_at(s->u, s->process, address + size, &s->is_live);
	if (!next.size)
		return false;
	size_t more = next.size < INSTRUCTION_MAX ? next.size : INSTRUCTION_MAX;
	memcpy(joined + size, next.at, more);
	s->bytes.size = 0;
	return instruction_read(s->machine, joined, size + more, address, i);
}

/* Return whether the instruction at ADDRESS, I, fills space up to the next function or loop. */
static bool is_padding(const struct search *s, uint64_t address, const struct opcode *i)
{
	static const uint8_t arm64_nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
	const uint8_t *at = s->bytes.at + (address - s->address), *end = at + i->size;

	if (i->kind == INSTRUCTION_TRAP)
		return true;
	if (i->kind != INSTRUCTION_OTHER || !s->bytes.size)
		return false;
	if (s->machine->lr != NO_REGISTER)
		return !memcmp(at, arm64_nop, sizeof(arm64_nop));
	while (at < end - 1 && (*at == 0x66 || *at == 0x2e))
		at++;
	return *at == 0x90 || (end - at > 2 && at[0] == 0x0f && at[1] == 0x1f);
}

/*
 * Return whether functions often start with the instruction at ADDRESS, and code after a call
 * rarely does.
 */
static bool is_first(struct search *s, uint64_t address)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct machine *m = s->machine;
	struct opcode i;

	if (!read_at(s, address, &i))
		return false;
	if (i.kind == INSTRUCTION_PUSH && i.reg == m->fp)
		return true;
	if (i.kind == INSTRUCTION_OTHER && i.size == sizeof(endbr64) && s->bytes.size &&
	    !memcmp(s->bytes.at + (address - s->address), endbr64, sizeof(endbr64)))
		return true;
	return address % CODE_ALIGNMENT == 0 &&
	       (i.kind == INSTRUCTION_PUSH || (i.kind == INSTRUCTION_STORE_PAIR && i.step) ||
		(i.kind == INSTRUCTION_ADJUST && i.reg == m->sp && i.value < 0));
}

/* Return whether another function may start at ADDRESS, after a call that does not return. */
static bool may_be_start(struct search *s, uint64_t address)
{
	struct opcode i;
	uint64_t at = address;

	while (at - address < CODE_ALIGNMENT && read_at(s, at, &i) && is_padding(s, at, &i))
		at += i.size;
	return (at > address && at % CODE_ALIGNMENT == 0) || is_first(s, address);
}

/* The stack pointer grows by VALUE. */
static void adjust(struct flow_state *t, int64_t value)
{
	int64_t depth = t->depth - value;

	t->has_depth = t->has_depth && depth >= 0 && depth <= INT32_MAX;
	t->depth = t->has_depth ? (int32_t)depth : 0;
}

/* Return DEPTH - VALUE, in bytes.  It wraps around at 2 GB, but no stack is so deep. */
static int32_t below(int32_t depth, int64_t value)
{
	return (int32_t)((uint32_t)depth - (uint32_t)value);
}

/* The frame pointer is now VALUE bytes above the stack pointer. */
static void set_frame(struct flow_state *t, int64_t value)
{
	t->has_frame = true;
	t->frame_depth = below(t->depth, value);
}

/* The stack pointer is now VALUE bytes above the frame pointer. */
static void set_stack(struct flow_state *t, int64_t value)
{
	t->has_depth = t->has_depth && t->has_frame;
	t->depth = t->frame_depth;
	adjust(t, value);
}

/* Register REG has another value now. */
static void change(const struct search *s, struct flow_state *t, unsigned reg)
{
	if (reg == s->machine->sp)
		t->has_depth = false;
	else if (reg == s->machine->fp)
		t->has_frame = false;
	else if (reg == s->machine->lr)
		t->is_in_register = t->is_restored = false;
}

/* Register REG is loaded by the instruction I. */
static void load(const struct search *s, struct flow_state *t, unsigned reg,
		 const struct opcode *i)
{
	change(s, t, reg);
	if (reg == s->machine->lr && reg != NO_REGISTER)
		t->is_restored = i->base == s->machine->sp;
}

/* Loads and stores of arm64 that change their base. */
static void change_base(const struct search *s, struct flow_state *t,
			const struct opcode *i)
{
	if (!i->step)
		return;
	if (i->base == s->machine->sp)
		adjust(t, i->step);
	else
		change(s, t, i->base);
}

static void move(const struct search *s, struct flow_state *t, const struct opcode *i)
{
	const struct machine *m = s->machine;

	if (i->reg == m->fp && i->base == m->sp)
		set_frame(t, i->value);
	else if (i->reg == m->sp && i->base == m->fp)
		set_stack(t, i->value);
	else
		change(s, t, i->reg);
}

/* Change the state T by the instruction I. */
static void apply(const struct search *s, struct flow_state *t, const struct opcode *i)
{
	const struct machine *m = s->machine;

	switch (i->kind) {
	case INSTRUCTION_PUSH:
		adjust(t, -8);
		if (i->reg == m->fp)
			t->saved_depth = t->depth;
		break;
	case INSTRUCTION_POP:
		adjust(t, 8);
		change(s, t, i->reg);
		break;
	case INSTRUCTION_ENTER:
		adjust(t, -8);
		t->saved_depth = t->depth;
		set_frame(t, 0);
		adjust(t, -i->value);
		break;
	case INSTRUCTION_LEAVE:
		set_stack(t, 8);
		t->has_frame = false;
		break;
	case INSTRUCTION_ADJUST:
		if (i->reg == m->sp)
			adjust(t, i->value);
		else if (i->reg == m->fp)
			t->frame_depth = below(t->frame_depth, i->value);
		else
			change(s, t, i->reg);
		break;
	case INSTRUCTION_MOVE:
		move(s, t, i);
		break;
	case INSTRUCTION_STORE:
		if (i->reg == m->fp && i->base == m->sp)
			t->saved_depth = below(t->depth, i->value);
		/* fallthrough */
	case INSTRUCTION_STORE_PAIR:
		change_base(s, t, i);
		break;
	case INSTRUCTION_LOAD_PAIR:
		load(s, t, i->second, i);
		/* fallthrough */
	case INSTRUCTION_LOAD:
		load(s, t, i->reg, i);
		change_base(s, t, i);
		break;
	case INSTRUCTION_ALIGN:
		change(s, t, i->reg);
		break;
	case INSTRUCTION_CALL:
	case INSTRUCTION_CALL_INDIRECT:
		t->is_in_register = t->is_restored = false;
		break;
	case INSTRUCTION_OTHER:
		for (unsigned reg = 0; reg < 64 && i->changes >> reg; reg++)
			if (i->changes >> reg & 1)
				change(s, t, reg);
		break;
	default:
		break;
	}
}

/* A jump by a word in memory, which is constant if it is in the global offset table. */
static void follow_slot(struct search *s, const struct opcode *i, uint64_t address,
			const struct flow_state *t)
{
	uint64_t value;

	if (i->target && code_bytes_slot(s->u, s->process, address, i->target, &value) &&
	    space_find(s->process->space, value))
		add_waiting(s, value, t);
	else
		s->is_open = true;
}

/*
 * Follow the instructions from ADDRESS to one after which others do not follow.  Return whether TO
 * was reached; *T is the state then.
 */
static bool run(struct search *s, uint64_t address, struct flow_state *t)
{
	struct opcode i;

	while (s->steps++ < STEPS_MAX) {
		if (!read_at(s, address, &i)) {
			s->is_open = true;
			return false;
		}
		if (!visit(s, address))
			return false;
		if (s->to - address < i.size)
			return true;
		apply(s, t, &i);
		address += i.size;
		switch (i.kind) {
		case INSTRUCTION_BRANCH:
			add_waiting(s, i.target, t);
			break;
		case INSTRUCTION_JUMP:
			address = i.target;
			break;
		case INSTRUCTION_JUMP_INDIRECT:
			follow_slot(s, &i, address - i.size, t);
			return false;
		case INSTRUCTION_RETURN:
		case INSTRUCTION_TRAP:
			return false;
		case INSTRUCTION_CALL:
		case INSTRUCTION_CALL_INDIRECT:
			if (!t->is_soft && may_be_start(s, address)) {
				t->is_soft = true;
				add_waiting(s, address, t);
				return false;
			}
			break;
		}
	}
	s->is_open = true;
	return false;
}

/*
 * Return whether the frame pointer is the function's own: on x86-64, the word there must be the
 * caller's frame pointer.  The return address is usually above that word; some functions move it
 * before they jump to others.
 */
static bool is_own(const struct search *s, const struct flow_state *t)
{
	return t->has_frame && (!t->has_depth || s->machine->lr != NO_REGISTER ||
				t->frame_depth == t->saved_depth);
}

enum flow_result flow_find(struct unwind *u, const struct walk_process *process, uint64_t from,
			   uint64_t to, struct flow_state *at, bool *is_live)
{
	struct search s = { .u = u, .process = process, .machine = process->machine, .to = to };
	bool is_reached = false;

	if (++u->visited.searches == 0) {	/* the number went around */
		memset(u->visited.search, 0, sizeof(u->visited.search));
		u->visited.searches = 1;
	}
	add_waiting(&s, from, at);
	while (!is_reached && s.hard + s.soft) {
		struct way_left next = s.hard ? s.waiting[--s.hard]
					     : s.waiting[WAITING_MAX - s.soft--];
		*at = next.state;
		is_reached = run(&s, next.address, at);
	}
	u->flow_left -= s.steps < u->flow_left ? s.steps : u->flow_left;
	*is_live |= s.is_live;
	at->has_frame = is_own(&s, at);
	if (is_reached)
		return !at->is_soft ? FLOW_REACHED : s.is_open ? FLOW_OPEN : FLOW_MAYBE;
	return s.is_open ? FLOW_OPEN : FLOW_NOT;
}
