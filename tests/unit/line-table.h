/* SPDX-License-Identifier: Apache-2.0 */
/* line-table - makes a .debug_line of one table, after DWARF 5 §6.2, versions 2 to 5. */
#pragma once
#include "dwarf/constants.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A .debug_line in the making: one table. */
struct table_bytes {
	uint8_t at[1024];
	size_t size;
	size_t length, header, program;	/* where the lengths are, and what the second counts from */
	unsigned version;
	bool is_64, swap;
};

static void put(struct table_bytes *b, uint64_t number, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		b->at[b->size++] = (uint8_t)(number >> 8 * (b->swap ? size - 1 - i : i));
}

static void put_leb(struct table_bytes *b, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		put(b, (number & 0x7f) | 0x80, 1);
	put(b, number, 1);
}

/* A number from -64 to 63. */
static void put_sleb(struct table_bytes *b, int number)
{
	put(b, (unsigned)number & 0x7f, 1);
}

static void put_text(struct table_bytes *b, const char *text)
{
	memcpy(b->at + b->size, text, strlen(text) + 1);
	b->size += strlen(text) + 1;
}

/* What the tables differ in. */
struct shape {
	unsigned version;
	bool is_64, swap;	/* offsets of 8 bytes; the other byte order */
	uint8_t min_length, max_operations;
	int8_t line_base;
	uint8_t line_range, opcode_base;
};

static const struct shape usual = { .version = 4, .min_length = 1, .max_operations = 1,
				    .line_base = -5, .line_range = 14, .opcode_base = 13 };

/* directories /build (5 only), inc, /abs; files main.c in the first, in.h in inc, out.h in /abs */
static void put_files(struct table_bytes *b)
{
	static const char *const files[] = { "main.c", "in.h", "out.h" };

	if (b->version < 5) {
		put_text(b, "inc");
		put_text(b, "/abs");
		put(b, 0, 1);
		for (unsigned i = 0; i < 3; i++) {
			put_text(b, files[i]);
			put_leb(b, i);
			put_leb(b, 1000);	/* time */
			put_leb(b, 200);	/* size */
		}
		put(b, 0, 1);
		return;
	}
	put(b, 1, 1);
	put_leb(b, DW_LNCT_path);
	put_leb(b, DW_FORM_string);
	put_leb(b, 3);
	put_text(b, "/build");
	put_text(b, "inc");
	put_text(b, "/abs");
	put(b, 3, 1);
	put_leb(b, DW_LNCT_path);
	put_leb(b, DW_FORM_string);
	put_leb(b, DW_LNCT_directory_index);
	put_leb(b, DW_FORM_udata);
	put_leb(b, 5);		/* DW_LNCT_MD5 */
	put_leb(b, DW_FORM_data16);
	put_leb(b, 3);
	for (unsigned i = 0; i < 3; i++) {
		put_text(b, files[i]);
		put_leb(b, i);
		put(b, 0x1122334455667788, 8);
		put(b, 0, 8);
	}
}

static struct table_bytes begin(struct shape s)
{
	static const uint8_t operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct table_bytes b = { .version = s.version, .is_64 = s.is_64, .swap = s.swap };

	if (s.is_64)
		put(&b, 0xffffffff, 4);
	b.length = b.size;
	put(&b, 0, s.is_64 ? 8 : 4);
	put(&b, s.version, 2);
	if (s.version >= 5) {
		put(&b, 8, 1);		/* addresses */
		put(&b, 0, 1);		/* segment selectors */
	}
	b.header = b.size;
	put(&b, 0, s.is_64 ? 8 : 4);
	put(&b, s.min_length, 1);
	if (s.version >= 4)
		put(&b, s.max_operations, 1);
	put(&b, 1, 1);			/* is a statement */
	put(&b, (uint8_t)s.line_base, 1);
	put(&b, s.line_range, 1);
	put(&b, s.opcode_base, 1);
	for (unsigned i = 1; i < s.opcode_base; i++)
		put(&b, i <= sizeof(operands) ? operands[i - 1] : 2, 1);
	put_files(&b);
	b.program = b.size;
	return b;
}

static void patch(struct table_bytes *b, size_t where)
{
	unsigned size = b->is_64 ? 8 : 4;
	size_t end = b->size;
	uint64_t number = (where == b->header ? b->program : end) - where - size;

	b->size = where;
	put(b, number, size);
	b->size = end;
}

static void end(struct table_bytes *b)
{
	patch(b, b->length);
	patch(b, b->header);
}

static void put_address(struct table_bytes *b, uint64_t address)
{
	put(b, 0, 1);
	put_leb(b, 9);
	put(b, DW_LNE_set_address, 1);
	put(b, address, 8);
}

static void put_end(struct table_bytes *b)
{
	put(b, 0, 1);
	put_leb(b, 1);
	put(b, DW_LNE_end_sequence, 1);
}

static void put_op(struct table_bytes *b, uint8_t opcode, uint64_t operand)
{
	put(b, opcode, 1);
	put_leb(b, operand);
}

/* A special opcode: the address moves by OPERATIONS, the line by LINES. */
static void put_special(struct table_bytes *b, struct shape s, unsigned operations, int lines)
{
	put(b, (uint64_t)(lines - s.line_base) + operations * s.line_range + s.opcode_base, 1);
}
