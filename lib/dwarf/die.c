/* SPDX-License-Identifier: Apache-2.0 */
/* Values and DIEs: read, or skipped. */
#include "base/short-ways.h"
#include "dwarf/constants.h"
#include "dwarf/internal.h"

/* Read a value after its form, which is neither DW_FORM_indirect nor DW_FORM_implicit_const. */
static bool read_indirect(const struct unit *u, struct cursor *c, struct value *v)
{
	uint64_t form = cursor_uleb(c);
	struct form f;

	return form != DW_FORM_indirect && form != DW_FORM_implicit_const &&
	       form_find(u, form, &f) && form_read(u, c, f, form == DW_FORM_flag_present, v);
}

/* Skip a LEB128 number.  False: damage. */
static inline bool pass_leb(struct cursor *c)
{
	while (c->at < c->end && *c->at & 0x80)
		c->at++;
	if (c->at == c->end)
		return false;
	c->at++;
	return true;
}

/* Read the size of a block, which has the form FORM_SIZE. */
static uint64_t block_size(struct cursor *c, uint8_t form_size)
{
	return form_size == SIZE_BLOCK ? cursor_uleb(c)
	     : form_size == SIZE_BLOCK1 ? cursor_u8(c)
	     : form_size == SIZE_BLOCK2 ? cursor_u16(c) : cursor_u32(c);
}

/* Skip a value.  FORM_SIZE: SIZE_ULEB or above.  False: damage. */
static bool pass(const struct unit *u, struct cursor *c, uint8_t form_size)
{
	uint64_t size = 0;

	switch (form_size) {
	case SIZE_ULEB:
	case SIZE_SLEB:
		return pass_leb(c);
	case SIZE_STRING: {
		const uint8_t *nul = memchr(c->at, 0, cursor_left(c));
		if (!nul)
			return false;
		c->at = nul + 1;
		return true;
	}
	case SIZE_BLOCK: case SIZE_BLOCK1: case SIZE_BLOCK2: case SIZE_BLOCK4:
		size = block_size(c, form_size);
		break;
	case SIZE_INDIRECT: {
		struct value ignored;
		return read_indirect(u, c, &ignored);
	}
	default:
		return false;
	}
	if (size > cursor_left(c))
		return false;
	c->at += size;
	return true;
}

/* Read a block whose size has the form FORM_SIZE. */
static void read_block(struct cursor *c, uint8_t form_size, struct value *v)
{
	uint64_t size = block_size(c, form_size);

	v->number = (uintptr_t)cursor_bytes(c, size);
	v->size = size <= UINT32_MAX ? (uint32_t)size : 0;
}

bool form_read(const struct unit *u, struct cursor *c, struct form f, int64_t implicit,
	       struct value *v)
{
	*v = (struct value){ .kind = f.kind };
	switch (f.size) {
	case SIZE_IMPLICIT:
		v->number = (uint64_t)implicit;
		break;
	case SIZE_ULEB:
		v->number = cursor_uleb(c);
		break;
	case SIZE_SLEB:
		v->number = (uint64_t)cursor_sleb(c);
		break;
	case SIZE_STRING:
		v->number = (uintptr_t)cursor_string(c);
		break;
	case SIZE_INDIRECT:
		return read_indirect(u, c, v);
	case SIZE_FIXED_MAX:
		cursor_bytes(c, SIZE_FIXED_MAX);
		break;
	case SIZE_BLOCK: case SIZE_BLOCK1: case SIZE_BLOCK2: case SIZE_BLOCK4:
		read_block(c, f.size, v);
		break;
	default:
		v->number = form_number(c, f.size);
	}
	if (f.kind == V_UNIT_REFERENCE) {
		v->kind = V_REFERENCE;
		v->number += u->offset;
	}
	return true;
}

/* Like form_read(), but inline for the common numbers. */
static inline bool read_value(const struct unit *u, struct cursor *c, const struct attribute *at,
			      struct value *v)
{
	unsigned size = at->form.size;

	v->kind = at->form.kind;
	if (size == 1)
		v->number = cursor_u8(c);
	else if (size == 4)
		v->number = cursor_u32(c);
	else if (size == SIZE_IMPLICIT)
		v->number = (uint64_t)at->implicit;
	else if (size == 2)
		v->number = cursor_u16(c);
	else if (size == 8)
		v->number = cursor_u64(c);
	else if (size == SIZE_ULEB)
		v->number = cursor_uleb(c);
	else
		return form_read(u, c, at->form, 0, v);
	if (v->kind == V_UNIT_REFERENCE) {
		v->kind = V_REFERENCE;
		v->number += u->offset;
	}
	return true;
}

bool die_read(const struct unit *u, struct cursor *c, struct die *die)
{
	uint64_t code = cursor_uleb(c);

	die->abbrev = NULL;
	if (c->failed)
		return false;
	if (code == 0)
		return true;
	const struct abbrev *a = abbrev_of(u, code);
	if (!a)
		return false;
	for (uint32_t i = a->attribute; i < a->attribute + a->attributes; i++) {
		const struct attribute *at = &u->abbrevs->attribute[i];
		cursor_bytes(c, at->skip);
		if (!read_value(u, c, at, &die->value[at->slot]))
			return false;
	}
	cursor_bytes(c, a->skip);
	die->has = a->has;
	die->abbrev = a;
	return !c->failed;
}

/* Read the offset of the sibling and move C there.  False: it is not ahead in the unit. */
static bool pass_to_sibling(const struct unit *u, struct cursor *c)
{
	const uint8_t *info = u->file->section[S_INFO].at;
	uint64_t to = u->offset + cursor_u32(c);

	if (c->failed || to < (uint64_t)(c->at - info) || to > u->end)
		return false;
	c->at = info + to;
	return true;
}

/* Read all attributes of a DIE, as die_read() does, instead of passing over them. */
static bool read_all(const struct unit *u, struct cursor *c, const struct abbrev *a)
{
	struct value ignored;

	for (uint32_t i = a->attribute; i < a->attribute + a->attributes; i++) {
		const struct attribute *at = &u->abbrevs->attribute[i];
		if (!form_read(u, c, at->form, at->implicit, &ignored))
			return false;
	}
	return !c->failed;
}

bool die_step(const struct unit *u, struct cursor *c, const struct abbrev *a, bool with_children)
{
	if (!SHORT_WAYS)
		return read_all(u, c, a);
	for (const struct step *s = u->abbrevs->step + a->step; ; s++) {
		if (s->fixed > cursor_left(c))
			return false;
		c->at += s->fixed;
		if (s->op == STEP_END)
			return true;
		if (s->op == STEP_SIBLING) {
			if (with_children)
				return pass_to_sibling(u, c);
			if (!cursor_bytes(c, 4))
				return false;
			continue;
		}
		if (s->op == SIZE_ULEB ? !pass_leb(c) : !pass(u, c, s->op))
			return false;
	}
}
