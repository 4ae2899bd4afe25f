/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions of x86-64 change, of the general registers; sources as in instruction-x86.c. */
#include "code/instruction-x86.h"

/* What an opcode of map 0 and 1 changes, of the general registers:
 *	-  none			r  the register of ModRM
 *	m  ModRM's operand	M  this and rax
 *	x  both			X  the opcode's register and rax
 *	o  the opcode's		a  rax
 *	d  rax, rdx		i  rax, rbx, rcx, rdx
 *	k  rax, rcx, r11	c  rcx
 *	s  rsi, rdi, rcx, rax	g  see group()
 */
static const char *const changed[2] = {
	"mmrraa--mmrraa--" "mmrraa--mmrraa--" "mmrraa--mmrraa--" "mmrraa----------"
	"----------------" "--------oooooooo" "---r-----r-rssss" "----------------"
	"gg-g--xxmmrrmr-m" "XXXXXXXXad-----a" "aa--ssss--ssssss" "oooooooooooooooo"
	"mm----mm-----a--" "mmmm---a-------a" "ccc-aa------aa--" "------gg------gg",
	"mgrr-k---------x" "--------------g-" "mm----------rr--" "-ddd------------"
	"rrrrrrrrrrrrrrrr" "r---------------" "----------------" "--------m-----g-"
	"----------------" "mmmmmmmmmmmmmmmm" "--i-mmss---mmmgr" "MMrmrrrrr-gmrrrr"
	"xx---r-goooooooo" "-------r--------" "----------------" "----------------",
};

static uint64_t bit(unsigned hardware)
{
	return 1ULL << x86_number[hardware & 15];
}

/* Return the bit of register N of an operand, which may be ah, ch, dh or bh. */
static uint64_t operand_bit(const struct x86 *x, unsigned n, bool is_byte)
{
	return bit(is_byte && !x->rex && n >= 4 && n < 8 ? n - 4 : n);
}

/* Return whether the operands of an instruction in map 0 or 1 are bytes. */
static bool has_bytes(const struct x86 *x)
{
	if (x->map == 1)
		return (x->opcode >= 0x90 && x->opcode <= 0x9f) || x->opcode == 0xb0 ||
		       x->opcode == 0xc0;
	if (x->opcode >= 0xb0 && x->opcode <= 0xbf)
		return x->opcode < 0xb8;
	return !(x->opcode & 1) && x->opcode != 0x8c && x->opcode != 0x62;
}

/* Return what ModRM's operand is if it is a register, as bits. */
static uint64_t operand_bits(const struct x86 *x)
{
	return is_register(x) ? operand_bit(x, operand(x), has_bytes(x)) : 0;
}

/* Return the registers that a group of instructions changes: field() says which of them it is. */
static uint64_t group(const struct x86 *x)
{
	const uint64_t both = bit(AX) | bit(DX);
	unsigned n = field(x);

	switch (x->map << 8 | x->opcode) {
	case 0x80: case 0x81: case 0x83:
		return n == 7 ? 0 : operand_bits(x);
	case 0xf6: case 0xf7:
		return n <= 1 ? 0 : n <= 3 ? operand_bits(x) : both;
	case 0xfe: case 0xff:
		return n <= 1 ? operand_bits(x) : 0;
	case 0x101:
		return !is_register(x) ? 0 : n == 4 ? operand_bits(x) : both | bit(CX);
	case 0x11e:	/* rdssp */
		return x->prefix == PREFIX_F3 && n == 1 ? operand_bits(x) : 0;
	case 0x17e:
		return x->prefix == PREFIX_F3 ? 0 : operand_bits(x);
	case 0x1ae:	/* rdfsbase, rdgsbase */
		return x->prefix == PREFIX_F3 && n <= 1 ? operand_bits(x) : 0;
	case 0x1ba:
		return n == 4 ? 0 : operand_bits(x);
	case 0x1c7:
		return is_register(x) ? operand_bits(x) : n == 1 ? both : 0;
	default:
		return 0;
	}
}

static uint64_t changes_plain(const struct x86 *x)
{
	bool is_byte = has_bytes(x);
	uint64_t r = x->has_modrm ? operand_bit(x, reg(x), is_byte) : 0;

	switch (changed[x->map][x->opcode]) {
	case 'r':
		return r;
	case 'm':
		return operand_bits(x);
	case 'M':
		return operand_bits(x) | bit(AX);
	case 'x':
		return operand_bits(x) | r;
	case 'X':
		return x->opcode == 0x90 && !(x->rex & REX_B) ? 0
							      : bit(opcode_register(x)) | bit(AX);
	case 'o':
		return operand_bit(x, opcode_register(x), x->map == 0 && is_byte &&
				   x->opcode >= 0xb0);
	case 'a':
		return bit(AX);
	case 'd':
		return bit(AX) | bit(DX);
	case 'i':
		return bit(AX) | bit(BX) | bit(CX) | bit(DX);
	case 'k':
		return bit(AX) | bit(CX) | 1ULL << 11;
	case 'c':
		return bit(CX);
	case 's':
		return bit(SI) | bit(DI) | bit(CX) | bit(AX);
	case 'g':
		return group(x);
	default:
		return 0;
	}
}

/* Return the same for instructions of SSE, AVX and XOP, and others in the maps 2 and 3. */
static uint64_t changes_vector(const struct x86 *x)
{
	uint64_t r = bit(reg(x)), v = bit(x->other);
	uint64_t m = is_register(x) ? bit(operand(x)) : 0;

	switch (x->map << 8 | x->opcode) {
	case 0x12c: case 0x12d: case 0x150: case 0x193: case 0x1c5: case 0x1d7:
	case 0x178: case 0x179:				/* vcvttss2usi */
	case 0x52c: case 0x52d: case 0x578: case 0x579:	/* of 16 bits */
	case 0x2f7: case 0x3f0: case 0xa10:
	case 0x2e0 ... 0x2ef:
		return r;
	case 0x2f0: case 0x2f1:		/* movbe, crc32 */
		return x->opcode == 0xf1 && x->prefix != PREFIX_F2 ? 0 : r;
	case 0x2f2: case 0x2f5: case 0x2f6:
		return r | (x->is_vector ? v : 0);
	case 0x2f3: case 0x901: case 0x902:
		return v;
	case 0x17e: case 0x57e:
		return x->prefix == PREFIX_66 ? m : 0;
	case 0x314 ... 0x317:
		return m;
	case 0x360 ... 0x363:		/* pcmpestri and others */
		return bit(CX);
	case 0x912:
		return m;
	default:
		return 0;
	}
}

uint64_t x86_changes(const struct x86 *x)
{
	return x->is_vector || x->map >= 2 ? changes_vector(x) : changes_plain(x);
}
