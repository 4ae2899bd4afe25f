/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sizes of the instructions of x86-64 that compilers write, from tables, for a look at all code
 * of a file.  The tables are derived from those of instruction_read_x86(), which reads the others.
 */
#include "code/instruction-x86.h"

/* What a table says of an opcode: the bytes of an immediate value, and: */
enum {
	IMMEDIATE = 7,
	MODRM = 8,		/* ModRM follows */
	FULL = 16,		/* the immediate value has 2 bytes with prefix 66 */
	LONG = 32,		/* and 8 with REX.W */
	ODD = 64,		/* rare with prefix 66 */
	RARE = 128,
	SIB = 128,		/* of ModRM: without displacement, unless SIB has one */
};

/* Return what follows OPCODE of map 0 or 1. */
static uint8_t opcode_layout(unsigned map, uint8_t opcode)
{
	if (map == 0 ? opcode == 0x8f || opcode == 0xff : opcode == 0x78)
		return RARE;	/* ModRM says whether it is an instruction, or a prefix does */
	switch (x86_follows[map][opcode]) {
	case '.':
		return 0;
	case 'm':
		return MODRM;
	case 'b':
		return 1;
	case 'B':
		return MODRM | 1;
	case 'd':
		return 4;
	case 'z':
		return FULL | 4;
	case 'Z':
		return MODRM | FULL | 4;
	case 'v':
		return LONG | FULL | 4;
	default:
		return RARE;
	}
}

/* Return whether prefix 66 may change what the instruction does to the stack, or where it jumps. */
static bool may_be_odd(unsigned map, uint8_t opcode)
{
	if (map == 1)
		return (opcode & 0xf0) == 0x80 || (opcode & 0xf6) == 0xa0;
	switch (opcode) {
	case 0x50 ... 0x5f: case 0x68: case 0x6a: case 0x70 ... 0x7f: case 0x9c: case 0x9d:
	case 0xc2: case 0xc3: case 0xc7 ... 0xc9: case 0xe0 ... 0xe9: case 0xeb:
		return true;
	default:
		return false;
	}
}

/* Return the bytes of ModRM with its memory operand, and SIB. */
static uint8_t modrm_layout(uint8_t modrm)
{
	unsigned mode = modrm >> 6, operand = modrm & 7, sib = operand == SP;

	if (mode == 3)
		return 1;
	if (mode == 0)
		return operand == BP ? 5 : sib ? SIB | 2 : 1;
	return (uint8_t)(1 + sib + (mode == 1 ? 1 : 4));
}

void instruction_sizes_init(struct instruction_sizes *t)
{
	for (unsigned i = 0; i < 256; i++) {
		for (unsigned map = 0; map < 2; map++)
			t->opcode[map][i] = opcode_layout(map, (uint8_t)i) |
					    (may_be_odd(map, (uint8_t)i) ? ODD : 0);
		t->modrm[i] = modrm_layout((uint8_t)i);
	}
}

static inline unsigned modrm_size(const struct instruction_sizes *t, const uint8_t *at)
{
	uint8_t layout = t->modrm[*at];

	return layout & SIB ? (layout & ~SIB) + ((at[1] & 7) == BP ? 4 : 0) : layout;
}

/* Return the size of an instruction of AVX or AVX-512 at AT, which has no other prefix. */
static unsigned vector_size(const struct instruction_sizes *t, const uint8_t *at)
{
	unsigned map = *at == 0xc5 ? 1 : at[1] & (*at == 0x62 ? 7 : 31);
	unsigned size = *at == 0xc5 ? 2 : *at == 0xc4 ? 3 : 4;
	uint8_t opcode = at[size++];

	if (map < 1 || map > 3 || (*at == 0x62 && (at[1] & 8 || !(at[2] & 4))))
		return 0;
	if (map == 1 && opcode == 0x77)
		return size;
	bool has_byte = map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) ||
						  opcode == 0xc2 ||
						  (opcode >= 0xc4 && opcode <= 0xc6)));
	return size + modrm_size(t, at + size) + has_byte;
}

/* Return the 32-bit distance at AT. */
static uint64_t distance_at(const uint8_t *at)
{
	uint32_t distance = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			    (uint32_t)at[3] << 24;

	return (uint64_t)(int64_t)(int32_t)distance;
}

unsigned instruction_skip_x86(const struct instruction_sizes *t, const uint8_t *at,
			      uint64_t address, uint64_t *target, bool *is_call)
{
	const uint8_t *code = at;
	bool is_wide = false;
	uint8_t rex = 0;

	*target = 0;
	*is_call = false;
	if (*code == 0x66 || *code == 0xf2 || *code == 0xf3)
		is_wide = *code++ == 0x66;
	if ((*code & 0xf0) == 0x40)
		rex = *code++;
	if (code == at && (*code == 0xc4 || *code == 0xc5 || *code == 0x62))
		return vector_size(t, code);
	bool is_escaped = *code == ESCAPE;
	code += is_escaped;
	uint8_t opcode = *code++, layout = t->opcode[is_escaped][opcode];
	if (is_escaped && (opcode == 0x38 || opcode == 0x3a)) {
		layout = opcode == 0x38 ? MODRM : MODRM | 1;
		code++;
	}
	if (layout & RARE || (is_wide && layout & ODD))
		return 0;
	unsigned size = (unsigned)(code - at) + (layout & IMMEDIATE);
	if (layout & MODRM)
		size += modrm_size(t, code);
	if (layout & LONG && rex & REX_W)
		size += 4;
	else if (is_wide && layout & FULL && !(rex & REX_W))
		size -= 2;
	if (is_escaped)
		return size;
	*is_call = opcode == 0xe8;
	if (*is_call)
		*target = address + size + distance_at(code);
	else if (opcode == 0x8d && rex & REX_W && (*code & 0xc7) == BP)
		*target = address + size + distance_at(code + 1);
	return size;
}
