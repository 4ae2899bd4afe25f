/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi-entries - make entries of call frame information, open an ELF file with them, and compare
 * the rows that it has.
 */
#pragma once
#include "base/cursor.h"
#include "cfi/cfi.h"
#include "tests/unit/cfi-image.h"
#include "tests/unit/tap.h"

#include <inttypes.h>

/* Bytes that grow. */
struct bytes {
	uint8_t *at;
	size_t size;
};

static inline void add(struct bytes *b, const void *bytes, size_t size)
{
	b->at = mem_resize(b->at, b->size + size + 1);
	if (size)
		memcpy(b->at + b->size, bytes, size);
	b->size += size;
}

static inline void add_u32(struct bytes *b, uint32_t value)
{
	add(b, &value, sizeof(value));
}

static inline void add_u64(struct bytes *b, uint64_t value)
{
	add(b, &value, sizeof(value));
}

/* Set the length of the entry that starts at OFFSET and ends here. */
static inline void end_entry(struct bytes *b, size_t offset)
{
	uint32_t length = (uint32_t)(b->size - offset - 4);

	memcpy(b->at + offset, &length, sizeof(length));
}

/* The text of program "\x01..." with its size. */
#define PROGRAM(text) (const uint8_t *)(text), sizeof(text) - 1

/* def_cfa rsp+8; the return address is at CFA-8 */
static const char initial[] = "\x0c\x07\x08\x90\x01";

/* Add a CIE of .eh_frame: factors 1 and -8, 4-byte addresses.  Return its offset. */
static inline size_t add_cie(struct bytes *b, const char *augmentation, const char *program,
			     size_t size)
{
	size_t offset = b->size;

	add_u32(b, 0);
	add_u32(b, 0);
	add(b, "\x01", 1);
	add(b, augmentation, strlen(augmentation) + 1);
	add(b, "\x01\x78\x10", 3);
	add(b, "\x01\x03", 2);		/* udata4 */
	add(b, program, size);
	end_entry(b, offset);
	return offset;
}

/* Add an FDE of .eh_frame.  Return its offset. */
static inline size_t add_fde(struct bytes *b, size_t cie, uint32_t start, uint32_t size,
			     const void *program, size_t program_size)
{
	size_t offset = b->size;

	add_u32(b, 0);
	add_u32(b, (uint32_t)(b->size - cie));
	add_u32(b, start);
	add_u32(b, size);
	add(b, "", 1);
	add(b, program, program_size);
	end_entry(b, offset);
	return offset;
}

/* An open image. */
struct object {
	uint8_t *image;
	struct elf *elf;
	struct cfi *cfi;
};

static inline struct object open_object(const struct cfi_parts *p)
{
	const char *why;
	size_t size;
	struct object o = { .image = cfi_image_make(p, &size) };

	o.elf = elf_open_memory(o.image, size, &why);
	o.cfi = cfi_open(o.elf);
	return o;
}

static inline struct object open_frames(const struct bytes *frames)
{
	struct cfi_parts p = { .frames = frames->at, .frames_size = frames->size,
			       .machine = EM_X86_64 };

	return open_object(&p);
}

static inline void close_object(struct object *o)
{
	cfi_close(o->cfi);
	elf_close(o->elf);
	free(o->image);
}

static inline void write_rule(char *to, size_t size, const struct cfi_save *s)
{
	static const char *const form[] = {
		[CFI_UNDEFINED] = " r%u=u", [CFI_OFFSET] = " r%u=c%+d",
		[CFI_VALUE_OFFSET] = " r%u=v%+d", [CFI_REGISTER] = " r%u=r%d",
		[CFI_EXPRESSION] = " r%u=exp%d", [CFI_VALUE_EXPRESSION] = " r%u=vexp%d",
	};
	size_t used = strlen(to);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(to + used, size - used, form[s->kind], s->reg, s->value);
#pragma GCC diagnostic pop
}

/* Return the row at ADDRESS as text, valid until the next call; "none", "damaged". */
static inline const char *text_at(struct cfi *c, uint64_t address, struct extent *same)
{
	static char text[512];
	struct cfi_row row;
	enum cfi_result result = cfi_row_at(c, address, &row, same);

	if (result != CFI_FOUND)
		return result == CFI_NONE ? "none" : "damaged";
	if (row.cfa_kind == CFI_OFFSET)
		snprintf(text, sizeof(text), "r%u%+d", row.cfa_reg, row.cfa_value);
	else
		snprintf(text, sizeof(text), row.cfa_kind == CFI_UNDEFINED ? "none" : "exp%d",
			 row.cfa_value);
	for (unsigned i = 0; i < row.saves; i++)
		write_rule(text, sizeof(text), &row.save[i]);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
		 row.signs_return ? " signed" : "", row.is_signal ? " signal" : "");
	return text;
}

/* Return whether the row at ADDRESS is EXPECTED, from START to END. */
static inline bool has(struct cfi *c, uint64_t address, uint64_t start, uint64_t end,
		       const char *expected)
{
	struct extent same;
	const char *text = text_at(c, address, &same);
	bool good = !strcmp(text, expected) && same.start == start && same.end == end;

	if (!good)
		printf("# at 0x%" PRIx64 ": '%s' from 0x%" PRIx64 " to 0x%" PRIx64
		       ", not '%s'\n", address, text, same.start, same.end, expected);
	return good;
}

/* The row at 0x1800 of an FDE of 0x1000..0x2000 with PROGRAM is EXPECTED. */
static inline bool gives(const uint8_t *program, size_t size, const char *expected)
{
	struct bytes b = { 0 };
	struct extent same;

	add_fde(&b, add_cie(&b, "zR", initial, sizeof(initial) - 1), 0x1000, 0x1000, program,
		size);
	struct object o = open_frames(&b);
	const char *text = text_at(o.cfi, 0x1800, &same);
	bool is_damaged = !strcmp(expected, "damaged");
	bool good = !strcmp(text, expected) && (cfi_damage(o.cfi) != NULL) == is_damaged &&
		    same.start >= 0x1000 && same.end <= 0x2000;
	if (!good)
		printf("# '%s', not '%s'\n", text, expected);
	close_object(&o);
	free(b.at);
	return good;
}

/* Three FDEs with a gap, one of them inside another, one of size 0, one twice. */
static inline struct bytes several(size_t offset[6])
{
	struct bytes b = { 0 };
	size_t cie = add_cie(&b, "zR", initial, sizeof(initial) - 1);

	offset[0] = add_fde(&b, cie, 0x3000, 0x100, PROGRAM("\x0e\x30"));
	offset[1] = add_fde(&b, cie, 0x1000, 0x100, PROGRAM("\x0e\x10\x48\x0e\x18"));
	add_u32(&b, 0);		/* a terminator in the middle, as in static programs */
	offset[2] = add_fde(&b, cie, 0x2000, 0x800, PROGRAM("\x0e\x20"));
	offset[3] = add_fde(&b, cie, 0x2200, 0x100, PROGRAM("\x0e\x28"));
	offset[4] = add_fde(&b, cie, 0x1000, 0, PROGRAM("\x0e\x38"));
	offset[5] = add_fde(&b, cie, 0x3000, 0x80, PROGRAM("\x0e\x40"));
	return b;
}

static inline bool finds_several(struct cfi *c)
{
	return has(c, 0xfff, 0, 0x1000, "none") &&
	       has(c, 0x1000, 0x1000, 0x1008, "r7+16 r16=c-8") &&
	       has(c, 0x1007, 0x1000, 0x1008, "r7+16 r16=c-8") &&
	       has(c, 0x10ff, 0x1008, 0x1100, "r7+24 r16=c-8") &&
	       has(c, 0x1100, 0x1100, 0x2000, "none") &&
	       has(c, 0x21ff, 0x2000, 0x2200, "r7+32 r16=c-8") &&
	       has(c, 0x22ff, 0x2200, 0x2300, "r7+40 r16=c-8") &&
	       has(c, 0x2300, 0x2300, 0x3000, "none") &&
	       has(c, 0x3000, 0x3000, 0x3080, "r7+64 r16=c-8") &&
	       has(c, 0x30ff, 0x3000, 0x3100, "r7+48 r16=c-8") &&
	       has(c, UINT64_MAX - 1, 0x3100, UINT64_MAX, "none") && !cfi_damage(c);
}

/* How a search table is wrong. */
enum wrong { RIGHT, UNSORTED, OTHER_START, OUTSIDE, AT_CIE, TOO_MANY, FAR_TOO_MANY, ENCODING,
	     VERSION, ELSEWHERE, WRONGS };

/* Add a table of the FDEs in several(), but WRONG. */
static inline struct bytes table_of(const size_t offset[6], enum wrong wrong)
{
	static const uint32_t start[] = { 0x1000, 0x1000, 0x2000, 0x2200, 0x3000, 0x3000 };
	static const int which[] = { 1, 4, 2, 3, 0, 5 };
	struct bytes b = { 0 };
	enum { SIZE = 12 + 6 * 8 };
	uint64_t table = cfi_image_table();

	add(&b, wrong == VERSION ? "\x02\x1b\x03\x3b" : wrong == ENCODING ? "\x01\x1b\x03\x0b"
		: "\x01\x1b\x03\x3b", 4);
	add_u32(&b, SIZE - 4 + (wrong == ELSEWHERE ? 4 : 0));
	add_u32(&b, wrong == FAR_TOO_MANY ? UINT32_MAX : wrong == TOO_MANY ? 4 << 20 : 6);
	for (int i = 0; i < 6; i++) {
		int from = wrong == UNSORTED ? 5 - i : i;
		uint32_t at = start[from], to = (uint32_t)offset[which[from]] + SIZE;
		if (wrong == OTHER_START && i > 1)
			at += 0x10;
		if (wrong == OUTSIDE || wrong == AT_CIE)
			to = wrong == OUTSIDE ? 0x7ffffff0 : SIZE;
		add_u32(&b, at - (uint32_t)table);
		add_u32(&b, to);
	}
	return b;
}
