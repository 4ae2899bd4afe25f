/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the reader of x86-64's instructions: an instruction's parts, which
 * instruction-x86.c reads, and what they mean for registers (instruction-changes.c).
 */
#pragma once
#include "base/cursor.h"
#include "code/instruction.h"

enum {
	BYTES_MAX = 15,		/* of an instruction */
	REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8,
	ESCAPE = 0x0f,		/* of the opcode maps 1 to 3 */
	PREFIX_66 = 1, PREFIX_F3, PREFIX_F2,	/* as VEX has them */
};

/* Numbers in machine code, and those of DWARF. */
enum { AX, CX, DX, BX, SP, BP, SI, DI };
static const uint8_t x86_number[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

struct x86 {
	struct cursor c;
	uint8_t rex;		/* REX_*, also from VEX; 0x40: there is a REX prefix */
	bool is_wide;		/* prefix 66: 16 bits */
	bool is_short;		/* prefix 67: addresses of 32 bits */
	bool has_segment;	/* addresses are in a segment of their own: not on the stack */
	bool is_vector;		/* VEX, EVEX or XOP */
	bool has_modrm, has_index, is_relative;	/* RELATIVE: to the next instruction */
	uint8_t prefix;		/* the last of F2 and F3, else 66; PREFIX_* */
	uint8_t map, opcode, modrm;
	uint8_t other;		/* VEX's further register */
	uint8_t base;		/* of a memory operand, in machine code's numbers; or NO_REGISTER */
	int64_t displacement, immediate;
};

/* What follows an opcode of map 0 and 1, as a letter (instruction-x86.c). */
extern const char *const x86_follows[2];

static inline unsigned mode(const struct x86 *x)
{
	return x->modrm >> 6;
}

/* Return the middle field of ModRM, which often is a part of the opcode. */
static inline unsigned field(const struct x86 *x)
{
	return x->modrm >> 3 & 7;
}

static inline unsigned reg(const struct x86 *x)
{
	return field(x) | (x->rex & REX_R ? 8 : 0);
}

static inline unsigned operand(const struct x86 *x)
{
	return (x->modrm & 7) | (x->rex & REX_B ? 8 : 0);
}

static inline unsigned opcode_register(const struct x86 *x)
{
	return (x->opcode & 7) | (x->rex & REX_B ? 8 : 0);
}

static inline bool is_register(const struct x86 *x)
{
	return x->has_modrm && mode(x) == 3;
}

/* Return the general registers that the instruction X may change, as bits by DWARF's numbers. */
uint64_t x86_changes(const struct x86 *x);
