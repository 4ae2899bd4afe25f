/* SPDX-License-Identifier: Apache-2.0 */
/* type - the types of variables and members: what they are, and how large. */
#include "dwarf/constants.h"
#include "dwarf/data.h"

struct children children_of(struct unit *u, uint64_t offset)
{
	struct children all = { .u = u, .c = unit_cursor(u, offset) };

	all.start = all.c.at;
	all.is_done = all.c.failed;
	if (all.is_done)
		return all;
	const struct abbrev *a = abbrev_of(u, cursor_uleb(&all.c));
	all.is_done = !a || !a->has_children || !die_pass(u, &all.c, a, false);
	return all;
}

/* Pay for the bytes that were read since the last time. */
static bool pay(struct children *all)
{
	uint64_t read = (uint64_t)(all->c.at - all->start);

	all->start = all->c.at;
	return dwarf_pay(all->u->file, read);
}

bool children_next(struct children *all, struct die *die, uint64_t *offset)
{
	const uint8_t *info = all->u->file->section[S_INFO].at;
	struct cursor *c = &all->c;

	while (!all->is_done) {
		const uint8_t *start = c->at;
		if (c->failed || !pay(all))
			break;
		uint64_t code = cursor_uleb(c);
		if (c->failed || (code == 0 && all->depth == 0))
			break;
		if (code == 0) {
			all->depth--;
			continue;
		}
		const struct abbrev *a = abbrev_of(all->u, code);
		if (!a)
			break;
		if (all->depth > 0) {
			if (!die_pass(all->u, c, a, true))
				break;
			all->depth += a->has_children && !a->has_sibling;
			continue;
		}
		bool has_children = a->has_children;
		c->at = start;
		if (!die_read(all->u, c, die) || !pay(all))
			break;
		all->depth += has_children;
		*offset = (uint64_t)(start - info);
		return true;
	}
	all->is_done = true;
	return false;
}

/* Index the type units of F by their signatures. */
static void read_signatures(struct variables *v, struct dwarf_file *f)
{
	for (size_t i = 0; f && i < f->units; i++) {
		struct unit *u = &f->unit[i];
		if ((u->type != DW_UT_type && u->type != DW_UT_split_type) || u->is_bad ||
		    !dwarf_pay(f, sizeof(*v->signed_type)))
			continue;
		v->signed_type = array_grow(v->signed_type, v->signed_types,
					    sizeof(*v->signed_type));
		v->signed_type[v->signed_types] = (struct signed_type){ u->signature, u };
		table_add(&v->signed_table, hash_u64(u->signature), v->signed_types++);
	}
}

/* Return the type whose unit has SIGNATURE. */
static struct type find_signature(struct dwarf *d, uint64_t signature)
{
	struct variables *v = d->variables;
	const struct type none = { NULL, 0 };

	if (!v->signatures_read) {
		v->signatures_read = true;
		d->types = dwarf_file_open_types(d, d->main->elf);
		read_signatures(v, d->main);
		read_signatures(v, d->types);
		read_signatures(v, d->package);
	}
	uint32_t at = TABLE_FIND(&v->signed_table, hash_u64(signature), i,
				 v->signed_type[i].signature == signature);
	if (at == TABLE_NONE)
		return none;
	struct unit *u = v->signed_type[at].u;
	if (u->type_at >= u->end - u->offset || u->offset + u->type_at < u->dies ||
	    !unit_read_root(u))
		return none;
	return (struct type){ u, u->offset + u->type_at };
}

struct type type_at(struct unit *u, const struct value *v)
{
	uint64_t offset;

	if (v->kind == V_SIGNATURE)
		return find_signature(u->file->dwarf, v->number);
	struct dwarf_file *f = form_reference(u, v, &offset);
	return (struct type){ f ? unit_at(f, offset) : NULL, offset };
}

struct type type_of(struct unit *u, const struct die *die)
{
	return die_has(die, A_TYPE) ? type_at(u, &die->value[A_TYPE]) : (struct type){ NULL, 0 };
}

/* Return whether a type with TAG is another type with a name or a qualifier. */
static bool is_qualifier(uint16_t tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type ||
	       tag == DW_TAG_immutable_type || tag == DW_TAG_packed_type ||
	       tag == DW_TAG_shared_type;
}

bool type_read(struct type *t, struct die *die)
{
	bool was_declared = false;

	for (int hop = 0; hop < TYPE_HOPS && t->u && die_at(t->u, t->at, die); hop++) {
		uint16_t tag = die->abbrev->tag;
		if (is_qualifier(tag)) {
			*t = type_of(t->u, die);
		} else if (tag_is_structure(tag) && die_has(die, A_SIGNATURE)) {
			*t = type_at(t->u, &die->value[A_SIGNATURE]);
		} else if (tag_is_structure(tag) && die_has(die, A_DECLARATION)) {
			if (was_declared)
				return false;
			was_declared = true;
			*t = definition_of(*t, die);
		} else {
			return true;
		}
	}
	return false;
}

/* Set *NUMBER to the value of SLOT.  False: there is none, or it depends on the program. */
static bool constant(const struct die *die, enum slot slot, uint64_t *number)
{
	if (!die_has(die, slot) || die->value[slot].kind != V_CONSTANT)
		return false;
	*number = die->value[slot].number;
	return true;
}

/* Return the number of elements in the dimension DIE of an array, or SIZE_UNKNOWN. */
static uint64_t count_of(const struct die *die)
{
	uint64_t count, upper, lower = 0;

	if (constant(die, A_COUNT, &count))
		return count;
	constant(die, A_LOWER_BOUND, &lower);
	return constant(die, A_UPPER_BOUND, &upper) ? upper - lower + 1 : SIZE_UNKNOWN;
}

/* Return the product of the dimensions of the array T, or SIZE_UNKNOWN; set *DIMENSIONS. */
static uint64_t elements_of(struct type t, unsigned *dimensions)
{
	struct children all = children_of(t.u, t.at);
	uint64_t product = 1, offset;
	struct die die;

	*dimensions = 0;
	while (*dimensions < TYPE_HOPS && children_next(&all, &die, &offset)) {
		if (die.abbrev->tag != DW_TAG_subrange_type)
			continue;
		++*dimensions;
		uint64_t count = count_of(&die);
		if (count == SIZE_UNKNOWN || product == SIZE_UNKNOWN ||
		    __builtin_mul_overflow(product, count, &product))
			product = SIZE_UNKNOWN;
	}
	return *dimensions ? product : SIZE_UNKNOWN;
}

static uint64_t size_at_level(struct type t, int level);

/* Return the size of the array T with DIE, or SIZE_UNKNOWN. */
static uint64_t array_size(struct type t, const struct die *die, int level)
{
	unsigned dimensions;
	uint64_t size = size_at_level(type_of(t.u, die), level + 1);
	uint64_t count = elements_of(t, &dimensions);

	return size == SIZE_UNKNOWN || count == SIZE_UNKNOWN ||
	       __builtin_mul_overflow(size, count, &size) ? SIZE_UNKNOWN : size;
}

/* Return the size of T, which is an element of LEVEL arrays. */
static uint64_t size_at_level(struct type t, int level)
{
	struct die die;
	uint64_t size;

	if (level == LEVELS_MAX || !type_read(&t, &die))
		return SIZE_UNKNOWN;
	if (constant(&die, A_BYTE_SIZE, &size))
		return size;
	switch (die.abbrev->tag) {
	case DW_TAG_array_type:
		return array_size(t, &die, level);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return t.u->address_size;
	case DW_TAG_subrange_type:
	case DW_TAG_enumeration_type:
		return size_at_level(type_of(t.u, &die), level + 1);
	}
	return SIZE_UNKNOWN;
}

uint64_t type_size(struct type t)
{
	return size_at_level(t, 0);
}

uint64_t type_element(struct type t, const struct die *die, struct type *element,
		      unsigned *dimensions)
{
	*element = type_of(t.u, die);
	elements_of(t, dimensions);
	uint64_t size = type_size(*element);
	return *dimensions == 0 || size == SIZE_UNKNOWN ? 0 : size;
}
