/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variable - the variables with fixed addresses, and the names of their members.
 *
 * .debug_aranges is about code only, so all DIEs are read once, when the first variable is looked
 * up.  That takes as long as to read the functions of all units.
 */
#include "base/bisect.h"
#include "base/sort.h"
#include "dwarf/constants.h"
#include "dwarf/data.h"

#include <stdlib.h>

enum { SAME_MAX = 8 };		/* DIEs of one variable that are tried */

/* Set *ADDRESS to the address that V, a location, stands for.  False: it is not a fixed one. */
static bool fixed_address(const struct unit *u, const struct value *v, uint64_t *address)
{
	struct value place = { .kind = V_ADDRESS };

	if (v->kind != V_BLOCK || !v->size)
		return false;
	const uint8_t *at = (const uint8_t *)(uintptr_t)v->number;
	struct cursor c = { .at = at, .end = at + v->size, .swap = u->file->swap };
	uint8_t op = cursor_u8(&c);
	if (op == DW_OP_addr) {
		place.number = form_number(&c, u->address_size);
	} else if (op == DW_OP_addrx || op == DW_OP_GNU_addr_index) {
		place.kind = V_ADDRESS_INDEX;
		place.number = cursor_uleb(&c);
	} else {
		return false;
	}
	/* 0 and -1: the linker has left it out */
	if (c.failed || !form_address(u, &place, address) || *address == 0 ||
	    *address >= UINT64_MAX - 1)
		return false;
	if (cursor_left(&c) > 0 && cursor_u8(&c) == DW_OP_plus_uconst)	/* of merged variables */
		*address += cursor_uleb(&c);
	return !c.failed && cursor_left(&c) == 0;
}

static void add_variable(struct variables *v, struct unit *u, const struct die *die,
			 uint64_t offset)
{
	uint64_t address;

	if (!fixed_address(u, &die->value[A_LOCATION], &address) ||
	    !dwarf_pay(u->file, sizeof(*v->at)))
		return;
	v->at = array_grow(v->at, v->count, sizeof(*v->at));
	v->at[v->count++] = (struct variable){
		.address = address, .u = u, .die = offset };
}

/* Add the variables of U, at any depth. */
static void read_unit(struct variables *v, struct unit *u)
{
	const uint8_t *info = u->file->section[S_INFO].at;
	struct cursor c = unit_cursor(u, u->dies);
	struct die die;

	while (c.at < c.end) {
		const uint8_t *start = c.at;
		uint64_t code = cursor_uleb(&c);
		if (code == 0)
			continue;
		const struct abbrev *a = abbrev_of(u, code);
		bool is_good = a != NULL;
		if (a && a->tag == DW_TAG_variable && a->has >> A_LOCATION & 1) {
			c.at = start;
			is_good = die_read(u, &c, &die);
			if (is_good)
				add_variable(v, u, &die, (uint64_t)(start - info));
		} else if (a) {
			is_good = die_pass(u, &c, a, a->is_codeless);
		}
		if (!is_good) {
			unit_damaged(u, start);
			break;
		}
	}
}

/* Sort by address; DIEs of the same address keep their order. */
static void sort_variables(struct variables *v)
{
	struct sort_key *key = mem_zeroed(2 * v->count, sizeof(*key));
	struct variable *sorted = mem_zeroed(v->count, sizeof(*sorted));

	for (size_t i = 0; i < v->count; i++)
		key[i] = (struct sort_key){ v->at[i].address, i };
	const struct sort_key *by_address = sort_keys(key, key + v->count, v->count);
	for (size_t i = 0; i < v->count; i++)
		sorted[i] = v->at[by_address[i].item];
	free(v->at);
	v->at = sorted;
	free(key);
}

static struct variables *read_variables(struct dwarf *d)
{
	struct variables *v = mem_zeroed(1, sizeof(*v));

	d->variables = v;
	for (size_t i = 0; i < d->main->units; i++) {
		struct unit *u = &d->main->unit[i];
		if (u->type != DW_UT_type && unit_read_root(u))
			read_unit(v, unit_with_code(u));
	}
	if (v->count)
		sort_variables(v);
	dwarf_charge(d, v->count * sizeof(*v->at));
	return v;
}

/* Return the type of V: its DIE has it, or the declaration that this DIE refers to. */
static struct type type_of_variable(const struct variable *v)
{
	enum { HOPS = 4 };
	struct unit *u = v->u;
	uint64_t offset = v->die;
	struct die die;

	for (int hop = 0; hop < HOPS && u && die_at(u, offset, &die); hop++) {
		if (die_has(&die, A_TYPE))
			return type_of(u, &die);
		const struct value *next = die_has(&die, A_SPECIFICATION)
					   ? &die.value[A_SPECIFICATION]
					   : die_has(&die, A_ORIGIN) ? &die.value[A_ORIGIN] : NULL;
		struct dwarf_file *f = next ? form_reference(u, next, &offset) : NULL;
		u = f ? unit_at(f, offset) : NULL;
	}
	return (struct type){ NULL, 0 };
}

/* Return the shape of V, read once; NULL: unknown. */
static struct shape *shape_of(struct variable *v)
{
	if (!v->is_shape_read)
		v->shape = shape_find(type_of_variable(v));
	v->is_shape_read = true;
	return v->shape;
}

const char *dwarf_member(struct dwarf *d, uint64_t variable, uint64_t offset)
{
	if (!d)
		return NULL;
	struct variables *v = d->variables ? d->variables : read_variables(d);
	size_t first = BISECT(0, v->count, i, v->at[i].address >= variable);
	for (size_t i = first; i < v->count && i < first + SAME_MAX &&
	     v->at[i].address == variable; i++) {
		struct shape *s = shape_of(&v->at[i]);
		if (s && member_write(s, offset, v->member, sizeof(v->member)))
			return v->member;
	}
	return NULL;
}

void variables_free(struct variables *v)
{
	if (!v)
		return;
	shapes_release(&v->shapes);
	definitions_release(&v->definitions);
	free(v->at);
	free(v->signed_type);
	table_release(&v->signed_table);
	free(v);
}
