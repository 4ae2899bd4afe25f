/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of arm64 (Arm Architecture Reference Manual for A-profile, chapter C4): four bytes
 * each, in the order of x86-64 also where data have the other one.
 */
#include "code/instruction.h"
#include "cfi/cfi.h"

enum { X0 = 0, X30 = 30, X31 = 31 };	/* X31: zero, or the stack pointer, which DWARF calls 31 */

static uint32_t bits(uint32_t word, unsigned first, unsigned count)
{
	return word >> first & ((1u << count) - 1);
}

/* The same as a signed number. */
static int64_t signed_bits(uint32_t word, unsigned first, unsigned count)
{
	int64_t value = bits(word, first, count);

	return value >> (count - 1) ? value - (1LL << count) : value;
}

/* Return register N of an instruction where 31 is zero. */
static uint8_t general(uint32_t n)
{
	return n == X31 ? NO_REGISTER : (uint8_t)n;
}

/* b.cond, cbz, cbnz, tbz, tbnz, b, bl, br, blr, ret, also of signed addresses. */
static bool set_jump(uint32_t word, uint64_t address, struct opcode *i)
{
	int64_t distance = 0;

	if (bits(word, 26, 5) == 5) {
		i->kind = word >> 31 ? INSTRUCTION_CALL : INSTRUCTION_JUMP;
		distance = signed_bits(word, 0, 26);
	} else if (bits(word, 24, 8) == 0x54 || bits(word, 25, 6) == 0x1a) {
		i->kind = INSTRUCTION_BRANCH;
		distance = signed_bits(word, 5, 19);
		if (bits(word, 24, 8) == 0x54 && bits(word, 0, 4) >= 14)	/* always */
			i->kind = INSTRUCTION_JUMP;
	} else if (bits(word, 25, 6) == 0x1b) {
		i->kind = INSTRUCTION_BRANCH;
		distance = signed_bits(word, 5, 14);
	} else if (bits(word, 25, 7) == 0x6b) {
		static const uint8_t kind[4] = {
			INSTRUCTION_JUMP_INDIRECT, INSTRUCTION_CALL_INDIRECT, INSTRUCTION_RETURN,
		};
		unsigned which = bits(word, 21, 4) & 7;	/* 8: signed with a register */
		if (which > 2 || bits(word, 16, 5) != 31)
			return false;
		i->kind = kind[which];
		i->reg = bits(word, 11, 5) == 1 && which == 2 ? X30 : general(bits(word, 5, 5));
		return true;
	} else {
		return false;
	}
	i->target = address + (uint64_t)distance * 4;
	return true;
}

/* stp, ldp, str, ldr of words, also those that change their base. */
static bool set_memory(uint32_t word, struct opcode *i)
{
	unsigned way = bits(word, 23, 3);	/* of pairs: 1 after, 2 offset, 3 before */
	bool is_load = bits(word, 22, 1);

	if (bits(word, 26, 6) == 0x2a && way >= 1 && way <= 3) {
		i->kind = is_load ? INSTRUCTION_LOAD_PAIR : INSTRUCTION_STORE_PAIR;
		i->second = general(bits(word, 10, 5));
		i->value = 8 * signed_bits(word, 15, 7);
		i->step = way == 2 ? 0 : i->value;
		i->value = way == 1 ? 0 : i->value;
	} else if (bits(word, 23, 9) == 0x1f2) {
		i->kind = is_load ? INSTRUCTION_LOAD : INSTRUCTION_STORE;
		i->value = 8 * (int64_t)bits(word, 10, 12);
	} else if (bits(word, 23, 9) == 0x1f0 && !bits(word, 21, 1) && bits(word, 10, 2) != 2) {
		way = bits(word, 10, 2);	/* 0 offset, 1 after, 3 before */
		i->kind = is_load ? INSTRUCTION_LOAD : INSTRUCTION_STORE;
		i->value = signed_bits(word, 12, 9);
		i->step = way == 0 ? 0 : i->value;
		i->value = way == 1 ? 0 : i->value;
	} else {
		return false;
	}
	i->reg = general(bits(word, 0, 5));
	i->base = (uint8_t)bits(word, 5, 5);
	return true;
}

/* add and sub of numbers, mov between registers, and with a mask. */
static bool set_move(uint32_t word, struct opcode *i)
{
	int64_t number = bits(word, 10, 12) << (bits(word, 22, 1) ? 12 : 0);
	uint8_t to = (uint8_t)bits(word, 0, 5), from = (uint8_t)bits(word, 5, 5);

	if (bits(word, 23, 9) == 0x122 || bits(word, 23, 9) == 0x1a2) {
		i->reg = to;
		i->base = from;
		i->value = word >> 30 & 1 ? -number : number;
		i->kind = to == from ? INSTRUCTION_ADJUST : INSTRUCTION_MOVE;
		return true;
	}
	if ((word & 0xffe0ffe0) == 0xaa0003e0) {	/* mov x, x */
		i->reg = general(to);
		i->base = general(bits(word, 16, 5));
		i->kind = INSTRUCTION_MOVE;
		return i->reg != NO_REGISTER && i->base != NO_REGISTER;
	}
	return false;
}

/* Return the registers that another instruction may change: those that it could name. */
static uint64_t may_change(uint32_t word)
{
	unsigned group = bits(word, 25, 4);	/* table C4-1 */
	uint64_t first = 1ULL << bits(word, 0, 5), base = 1ULL << bits(word, 5, 5);
	bool is_memory = (group & 5) == 4;

	if (is_memory)	/* loads of any size; exclusive stores have their result in Rs */
		return first | base | 1ULL << bits(word, 10, 5) | 1ULL << bits(word, 16, 5);
	if ((group & 7) == 7)	/* floating point: results may be general */
		return first & ~(1ULL << X31);
	if (group == 10 || group == 11)	/* system instructions */
		return (word & 0xffe0001f) == 0xd4000001 ? 1ULL << X0 : first & ~(1ULL << X31);
	return first;
}

bool instruction_read_arm64(const uint8_t *at, size_t size, uint64_t address,
			    struct opcode *i)
{
	uint32_t word;

	if (size < sizeof(word) || address & 3)
		return false;
	word = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
	*i = (struct opcode){ .size = sizeof(word), .reg = NO_REGISTER,
				   .base = NO_REGISTER, .second = NO_REGISTER };
	if (word >> 16 == 0) {	/* udf */
		i->kind = INSTRUCTION_TRAP;
		return true;
	}
	if (bits(word, 25, 4) < 2 || bits(word, 25, 4) == 3)	/* not allocated, or vectors' */
		return false;
	if (set_jump(word, address, i) || set_memory(word, i) || set_move(word, i))
		return true;
	*i = (struct opcode){ .size = sizeof(word), .reg = NO_REGISTER,
				   .base = NO_REGISTER, .second = NO_REGISTER };
	if ((word & 0xffe0001f) == 0xd4200000 || (word & 0xffe0001f) == 0xd4400000)
		i->kind = INSTRUCTION_TRAP;
	else
		i->changes = may_change(word);
	return true;
}
