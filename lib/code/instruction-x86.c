/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of x86-64 (Intel's Software Developer's Manual, volume 2, appendix A; AMD's
 * Architecture Programmer's Manual, volume 3, appendix A).
 *
 * An instruction has prefixes, an opcode in one of several maps, and operands, whose sizes follow
 * from the opcode: a byte ModRM with a memory operand's SIB and displacement, and an immediate
 * value.
 */
#include "code/instruction-x86.h"

/* What follows an opcode of map 0 and 1:
 *	.  nothing		m  ModRM
 *	b  1 byte		B  ModRM, 1 byte
 *	z  2 or 4 bytes		Z  ModRM, 2 or 4 bytes
 *	w  2 bytes		e  2 bytes and 1 byte
 *	v  2, 4 or 8 bytes	o  an address
 *	d  4 bytes, a distance	g G  ModRM, and for test 1 byte, or 2 or 4 bytes
 *	-  not an instruction, or handled before
 */
const char *const x86_follows[2] = {
	"mmmmbz--mmmmbz--" "mmmmbz--mmmmbz--" "mmmmbz--mmmmbz--" "mmmmbz--mmmmbz--"
	"----------------" "................" "---m----zZbB...." "bbbbbbbbbbbbbbbb"
	"BZ-Bmmmmmmmmmmmm" "..........-....." "oooo....bz......" "bbbbbbbbvvvvvvvv"
	"BBw.--BZe.--.b--" "mmmm---.mmmmmmmm" "bbbbbbbbdd-b...." "-.--..gG......mm",
	"mmmm-.....-.-m.B" "mmmmmmmmmmmmmmmm" "mmmm----mmmmmmmm" "....------------"
	"mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "BBBBmmm.mm--mmmm"
	"dddddddddddddddd" "mmmmmmmmmmmmmmmm" "...mBmmm..-mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm",
};

static int64_t read_signed(struct x86 *x, unsigned bytes)
{
	switch (bytes) {
	case 1:
		return (int8_t)cursor_u8(&x->c);
	case 2:
		return (int16_t)cursor_u16(&x->c);
	case 4:
		return (int32_t)cursor_u32(&x->c);
	default:
		return (int64_t)cursor_u64(&x->c);
	}
}

/* Read the prefixes, and return the byte after them. */
static uint8_t read_prefixes(struct x86 *x)
{
	for (int n = 0; n < BYTES_MAX; n++) {
		uint8_t byte = cursor_u8(&x->c);
		switch (byte) {
		case 0x66:
			x->is_wide = true;
			if (!x->prefix)
				x->prefix = PREFIX_66;
			break;
		case 0x67:
			x->is_short = true;
			break;
		case 0xf2:
		case 0xf3:
			x->prefix = byte == 0xf2 ? PREFIX_F2 : PREFIX_F3;
			break;
		case 0x64:
		case 0x65:
			x->has_segment = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0xf0:
			break;
		case 0x40 ... 0x4f:	/* the last prefix */
			x->rex = byte;
			return cursor_u8(&x->c);
		default:
			return byte;
		}
	}
	cursor_fail(&x->c);
	return 0;
}

/* Set the fields of VEX, EVEX and XOP: the last byte before the opcode has W, vvvv and pp. */
static void set_vector(struct x86 *x, uint8_t inverted, uint8_t last)
{
	static const uint8_t bit[3] = { REX_B, REX_X, REX_R };

	x->is_vector = true;
	for (int i = 0; i < 3; i++)
		if (!(inverted >> (5 + i) & 1))
			x->rex |= bit[i];
	if (last & 0x80)
		x->rex |= REX_W;
	x->other = ~last >> 3 & 15;
	x->prefix = last & 3;
}

/* Read the opcode after a prefix of vector instructions. */
static void read_vector(struct x86 *x, uint8_t first)
{
	uint8_t byte = cursor_u8(&x->c), last = byte;

	if (first == 0xc5) {
		x->map = 1;
		set_vector(x, byte | 0x60, last & 0x7f);
	} else {
		last = cursor_u8(&x->c);
		x->map = first == 0x62 ? byte & 7 : byte & 31;
		set_vector(x, byte, last);
	}
	if (first == 0x62) {
		cursor_u8(&x->c);
		if (byte & 8 || !(last & 4) || x->map == 4)	/* APX */
			cursor_fail(&x->c);
	}
	bool is_known = first == 0x8f ? x->map >= 8 && x->map <= 10
				      : (x->map >= 1 && x->map <= 3) ||
					(first == 0x62 && (x->map == 5 || x->map == 6));
	if (!is_known)
		cursor_fail(&x->c);
	x->opcode = cursor_u8(&x->c);
}

static void read_opcode(struct x86 *x)
{
	uint8_t byte = read_prefixes(x);
	bool is_xop = byte == 0x8f && cursor_left(&x->c) && *x->c.at >> 3 & 7;

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 || is_xop) {
		if (x->rex || x->prefix)
			cursor_fail(&x->c);
		read_vector(x, byte);
		return;
	}
	if (byte == ESCAPE) {
		x->map = 1;
		byte = cursor_u8(&x->c);
		if (byte == 0x38 || byte == 0x3a) {
			x->map = byte == 0x38 ? 2 : 3;
			byte = cursor_u8(&x->c);
		}
	}
	x->opcode = byte;
}

/* Read the memory operand of ModRM. */
static void read_memory(struct x86 *x)
{
	unsigned bytes = mode(x) == 1 ? 1 : mode(x) == 2 ? 4 : 0;

	x->base = (uint8_t)operand(x);
	if ((x->modrm & 7) == SP) {
		uint8_t sib = cursor_u8(&x->c);
		x->base = (sib & 7) | (x->rex & REX_B ? 8 : 0);
		x->has_index = (sib >> 3 & 7) != SP || x->rex & REX_X;
		if ((sib & 7) == BP && mode(x) == 0) {
			x->base = NO_REGISTER;
			bytes = 4;
		}
	} else if ((x->modrm & 7) == BP && mode(x) == 0) {
		x->base = NO_REGISTER;
		x->is_relative = true;
		bytes = 4;
	}
	if (bytes)
		x->displacement = read_signed(x, bytes);
}

static void read_modrm(struct x86 *x)
{
	x->has_modrm = true;
	x->modrm = cursor_u8(&x->c);
	if (mode(x) != 3)
		read_memory(x);
}

static char vector_letter(const struct x86 *x)
{
	switch (x->map) {
	case 1:
		if (x->opcode == 0x77)
			return '.';
		return (x->opcode >= 0x70 && x->opcode <= 0x73) || x->opcode == 0xc2 ||
		       (x->opcode >= 0xc4 && x->opcode <= 0xc6) ? 'B' : 'm';
	case 3:
	case 8:
		return 'B';
	case 10:
		return 'D';
	default:
		return 'm';
	}
}

static void read_operands(struct x86 *x)
{
	bool is_sse4a = !x->is_vector && x->map == 1 && x->opcode == 0x78 && x->prefix;
	char what = x->is_vector ? vector_letter(x) : x->map == 2 ? 'm' : x->map == 3 ? 'B'
				 : x86_follows[x->map][x->opcode];
	unsigned full = x->is_wide && !(x->rex & REX_W) ? 2 : 4;

	if (is_sse4a)
		what = '-';
	if (strchr("mBZgGD", what))
		read_modrm(x);
	switch (what) {
	case '.':
	case 'm':
		return;
	case 'g':
	case 'G':
		if (field(x) <= 1)
			x->immediate = read_signed(x, what == 'g' ? 1 : full);
		return;
	case 'b':
	case 'B':
		x->immediate = read_signed(x, 1);
		return;
	case 'w':
		x->immediate = cursor_u16(&x->c);
		return;
	case 'e':
		x->immediate = cursor_u16(&x->c);
		if (cursor_u8(&x->c) != 0)	/* a nested procedure of Pascal */
			cursor_fail(&x->c);
		return;
	case 'v':
		x->immediate = read_signed(x, x->rex & REX_W ? 8 : full);
		return;
	case 'o':
		x->immediate = read_signed(x, x->is_short ? 4 : 8);
		return;
	case 'd':
	case 'D':
		x->immediate = read_signed(x, 4);
		return;
	case 'z':
	case 'Z':
		x->immediate = read_signed(x, full);
		return;
	default:
		cursor_fail(&x->c);
	}
}

/* Set I's place in memory to ModRM's operand, which is a register and a displacement. */
static bool set_place(const struct x86 *x, struct opcode *i)
{
	if (is_register(x) || x->has_index || x->base == NO_REGISTER || x->has_segment ||
	    x->is_short)
		return false;
	i->base = x86_number[x->base];
	i->value = x->displacement;
	return true;
}

/* Set I to an addition or so of the immediate value to register REG. */
static void set_sum(const struct x86 *x, unsigned which, uint8_t reg, struct opcode *i)
{
	enum { ADD = 0, AND = 4, SUB = 5 };

	if (which != ADD && which != AND && which != SUB)
		return;
	i->kind = which == AND ? INSTRUCTION_ALIGN : INSTRUCTION_ADJUST;
	i->reg = reg;
	i->value = which == SUB ? -x->immediate : x->immediate;
}

/* Set I to an instruction of words that moves, loads, stores or adds. */
static void set_move(const struct x86 *x, uint64_t next, struct opcode *i)
{
	bool has_words = x->rex & REX_W && !x->is_vector;
	uint8_t r = x86_number[reg(x)], m = x86_number[operand(x)];
	bool is_to = x->opcode == 0x89;

	if (!has_words || x->map != 0)
		return;
	if ((x->opcode == 0x89 || x->opcode == 0x8b) && is_register(x)) {
		i->kind = INSTRUCTION_MOVE;
		i->reg = is_to ? m : r;
		i->base = is_to ? r : m;
	} else if ((x->opcode == 0x89 || x->opcode == 0x8b) && set_place(x, i)) {
		i->kind = is_to ? INSTRUCTION_STORE : INSTRUCTION_LOAD;
		i->reg = r;
	} else if (x->opcode == 0x8d && set_place(x, i)) {
		i->kind = INSTRUCTION_MOVE;
		i->reg = r;
	} else if (x->opcode == 0x8d && x->is_relative && !x->is_short) {
		i->target = next + (uint64_t)x->displacement;
	} else if ((x->opcode == 0x81 || x->opcode == 0x83) && is_register(x)) {
		set_sum(x, field(x), m, i);
	} else if (x->opcode < 0x40 && (x->opcode & 7) == 5) {	/* of rax */
		set_sum(x, x->opcode >> 3, x86_number[AX], i);
	}
}

/* Set the kind of an instruction with opcode FF: calls, jumps and push.  False: a far one. */
static bool set_indirect(const struct x86 *x, uint64_t next, struct opcode *i)
{
	switch (field(x)) {
	case 2:
	case 4:
		i->kind = field(x) == 2 ? INSTRUCTION_CALL_INDIRECT : INSTRUCTION_JUMP_INDIRECT;
		if (x->is_relative && !x->has_segment && !x->is_short)
			i->target = next + (uint64_t)x->displacement;
		return true;
	case 6:
		i->kind = INSTRUCTION_PUSH;
		i->reg = is_register(x) ? x86_number[operand(x)] : NO_REGISTER;
		return true;
	default:
		return field(x) <= 1;
	}
}

/* Set the kind, and all that belongs to it, of an instruction in map 0. */
static bool set_kind(const struct x86 *x, uint64_t next, struct opcode *i)
{
	uint64_t target = next + (uint64_t)x->immediate;

	switch (x->opcode) {
	case 0x50 ... 0x5f:
		i->kind = x->opcode < 0x58 ? INSTRUCTION_PUSH : INSTRUCTION_POP;
		i->reg = x86_number[opcode_register(x)];
		return true;
	case 0x68: case 0x6a: case 0x9c:
		i->kind = INSTRUCTION_PUSH;
		return true;
	case 0x8f: case 0x9d:
		i->kind = INSTRUCTION_POP;
		i->reg = is_register(x) ? x86_number[operand(x)] : NO_REGISTER;
		return true;
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		i->kind = INSTRUCTION_BRANCH;
		i->target = target;
		return true;
	case 0xc7:		/* xbegin: where control goes if the transaction fails */
		if (x->modrm == 0xf8) {
			i->kind = INSTRUCTION_BRANCH;
			i->target = target;
		}
		return true;
	case 0xc2: case 0xc3:
		i->kind = INSTRUCTION_RETURN;
		i->value = x->immediate;
		return true;
	case 0xc8:
		i->kind = INSTRUCTION_ENTER;
		i->value = x->immediate;
		return true;
	case 0xc9:
		i->kind = INSTRUCTION_LEAVE;
		return true;
	case 0xe8: case 0xe9: case 0xeb:
		i->kind = x->opcode == 0xe8 ? INSTRUCTION_CALL : INSTRUCTION_JUMP;
		i->target = target;
		return true;
	case 0xcc: case 0xf1: case 0xf4:
		i->kind = INSTRUCTION_TRAP;
		return true;
	case 0xff:
		return set_indirect(x, next, i);
	default:
		set_move(x, next, i);
		return true;
	}
}

/* The same in map 1. */
static void set_escaped_kind(const struct x86 *x, uint64_t next, struct opcode *i)
{
	switch (x->opcode) {
	case 0x80 ... 0x8f:
		i->kind = INSTRUCTION_BRANCH;
		i->target = next + (uint64_t)x->immediate;
		break;
	case 0x0b: case 0xb9: case 0xff:
		i->kind = INSTRUCTION_TRAP;
		break;
	case 0xa0: case 0xa8:
		i->kind = INSTRUCTION_PUSH;
		break;
	case 0xa1: case 0xa9:
		i->kind = INSTRUCTION_POP;
		break;
	}
}

/* Return whether prefix 66 changes what I does to the stack, or where some processors jump. */
static bool is_odd(const struct x86 *x, const struct opcode *i)
{
	return x->is_wide && !(x->rex & REX_W) && i->kind != INSTRUCTION_OTHER &&
	       i->kind <= INSTRUCTION_LEAVE && i->kind != INSTRUCTION_TRAP;
}

bool instruction_read_x86(const uint8_t *at, size_t size, uint64_t address,
			  struct opcode *i)
{
	size_t most = size < BYTES_MAX ? size : BYTES_MAX;
	struct x86 x = { .c = { .at = at, .end = at + most } };

	read_opcode(&x);
	if (!x.c.failed)
		read_operands(&x);
	if (x.c.failed)
		return false;
	*i = (struct opcode){ .size = (uint8_t)(x.c.at - at), .reg = NO_REGISTER,
				   .base = NO_REGISTER, .second = NO_REGISTER };
	uint64_t next = address + i->size;
	if (!x.is_vector && x.map == 0 && !set_kind(&x, next, i))
		return false;
	if (!x.is_vector && x.map == 1)
		set_escaped_kind(&x, next, i);
	if (is_odd(&x, i))
		return false;
	if (i->kind == INSTRUCTION_OTHER)
		i->changes = x86_changes(&x);
	return true;
}
