/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CFA of SHA-256 and SHA-512 with AVX2 in OpenSSL, and programs that contain its code.
 *
 * Nearly all of their time, the information says that the CFA is in the word below the stack
 * pointer.  A copy of the stack starts at the stack pointer and does not have that word.  But the
 * function keeps the same value in another word, which its first instructions write:
 *
 *	mov %rsp, %rax; push (6 registers); sub ..., %rsp
 *	and $ALIGN, %rsp; add $SIZE, %rsp; mov %rax, PLACE(%rsp)
 *
 * Then the stack pointer goes down by SIZE, in steps, and so stays above where ALIGN had put it.
 * Other instructions are in between; some of these functions also have one before them.
 */
#include "cfi/cfi-internal.h"
#include "dwarf/constants.h"

#include <elf.h>
#include <string.h>

/* Move C past the bytes of the literal TEXT; it fails if they are not there. */
#define PASS(c, text) pass(c, text, sizeof(text) - 1)

static void pass(struct cursor *c, const char *text, size_t size)
{
	size_t left = cursor_left(c);
	const uint8_t *found = left ? memmem(c->at, left, text, size) : NULL;

	c->failed |= !found;
	cursor_bytes(c, found ? (size_t)(found - c->at) + size : 0);
}

/* Move C past mov %rax, PLACE(%rsp), and return PLACE. */
static uint32_t pass_store(struct cursor *c)
{
	struct cursor far = *c, near = *c;

	PASS(&near, "\x48\x89\x44\x24");
	uint32_t place = cursor_u8(&near);
	PASS(&far, "\x48\x89\x84\x24");
	if (near.failed || (!far.failed && far.at < near.at)) {
		near = far;
		place = cursor_u32(&near);
	}
	*c = near;
	return place;
}

static void put_uleb(uint8_t **at, uint32_t value)
{
	for (; value > 0x7f; value >>= 7)
		*(*at)++ = (uint8_t)(value | 0x80);
	*(*at)++ = (uint8_t)value;
}

/* Write the CFA's expression of the function whose code C has.  Return its end, or NULL. */
static uint8_t *write_expression(struct cursor c, uint8_t *at)
{
	enum { MOST = 1 << 20 };	/* bytes */

	PASS(&c, "\x48\x89\xe0\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57\x48\x81\xec");
	PASS(&c, "\x48\x81\xe4");
	const uint8_t *align = cursor_bytes(&c, 4);
	PASS(&c, "\x48\x81\xc4");
	uint32_t size = cursor_u32(&c), place = pass_store(&c);
	if (c.failed || size > MOST || place > MOST)
		return NULL;
	*at++ = DW_OP_breg0 + 7;	/* the stack pointer */
	*at++ = 0;
	*at++ = DW_OP_const4s;
	memcpy(at, align, 4);
	at += 4;
	*at++ = DW_OP_and;
	*at++ = DW_OP_plus_uconst;
	put_uleb(&at, size + place);
	*at++ = DW_OP_deref;
	*at++ = DW_OP_plus_uconst;
	*at++ = 8;
	return at;
}

static bool is_below_stack(const struct expression *e)
{
	static const uint8_t below[] = { DW_OP_breg0 + 7, 0x78 /* -8 */, DW_OP_deref,
					 DW_OP_plus_uconst, 8 };

	return e->size == sizeof(below) && !memcmp(e->at, below, sizeof(below));
}

void cfi_leave_red_zone(struct cfi *c, const struct fde *fde, struct cfi_row *row)
{
	enum { START = 128 };		/* bytes that have all these instructions */
	uint8_t text[32];

	if (row->cfa_kind != CFI_VALUE_EXPRESSION || elf_machine(c->elf) != EM_X86_64 ||
	    !is_below_stack(&c->expression[row->cfa_value]))
		return;
	struct elf_bytes code = elf_constant_at(c->elf, fde->start, START);
	uint8_t *end = write_expression(elf_cursor(c->elf, code), text);
	int32_t id = end ? cfi_add_expression(c, text, (size_t)(end - text)) : -1;
	if (id >= 0)
		row->cfa_value = id;
}
