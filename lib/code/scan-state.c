/* SPDX-License-Identifier: Apache-2.0 */
#include "code/scan-state.h"

enum { FAR = 1 << 30 };		/* bytes: no frame is so large */

struct scan_value scan_sum(unsigned base, int64_t offset)
{
	return offset > -FAR && offset < FAR
		? (struct scan_value){ SUM, (uint8_t)base, (int32_t)offset, 0 }
		: (struct scan_value){ 0 };
}

struct scan_value scan_add(struct scan_value v, int64_t more)
{
	int64_t total = more + (v.kind == SUM ? v.offset : v.more);

	if (v.kind == UNKNOWN || more <= -FAR || more >= FAR || total <= -FAR || total >= FAR)
		return (struct scan_value){ 0 };
	*(v.kind == SUM ? &v.offset : &v.more) = (int32_t)total;
	return v;
}

static struct scan_value get(const struct state *s, unsigned reg)
{
	return reg < REGISTERS ? s->reg[reg] : (struct scan_value){ 0 };
}

static void set(struct state *s, unsigned reg, struct scan_value v)
{
	if (reg < REGISTERS)
		s->reg[reg] = v;
}

struct scan_value scan_load(const struct state *s, struct scan_value place)
{
	if (place.kind != SUM)
		return (struct scan_value){ 0 };
	for (unsigned i = 0; i < s->slots; i++)
		if (s->slot[i].base == place.base && s->slot[i].offset == place.offset)
			return s->slot[i].value;
	/* Nothing is known of the words below the aligned stack pointer. */
	if (place.base == ALIGNED)
		return (struct scan_value){ 0 };
	return (struct scan_value){ LOADED, place.base, place.offset, 0 };
}

/*
 * Remember that the word at PLACE is V.  If there is no room for the word, it is forgotten: it may
 * then have any value.
 */
static void store(struct state *s, struct scan_value place, struct scan_value v)
{
	unsigned i = 0;

	if (place.kind != SUM)
		return;
	while (i < s->slots && (s->slot[i].base != place.base || s->slot[i].offset != place.offset))
		i++;
	if (i == SLOTS) {	/* the words of scratch registers go first */
		for (i = 0; i < SLOTS; i++)
			if (s->slot[i].value.kind == UNKNOWN)
				break;
		if (i == SLOTS)
			return;
	}
	s->slot[i] = (struct scan_slot){ place.base, place.offset, v };
	if (i == s->slots)
		s->slots++;
}

void scan_push(struct state *s, struct scan_value v)
{
	s->reg[RSP] = scan_add(s->reg[RSP], -WORD);
	store(s, s->reg[RSP], v);
}

static struct scan_value pop(struct state *s)
{
	struct scan_value v = scan_load(s, s->reg[RSP]);

	s->reg[RSP] = scan_add(s->reg[RSP], WORD);
	return v;
}

/* The stack pointer is set to a multiple of something: a base of its own, the first time. */
static void align(struct state *s, const struct opcode *i)
{
	bool is_first = i->reg == RSP && i->value < 0 && !s->has_aligned;

	set(s, i->reg, is_first ? scan_sum(ALIGNED, 0) : (struct scan_value){ 0 });
	s->has_aligned = true;
}

/* Nothing is known of the registers in the mask from now on. */
static void forget(struct state *s, uint64_t registers)
{
	for (unsigned r = 0; r < REGISTERS; r++)
		if (registers >> r & 1)
			s->reg[r] = (struct scan_value){ 0 };
}

void scan_execute(struct state *s, const struct opcode *i)
{
	struct scan_value v;

	switch (i->kind) {
	case INSTRUCTION_PUSH:
		scan_push(s, get(s, i->reg));
		break;
	case INSTRUCTION_POP:
		v = pop(s);
		set(s, i->reg, v);
		break;
	case INSTRUCTION_ENTER:
		scan_push(s, s->reg[RBP]);
		s->reg[RBP] = s->reg[RSP];
		s->reg[RSP] = scan_add(s->reg[RSP], -i->value);
		break;
	case INSTRUCTION_LEAVE:
		s->reg[RSP] = s->reg[RBP];
		s->reg[RBP] = pop(s);
		break;
	case INSTRUCTION_ADJUST:
		set(s, i->reg, scan_add(get(s, i->reg), i->value));
		break;
	case INSTRUCTION_ALIGN:
		align(s, i);
		break;
	case INSTRUCTION_MOVE:
		set(s, i->reg, scan_add(get(s, i->base), i->value));
		break;
	case INSTRUCTION_STORE:
		store(s, scan_add(get(s, i->base), i->value), get(s, i->reg));
		break;
	case INSTRUCTION_LOAD:
		set(s, i->reg, scan_load(s, scan_add(get(s, i->base), i->value)));
		break;
	case INSTRUCTION_CALL:
	case INSTRUCTION_CALL_INDIRECT:
		forget(s, SCRATCH);
		break;
	default:
		forget(s, i->changes);
	}
}
