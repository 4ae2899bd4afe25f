/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Abbreviation tables (DWARF 5 §7.5.3), and the DIEs they describe.  Most DIEs are only
 * skipped, so the sizes of the forms of each code are added up to a few steps.
 */
#include "base/short-ways.h"
#include "dwarf/constants.h"
#include "dwarf/internal.h"

#include <stdlib.h>

enum {
	FIXED_MAX = 60000,	/* bytes skipped in one step */
	BYTE_COST = 8,		/* fuel per byte of a table, because 2 bytes become 16 in memory */
	CODES_MAX = 1 << 20,	/* codes in a table; in real files, codes are small numbers */
};

static uint8_t slot_of(uint64_t attribute)
{
	switch (attribute) {
	case DW_AT_name:		return A_NAME;
	case DW_AT_stmt_list:		return A_STMT_LIST;
	case DW_AT_low_pc:		return A_LOW_PC;
	case DW_AT_high_pc:		return A_HIGH_PC;
	case DW_AT_comp_dir:		return A_COMP_DIR;
	case DW_AT_abstract_origin:	return A_ORIGIN;
	case DW_AT_decl_file:		return A_DECL_FILE;
	case DW_AT_decl_line:		return A_DECL_LINE;
	case DW_AT_declaration:		return A_DECLARATION;
	case DW_AT_specification:	return A_SPECIFICATION;
	case DW_AT_ranges:		return A_RANGES;
	case DW_AT_call_column:		return A_CALL_COLUMN;
	case DW_AT_call_file:		return A_CALL_FILE;
	case DW_AT_call_line:		return A_CALL_LINE;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:	return A_LINKAGE_NAME;
	case DW_AT_str_offsets_base:	return A_STR_OFFSETS_BASE;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:	return A_ADDR_BASE;
	case DW_AT_rnglists_base:	return A_RNGLISTS_BASE;
	case DW_AT_GNU_ranges_base:	return A_GNU_RANGES_BASE;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:	return A_DWO_NAME;
	case DW_AT_GNU_dwo_id:		return A_DWO_ID;
	case DW_AT_location:		return A_LOCATION;
	case DW_AT_type:		return A_TYPE;
	case DW_AT_signature:		return A_SIGNATURE;
	case DW_AT_byte_size:		return A_BYTE_SIZE;
	case DW_AT_bit_size:		return A_BIT_SIZE;
	case DW_AT_bit_offset:		return A_BIT_OFFSET;
	case DW_AT_data_bit_offset:	return A_DATA_BIT_OFFSET;
	case DW_AT_data_member_location: return A_MEMBER_LOCATION;
	case DW_AT_count:		return A_COUNT;
	case DW_AT_lower_bound:		return A_LOWER_BOUND;
	case DW_AT_upper_bound:		return A_UPPER_BOUND;
	}
	return A_NONE;
}

/* Add a step: merge it into the last step of this abbreviation, or append it to the table. */
static void add_step(struct abbrevs *t, const struct abbrev *a, unsigned fixed, int op)
{
	struct step *last = t->steps > a->step ? &t->step[t->steps - 1] : NULL;

	if (last && last->op == STEP_END && last->fixed + fixed <= FIXED_MAX) {
		last->fixed = (uint16_t)(last->fixed + fixed);
		last->op = (uint8_t)op;
		return;
	}
	if (last && last->op == STEP_END)
		last->op = STEP_MORE;	/* full: continue with the next step */
	t->step = array_grow(t->step, t->steps, sizeof(*t->step));
	t->step[t->steps++] = (struct step){ (uint16_t)fixed, (uint8_t)op };
}

static void set_size(const struct abbrevs *t, struct abbrev *a)
{
	const struct step *s = &t->step[a->step];
	unsigned size = s->fixed;

	for (; s->op == STEP_SIBLING && size <= FIXED_MAX; s++)
		size += 4U + s[1].fixed;
	a->is_fixed = SHORT_WAYS && s->op == STEP_END && size <= FIXED_MAX;
	a->size = (uint16_t)size;
}

/*
 * Return whether an attribute adds nothing to a DIE: its value takes no bytes, and it is not used
 * or repeated.  Without such attributes, the time to read a DIE is in proportion to its size.
 */
static bool is_empty(const struct attribute *a, uint64_t seen)
{
	return a->form.size == SIZE_IMPLICIT && (!a->slot || seen >> a->slot & 1);
}

/* Add an attribute.  A->skip: bytes since the last one. */
static void add_attribute(struct abbrevs *t, struct abbrev *a, struct attribute at)
{
	if (SHORT_WAYS && !at.slot && at.form.size <= SIZE_FIXED_MAX &&
	    a->skip + at.form.size <= FIXED_MAX) {
		a->skip = (uint16_t)(a->skip + at.form.size);
		return;
	}
	at.skip = a->skip;
	a->skip = 0;
	a->has |= 1ULL << at.slot;
	t->attribute = array_grow(t->attribute, t->attributes, sizeof(at));
	t->attribute[t->attributes++] = at;
}

/* Read the attributes of one code of U's table, up to the pair of zeros.  False: damage. */
static bool read_attributes(const struct unit *u, struct cursor *c, struct abbrev *a)
{
	struct abbrevs *t = u->abbrevs;

	a->attribute = (uint32_t)t->attributes;
	a->step = (uint32_t)t->steps;
	for (;;) {
		uint64_t name = cursor_uleb(c), form = cursor_uleb(c);
		if (c->failed)
			return false;
		if (name == 0 && form == 0)
			break;
		struct attribute at = { .slot = slot_of(name) };
		if (!form_find(u, form, &at.form))
			return false;
		at.implicit = form == DW_FORM_implicit_const ? cursor_sleb(c)
			: form == DW_FORM_flag_present;
		if (is_empty(&at, a->has))
			continue;
		add_attribute(t, a, at);
		if (SHORT_WAYS && name == DW_AT_sibling && form == DW_FORM_ref4 &&
		    a->has_children) {
			a->has_sibling = true;
			add_step(t, a, 0, STEP_SIBLING);
		} else if (at.form.size <= SIZE_FIXED_MAX) {
			add_step(t, a, at.form.size, STEP_END);
		} else {
			add_step(t, a, 0, at.form.size);
		}
	}
	add_step(t, a, 0, STEP_END);
	set_size(t, a);
	a->attributes = (uint32_t)t->attributes - a->attribute;
	a->is_function = a->tag == DW_TAG_subprogram &&
			 a->has & (1ULL << A_LOW_PC | 1ULL << A_RANGES);
	a->is_class = a->has_sibling && (a->tag == DW_TAG_class_type ||
		      a->tag == DW_TAG_structure_type || a->tag == DW_TAG_union_type);
	a->is_instance = a->has_sibling &&
			 (a->tag == DW_TAG_call_site || a->tag == DW_TAG_GNU_call_site ||
			  a->tag == DW_TAG_inlined_subroutine ||
			  (a->tag == DW_TAG_subprogram && a->has & 1ULL << A_ORIGIN));
	a->is_block = a->tag == DW_TAG_inlined_subroutine || a->tag == DW_TAG_lexical_block ||
		      a->tag == DW_TAG_try_block || a->tag == DW_TAG_catch_block;
	a->is_codeless = a->tag == DW_TAG_enumeration_type || a->tag == DW_TAG_subroutine_type ||
			 a->tag == DW_TAG_array_type ||
			 (a->tag == DW_TAG_subprogram && a->has & 1ULL << A_DECLARATION);
	return true;
}

/*
 * Store *A as the abbreviation for CODE.  The table is an array, because codes are dense in
 * practice.  False: there is not enough fuel for an array of that length.
 */
static bool add_abbrev(struct dwarf_file *f, struct abbrevs *t, uint64_t code,
		       const struct abbrev *a)
{
	if (code >= t->codes) {
		size_t codes = code < 2 * t->codes ? 2 * t->codes : code + 16;
		if (!dwarf_pay(f, (codes - t->codes) * sizeof(*a)))
			return false;
		t->abbrev = mem_resize(t->abbrev, codes * sizeof(*a));
		memset(t->abbrev + t->codes, 0, (codes - t->codes) * sizeof(*a));
		t->codes = codes;
	}
	t->abbrev[code] = *a;
	return true;
}

/* Return the bytes of memory that T takes. */
static uint64_t memory_of(const struct abbrevs *t)
{
	return t->codes * sizeof(*t->abbrev) + t->attributes * sizeof(*t->attribute) +
	       t->steps * sizeof(*t->step);
}

/* Return the highest code of a table that starts at C: each code takes 3 bytes at least. */
static uint64_t highest_code(const struct cursor *c)
{
	uint64_t most = cursor_left(c) / 3 + 1;

	return most < CODES_MAX ? most : CODES_MAX;
}

/* Read U's table up to code UNTIL.  If it is damaged, the codes before the damage stay. */
static void read_table(const struct unit *u, uint64_t until)
{
	struct dwarf_file *f = u->file;
	struct abbrevs *t = u->abbrevs;
	struct cursor c = section_cursor(f, S_ABBREV, t->offset);
	uint64_t code = 0, code_max = highest_code(&c), memory = memory_of(t);
	const uint8_t *first = c.at, *end = c.end, *start;

	if (!c.failed)
		c.at += t->next;
	start = c.at;
	t->is_read = true;
	bool is_cut = cursor_left(&c) > f->fuel.left / BYTE_COST;
	if (is_cut)	/* tables may overlap */
		c.end = c.at + f->fuel.left / BYTE_COST;
	for (; !c.failed && (code = cursor_uleb(&c)) != 0 && code <= code_max; start = c.at) {
		struct abbrev a = { .tag = (uint16_t)cursor_uleb(&c) };
		a.has_children = cursor_u8(&c) == 1;
		if (c.failed || !read_attributes(u, &c, &a) ||
		    !dwarf_pay(f, BYTE_COST * (uint64_t)(c.at - start)) ||
		    (a.tag && !add_abbrev(f, t, code, &a)))
			break;
		t->next = (uint64_t)(c.at - first);
		t->is_read = code != until;
		if (!t->is_read)
			break;
	}
	if (t->is_read && (code != 0 || c.failed) &&
	    (!end || start < end)) {	/* it may end with the section */
		f->dwarf->exceeded |= is_cut && c.failed;
		dwarf_damaged(f, S_ABBREV, t->offset + (uint64_t)(start - first));
	}
	dwarf_charge(f->dwarf, memory_of(t) - memory);
}

/* Skip the attributes of one code. */
static void pass_attributes(struct cursor *c)
{
	uint64_t name, form;

	do {
		name = cursor_uleb(c);
		form = cursor_uleb(c);
		if (form == DW_FORM_implicit_const)
			cursor_sleb(c);
	} while (!c->failed && (name || form));
}

/*
 * Find WANTED in U's table, of which nothing has been read, and read nothing else: most tables are
 * read for the root DIE only.  False: it was not found, or cannot be used.
 */
static bool read_one(const struct unit *u, uint64_t wanted)
{
	enum { PASS_COST = 4 };		/* bytes skipped per unit of fuel */
	struct dwarf_file *f = u->file;
	struct abbrevs *t = u->abbrevs;
	struct cursor c = section_cursor(f, S_ABBREV, t->offset);
	const uint8_t *start = c.at;
	uint64_t code = 0, memory = memory_of(t);

	if (wanted > highest_code(&c))
		return false;
	while (!c.failed && (code = cursor_uleb(&c)) != 0 && code != wanted) {
		cursor_uleb(&c);	/* tag */
		cursor_u8(&c);		/* whether it has children */
		pass_attributes(&c);
		if (!dwarf_pay(f, (uint64_t)(c.at - start) / PASS_COST))
			return false;
		start = c.at;
	}
	if (c.failed || code == 0)
		return false;
	struct abbrev a = { .tag = (uint16_t)cursor_uleb(&c) };
	a.has_children = cursor_u8(&c) == 1;
	bool is_good = !c.failed && a.tag && read_attributes(u, &c, &a) &&
		       add_abbrev(f, t, wanted, &a);
	dwarf_charge(f->dwarf, memory_of(t) - memory);
	return is_good;
}

const struct abbrev *abbrevs_read(const struct unit *u, uint64_t code)
{
	struct abbrevs *t = u->abbrevs;

	if (!t->is_read && (t->codes || !read_one(u, code)))
		read_table(u, code);
	return code < t->codes && t->abbrev[code].tag ? &t->abbrev[code] : NULL;
}

struct abbrevs *abbrevs_find(struct dwarf_file *f, const struct unit *u)
{
	uint64_t hash = hash_more(u->abbrev_offset, (uint64_t)u->address_size << 9 |
				  (uint64_t)u->offset_size << 1 | (u->version == 2));
	struct table_probe probe = table_probe(&f->abbrevs_table, hash);
	uint32_t id;

	while ((id = table_next(&f->abbrevs_table, &probe)) != TABLE_NONE) {
		const struct abbrevs *t = f->abbrevs[id];
		if (t->offset == u->abbrev_offset && t->address_size == u->address_size &&
		    t->offset_size == u->offset_size && t->is_version2 == (u->version == 2))
			return f->abbrevs[id];
	}
	struct abbrevs *t = mem_zeroed(1, sizeof(*t));
	t->offset = u->abbrev_offset;
	t->address_size = u->address_size;
	t->offset_size = u->offset_size;
	t->is_version2 = u->version == 2;
	f->abbrevs = array_grow(f->abbrevs, f->abbrevs_count, sizeof(t));
	f->abbrevs[f->abbrevs_count] = t;
	table_add(&f->abbrevs_table, hash, (uint32_t)f->abbrevs_count++);
	return t;
}

void abbrevs_release(struct dwarf_file *f)
{
	for (size_t i = 0; i < f->abbrevs_count; i++) {
		free(f->abbrevs[i]->abbrev);
		free(f->abbrevs[i]->attribute);
		free(f->abbrevs[i]->step);
		free(f->abbrevs[i]);
	}
	free(f->abbrevs);
	table_release(&f->abbrevs_table);
}
