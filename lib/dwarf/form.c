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

static bool constant(struct value *v, uint64_t number)
{
	*v = (struct value){ number, V_CONSTANT };
	return true;
}

static bool give(struct value *v, enum value_kind kind, uint64_t number)
{
	*v = (struct value){ number, kind };
	return true;
}

static bool pass_block(struct cursor *c, uint64_t size, struct value *v)
{
	if (size > cursor_left(c))
		c->failed = true;
	else
		c->at += size;
	return give(v, V_OTHER, 0);
}

static bool read_string(struct cursor *c, struct value *v)
{
	return give(v, V_STRING, (uintptr_t)cursor_string(c));
}

/* As form_read(), for any form but DW_FORM_indirect. */
static inline bool read_value(const struct unit *u, struct cursor *c, unsigned form,
			      int64_t implicit, struct value *v)
{
	switch (form) {
	case DW_FORM_addr:
		return give(v, V_ADDRESS, form_number(c, u->address_size));
	case DW_FORM_data1:
	case DW_FORM_flag:		return constant(v, cursor_u8(c));
	case DW_FORM_data2:		return constant(v, cursor_u16(c));
	case DW_FORM_data4:		return constant(v, cursor_u32(c));
	case DW_FORM_data8:		return constant(v, cursor_u64(c));
	case DW_FORM_sdata:		return constant(v, (uint64_t)cursor_sleb(c));
	case DW_FORM_udata:		return constant(v, cursor_uleb(c));
	case DW_FORM_implicit_const:	return constant(v, (uint64_t)implicit);
	case DW_FORM_flag_present:	return constant(v, 1);
	case DW_FORM_data16:		return pass_block(c, 16, v);
	case DW_FORM_string:		return read_string(c, v);
	case DW_FORM_strp:		return give(v, V_STR, form_number(c, u->offset_size));
	case DW_FORM_line_strp:
		return give(v, V_LINE_STR, form_number(c, u->offset_size));
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return give(v, V_ALTERNATE_STR, form_number(c, u->offset_size));
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:	return give(v, V_STR_INDEX, cursor_uleb(c));
	case DW_FORM_strx1:		return give(v, V_STR_INDEX, cursor_u8(c));
	case DW_FORM_strx2:		return give(v, V_STR_INDEX, cursor_u16(c));
	case DW_FORM_strx3:		return give(v, V_STR_INDEX, form_number(c, 3));
	case DW_FORM_strx4:		return give(v, V_STR_INDEX, cursor_u32(c));
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:	return give(v, V_ADDRESS_INDEX, cursor_uleb(c));
	case DW_FORM_addrx1:		return give(v, V_ADDRESS_INDEX, cursor_u8(c));
	case DW_FORM_addrx2:		return give(v, V_ADDRESS_INDEX, cursor_u16(c));
	case DW_FORM_addrx3:		return give(v, V_ADDRESS_INDEX, form_number(c, 3));
	case DW_FORM_addrx4:		return give(v, V_ADDRESS_INDEX, cursor_u32(c));
	case DW_FORM_ref1:		return give(v, V_REFERENCE, u->offset + cursor_u8(c));
	case DW_FORM_ref2:		return give(v, V_REFERENCE, u->offset + cursor_u16(c));
	case DW_FORM_ref4:		return give(v, V_REFERENCE, u->offset + cursor_u32(c));
	case DW_FORM_ref8:		return give(v, V_REFERENCE, u->offset + cursor_u64(c));
	case DW_FORM_ref_udata:		return give(v, V_REFERENCE, u->offset + cursor_uleb(c));
	case DW_FORM_ref_addr:
		return give(v, V_REFERENCE, form_number(c, u->version == 2 ? u->address_size
							: u->offset_size));
	case DW_FORM_GNU_ref_alt:
		return give(v, V_ALTERNATE_REFERENCE, form_number(c, u->offset_size));
	case DW_FORM_ref_sup4:		return give(v, V_ALTERNATE_REFERENCE, cursor_u32(c));
	case DW_FORM_ref_sup8:		return give(v, V_ALTERNATE_REFERENCE, cursor_u64(c));
	case DW_FORM_ref_sig8:		return give(v, V_OTHER, cursor_u64(c));
	case DW_FORM_sec_offset:	return give(v, V_OFFSET, form_number(c, u->offset_size));
	case DW_FORM_rnglistx:		return give(v, V_LIST_INDEX, cursor_uleb(c));
	case DW_FORM_loclistx:		return give(v, V_OTHER, cursor_uleb(c));
	case DW_FORM_block1:		return pass_block(c, cursor_u8(c), v);
	case DW_FORM_block2:		return pass_block(c, cursor_u16(c), v);
	case DW_FORM_block4:		return pass_block(c, cursor_u32(c), v);
	case DW_FORM_block:
	case DW_FORM_exprloc:		return pass_block(c, cursor_uleb(c), v);
	}
	return false;
}

bool form_read(const struct unit *u, struct cursor *c, unsigned form, int64_t implicit,
	       struct value *v)
{
	if (form == DW_FORM_indirect) {
		form = (unsigned)cursor_uleb(c);
		if (form == DW_FORM_implicit_const)
			return false;
	}
	return read_value(u, c, form, implicit, v);
}

int form_step(unsigned form, const struct abbrevs *a, unsigned *fixed)
{
	*fixed = 0;
	switch (form) {
	case DW_FORM_addr:		*fixed = a->address_size; return STEP_END;
	case DW_FORM_data1: case DW_FORM_flag: case DW_FORM_ref1: case DW_FORM_strx1:
	case DW_FORM_addrx1:		*fixed = 1; return STEP_END;
	case DW_FORM_data2: case DW_FORM_ref2: case DW_FORM_strx2:
	case DW_FORM_addrx2:		*fixed = 2; return STEP_END;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:		*fixed = 3; return STEP_END;
	case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_strx4: case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:		*fixed = 4; return STEP_END;
	case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:		*fixed = 8; return STEP_END;
	case DW_FORM_data16:		*fixed = 16; return STEP_END;
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:	return STEP_END;
	case DW_FORM_strp: case DW_FORM_line_strp: case DW_FORM_strp_sup: case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:	*fixed = a->offset_size; return STEP_END;
	case DW_FORM_ref_addr:
		*fixed = a->is_version2 ? a->address_size : a->offset_size;
		return STEP_END;
	case DW_FORM_sdata: case DW_FORM_udata: case DW_FORM_strx: case DW_FORM_addrx:
	case DW_FORM_ref_udata: case DW_FORM_rnglistx: case DW_FORM_loclistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:	return STEP_LEB;
	case DW_FORM_string:		return STEP_STRING;
	case DW_FORM_block1:		return STEP_BLOCK1;
	case DW_FORM_block2:		return STEP_BLOCK2;
	case DW_FORM_block4:		return STEP_BLOCK4;
	case DW_FORM_block:
	case DW_FORM_exprloc:		return STEP_BLOCK;
	case DW_FORM_indirect:		return STEP_INDIRECT;
	}
	return -1;
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
	*address = form_number(&c, u->address_size);
	if (c.failed)
		dwarf_damaged(f, S_ADDR, at);
	return !c.failed;
}
