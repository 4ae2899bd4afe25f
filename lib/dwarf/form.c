/* SPDX-License-Identifier: Apache-2.0 */
/* Forms: the encodings of attributes (DWARF 5 §7.5.6).  Look up the strings and addresses. */
#include "dwarf/constants.h"
#include "dwarf/internal.h"
#include "elf/section.h"

uint64_t form_number(struct cursor *c, unsigned size)
{
	const uint8_t *p;

	switch (size) {
	case 1:
		return cursor_u8(c);
	case 2:
		return cursor_u16(c);
	case 3:
		p = cursor_bytes(c, 3);
		if (!p)
			return 0;
		return c->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			? (uint64_t)p[0] << 16 | p[1] << 8 | p[2]
			: p[0] | p[1] << 8 | (uint64_t)p[2] << 16;
	case 4:
		return cursor_u32(c);
	case 8:
		return cursor_u64(c);
	}
	c->failed = true;
	return 0;
}

uint64_t form_length(struct cursor *c, uint8_t *offset_size)
{
	uint64_t length = cursor_u32(c);

	*offset_size = 4;
	if (length == 0xffffffff) {
		*offset_size = 8;
		length = cursor_u64(c);
	} else if (length >= 0xfffffff0) {
		c->failed = true;	/* reserved */
	}
	return length;
}

/* Indexes of the table: a standard form is its own index, those of GNU are next. */
enum { GNU_FORMS = 0x1f00, GNU_INDEX = 0x40 };
#define GNU(form) ((form) - GNU_FORMS + GNU_INDEX)

/* By DW_FORM_*.  V_NONE: not a form. */
static const struct form forms[] = {
	[DW_FORM_addr] = { V_ADDRESS, SIZE_ADDRESS },
	[DW_FORM_addrx] = { V_ADDRESS_INDEX, SIZE_ULEB },
	[DW_FORM_addrx1] = { V_ADDRESS_INDEX, 1 },
	[DW_FORM_addrx2] = { V_ADDRESS_INDEX, 2 },
	[DW_FORM_addrx3] = { V_ADDRESS_INDEX, 3 },
	[DW_FORM_addrx4] = { V_ADDRESS_INDEX, 4 },
	[GNU(DW_FORM_GNU_addr_index)] = { V_ADDRESS_INDEX, SIZE_ULEB },
	[DW_FORM_data1] = { V_CONSTANT, 1 },
	[DW_FORM_data2] = { V_CONSTANT, 2 },
	[DW_FORM_data4] = { V_CONSTANT, 4 },
	[DW_FORM_data8] = { V_CONSTANT, 8 },
	[DW_FORM_data16] = { V_OTHER, 16 },
	[DW_FORM_sdata] = { V_CONSTANT, SIZE_SLEB },
	[DW_FORM_udata] = { V_CONSTANT, SIZE_ULEB },
	[DW_FORM_implicit_const] = { V_CONSTANT, SIZE_IMPLICIT },
	[DW_FORM_flag] = { V_CONSTANT, 1 },
	[DW_FORM_flag_present] = { V_CONSTANT, SIZE_IMPLICIT },
	[DW_FORM_string] = { V_STRING, SIZE_STRING },
	[DW_FORM_strp] = { V_STR, SIZE_OFFSET },
	[DW_FORM_line_strp] = { V_LINE_STR, SIZE_OFFSET },
	[DW_FORM_strp_sup] = { V_ALTERNATE_STR, SIZE_OFFSET },
	[GNU(DW_FORM_GNU_strp_alt)] = { V_ALTERNATE_STR, SIZE_OFFSET },
	[DW_FORM_strx] = { V_STR_INDEX, SIZE_ULEB },
	[DW_FORM_strx1] = { V_STR_INDEX, 1 },
	[DW_FORM_strx2] = { V_STR_INDEX, 2 },
	[DW_FORM_strx3] = { V_STR_INDEX, 3 },
	[DW_FORM_strx4] = { V_STR_INDEX, 4 },
	[GNU(DW_FORM_GNU_str_index)] = { V_STR_INDEX, SIZE_ULEB },
	[DW_FORM_ref1] = { V_UNIT_REFERENCE, 1 },
	[DW_FORM_ref2] = { V_UNIT_REFERENCE, 2 },
	[DW_FORM_ref4] = { V_UNIT_REFERENCE, 4 },
	[DW_FORM_ref8] = { V_UNIT_REFERENCE, 8 },
	[DW_FORM_ref_udata] = { V_UNIT_REFERENCE, SIZE_ULEB },
	[DW_FORM_ref_addr] = { V_REFERENCE, SIZE_REF_ADDR },
	[DW_FORM_ref_sup4] = { V_ALTERNATE_REFERENCE, 4 },
	[DW_FORM_ref_sup8] = { V_ALTERNATE_REFERENCE, 8 },
	[GNU(DW_FORM_GNU_ref_alt)] = { V_ALTERNATE_REFERENCE, SIZE_OFFSET },
	[DW_FORM_ref_sig8] = { V_SIGNATURE, 8 },
	[DW_FORM_sec_offset] = { V_OFFSET, SIZE_OFFSET },
	[DW_FORM_rnglistx] = { V_LIST_INDEX, SIZE_ULEB },
	[DW_FORM_loclistx] = { V_OTHER, SIZE_ULEB },
	[DW_FORM_block] = { V_BLOCK, SIZE_BLOCK },
	[DW_FORM_block1] = { V_BLOCK, SIZE_BLOCK1 },
	[DW_FORM_block2] = { V_BLOCK, SIZE_BLOCK2 },
	[DW_FORM_block4] = { V_BLOCK, SIZE_BLOCK4 },
	[DW_FORM_exprloc] = { V_BLOCK, SIZE_BLOCK },
	[DW_FORM_indirect] = { V_OTHER, SIZE_INDIRECT },
};

bool form_find(const struct unit *u, uint64_t form, struct form *f)
{
	uint64_t index = form < GNU_INDEX ? form : form < GNU_FORMS ? UINT64_MAX : GNU(form);

	*f = index < sizeof(forms) / sizeof(*forms) ? forms[index] : (struct form){ V_NONE, 0 };
	if (f->size == SIZE_REF_ADDR)
		f->size = u->version == 2 ? SIZE_ADDRESS : SIZE_OFFSET;
	if (f->size == SIZE_OFFSET)
		f->size = u->offset_size;
	else if (f->size == SIZE_ADDRESS && (u->address_size == 4 || u->address_size == 8))
		f->size = u->address_size;
	else if (f->size == SIZE_ADDRESS)
		f->kind = V_NONE;	/* U is the shape of a damaged line table */
	return f->kind != V_NONE;
}

/* Return the string at OFFSET of section S of F, or NULL. */
static const char *string_at(struct dwarf_file *f, enum dwarf_section s, uint64_t offset)
{
	if (offset >= f->section[s].size) {
		dwarf_damaged(f, s, offset);
		return NULL;
	}
	const char *text = elf_strings_at(s == S_STR ? &f->str : &f->line_str, offset);
	if (!text)	/* it is too long, and its end was searched for */
		dwarf_pay(f, STRING_MAX / STRING_COST);
	return text;
}

/* Return the string of U with INDEX in .debug_str_offsets, or NULL. */
static const char *indexed_string(const struct unit *u, uint64_t index)
{
	struct dwarf_file *f = u->file;
	uint64_t at = u->str_offsets_base + index * u->offset_size;
	struct cursor c = { .failed = true };

	if (index <= f->section[S_STR_OFFSETS].size)
		c = section_cursor(f, S_STR_OFFSETS, at);
	dwarf_need(f, &c, u->offset_size);
	uint64_t offset = form_number(&c, u->offset_size);
	if (c.failed)
		dwarf_damaged(f, S_STR_OFFSETS, at);
	return c.failed ? NULL : string_at(f, S_STR, offset);
}

const char *form_string(const struct unit *u, const struct value *v)
{
	struct dwarf_file *f = u->file;

	switch (v->kind) {
	case V_STRING: {
		const char *text = (const char *)(uintptr_t)v->number;
		return strnlen(text, STRING_MAX) < STRING_MAX ? text : NULL;
	}
	case V_STR:
		return string_at(f, S_STR, v->number);
	case V_LINE_STR:
		return string_at(f, S_LINE_STR, v->number);
	case V_ALTERNATE_STR:
		return f->dwarf->alternate
			? string_at(f->dwarf->alternate, S_STR, v->number) : NULL;
	case V_STR_INDEX:
		return indexed_string(u, v->number);
	default:
		return NULL;
	}
}

bool form_address(const struct unit *u, const struct value *v, uint64_t *address)
{
	if (v->kind == V_ADDRESS) {
		*address = v->number;
		return true;
	}
	/* The addresses of a split unit are in the file with its skeleton. */
	const struct unit *owner = u->skeleton ? u->skeleton : u;
	struct dwarf_file *f = owner->file;
	if (v->kind != V_ADDRESS_INDEX)
		return false;
	uint64_t at = owner->addr_base + v->number * u->address_size;
	struct cursor c = { .failed = true };
	if (v->number <= f->section[S_ADDR].size)
		c = section_cursor(f, S_ADDR, at);
	dwarf_need(f, &c, u->address_size);
	*address = form_number(&c, u->address_size);
	if (c.failed)
		dwarf_damaged(f, S_ADDR, at);
	return !c.failed;
}
