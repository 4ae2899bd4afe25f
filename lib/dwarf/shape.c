/* SPDX-License-Identifier: Apache-2.0 */
/* shape - what types look like: elements of arrays, and where members of structures are. */
#include "dwarf/constants.h"
#include "dwarf/data.h"

#include <stdlib.h>

/* Return the name of DIE, or NULL; it takes fuel, because strings may overlap. */
static const char *name_of(struct unit *u, const struct die *die)
{
	const char *text = die_has(die, A_NAME) ? form_string(u, &die->value[A_NAME]) : NULL;

	return text && *text && dwarf_pay(u->file, strnlen(text, STRING_MAX) / STRING_COST + 1)
	       ? text : NULL;
}

/* Set *PLACE to the byte where DIE starts in its structure.  False: that is not fixed. */
static bool place_of(const struct unit *u, const struct die *die, uint64_t *place)
{
	const struct value *v = &die->value[A_MEMBER_LOCATION];

	*place = 0;
	if (!die_has(die, A_MEMBER_LOCATION))
		return true;	/* of a union */
	if (v->kind == V_CONSTANT) {
		*place = v->number;
		return true;
	}
	if (v->kind != V_BLOCK)
		return false;
	/* DWARF 2: an expression that adds to the start of the structure */
	const uint8_t *at = (const uint8_t *)(uintptr_t)v->number;
	struct cursor c = { .at = at, .end = at + v->size, .swap = u->file->swap };
	if (cursor_u8(&c) != DW_OP_plus_uconst)
		return false;
	*place = cursor_uleb(&c);
	return !c.failed && cursor_left(&c) == 0;
}

static bool is_little_endian(const struct unit *u)
{
	return u->file->swap != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* Set the bytes of M, a bit-field of SIZE bits with DIE, whose storage starts at M->start. */
static void set_bits(struct unit *u, const struct die *die, uint64_t size, struct shape_member *m)
{
	uint64_t bit = 0;

	if (die_has(die, A_DATA_BIT_OFFSET)) {
		bit = die->value[A_DATA_BIT_OFFSET].number;
	} else if (die_has(die, A_BIT_OFFSET)) {	/* DWARF 3: from the most significant bit */
		uint64_t storage = die_has(die, A_BYTE_SIZE) ? die->value[A_BYTE_SIZE].number
							     : type_size(m->type);
		bit = die->value[A_BIT_OFFSET].number;
		bit = is_little_endian(u) ? 8 * storage - bit - size : bit;
	}
	m->is_bits = true;
	m->start += bit / 8;
	m->size = (bit % 8 + size + 7) / 8;
}

static void add_member(struct shape *s, struct unit *u, const struct die *die,
		       struct shape_member m)
{
	if (s->members == MEMBERS_MAX || !dwarf_pay(u->file, sizeof(m))) {
		s->is_partial = true;
		return;
	}
	m.size = SIZE_UNKNOWN;
	if (die_has(die, A_BIT_SIZE) && die->value[A_BIT_SIZE].kind == V_CONSTANT)
		set_bits(u, die, die->value[A_BIT_SIZE].number, &m);
	else
		m.size = type_size(m.type);
	s->member = array_grow(s->member, s->members, sizeof(m));
	s->member[s->members++] = m;
}

static void add_children(struct shape *s, struct type of, uint64_t base, int level);

/* Add the members of T, which is a base, or has no name, BASE bytes from the start of S. */
static void add_inner(struct shape *s, struct type t, uint64_t base, int level)
{
	struct die die;

	if (type_read(&t, &die) && tag_is_structure(die.abbrev->tag))
		add_children(s, t, base, level + 1);
}

/* Add the member or base CHILD of a structure that is BASE bytes from the start of S. */
static void add_child(struct shape *s, struct unit *u, const struct die *child, bool is_base,
		      uint64_t base, int level)
{
	struct shape_member m = { .name = is_base ? NULL : name_of(u, child),
				  .type = type_of(u, child) };

	if (die_has(child, A_DECLARATION))	/* static */
		return;
	if (!place_of(u, child, &m.start)) {
		s->is_partial = true;
		return;
	}
	m.start += base;
	if (m.name)
		add_member(s, u, child, m);
	else
		add_inner(s, m.type, m.start, level);
}

/* Add the members in the DIE of OF, a structure or a variant, BASE bytes from the start of S. */
static void add_children(struct shape *s, struct type of, uint64_t base, int level)
{
	struct children all = children_of(of.u, of.at);
	struct die child;
	uint64_t offset;

	if (level == LEVELS_MAX) {
		s->is_partial = true;
		return;
	}
	while (children_next(&all, &child, &offset)) {
		uint16_t tag = child.abbrev->tag;
		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			add_child(s, of.u, &child, tag == DW_TAG_inheritance, base, level);
		else if (tag == DW_TAG_variant_part || tag == DW_TAG_variant)	/* Rust's enums */
			add_children(s, (struct type){ of.u, offset }, base, level + 1);
	}
}

/* For qsort(): by START; members at the same place keep the order in which they are declared. */
static int by_start(const void *a, const void *b)
{
	const struct shape_member *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->reach < y->reach ? -1 : x->reach > y->reach;
}

static void sort_members(struct shape *s)
{
	uint64_t reach = 0;

	for (uint32_t i = 0; i < s->members; i++)
		s->member[i].reach = i;
	if (s->members)
		qsort(s->member, s->members, sizeof(*s->member), by_start);
	for (uint32_t i = 0; i < s->members; i++) {
		struct shape_member *m = &s->member[i];
		uint64_t end = m->size < UINT64_MAX - m->start ? m->start + m->size : UINT64_MAX;
		reach = end > reach ? end : reach;
		m->reach = reach;
	}
}

void shape_read_members(struct shape *s)
{
	if (s->members_read)
		return;
	s->members_read = true;
	add_children(s, s->type, 0, 0);
	sort_members(s);
	dwarf_charge(s->type.u->file->dwarf, s->members * sizeof(*s->member));
}

/* Read what T looks like into S. */
static void read_shape(struct shape *s, struct type t)
{
	struct die die;

	*s = (struct shape){ .asked = t, .size = SIZE_UNKNOWN };
	if (!type_read(&t, &die))
		return;
	uint16_t tag = die.abbrev->tag;
	s->type = t;
	s->kind = tag == DW_TAG_array_type ? SHAPE_ARRAY
		: tag_is_structure(tag) ? SHAPE_STRUCTURE : SHAPE_PLAIN;
	if (s->kind == SHAPE_ARRAY)
		s->element_size = type_element(t, &die, &s->element, &s->dimensions);
	s->size = type_size(t);
}

struct shape *shape_find(struct type t)
{
	if (!t.u)
		return NULL;
	struct dwarf *d = t.u->file->dwarf;
	struct shapes *all = &d->variables->shapes;
	uint64_t hash = hash_more((uintptr_t)t.u->file, t.at);
	struct shape **known = all->shape;
	uint32_t id = TABLE_FIND(&all->table, hash, i, known[i]->asked.at == t.at &&
				 known[i]->asked.u->file == t.u->file);

	if (id == TABLE_NONE) {
		if (!dwarf_pay(t.u->file, sizeof(struct shape)))
			return NULL;
		dwarf_charge(d, sizeof(struct shape));
		all->shape = array_grow(all->shape, all->count, sizeof(*all->shape));
		id = all->count++;
		all->shape[id] = arena_alloc(&d->arena, sizeof(struct shape));
		read_shape(all->shape[id], t);
		table_add(&all->table, hash, id);
	}
	return all->shape[id]->kind == SHAPE_UNKNOWN ? NULL : all->shape[id];
}

void shapes_release(struct shapes *all)
{
	for (uint32_t i = 0; i < all->count; i++)
		free(all->shape[i]->member);
	free(all->shape);
	table_release(&all->table);
}
