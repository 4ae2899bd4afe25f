/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definition - where a structure is defined that a unit only declares.
 *
 * Compilers describe a class of C++ in one unit, and declare it in the others.  The declaration
 * and the definition have the same name in the same scopes; or the definition refers to the
 * declaration, which is in another class.
 */
#include "dwarf/constants.h"
#include "dwarf/data.h"

#include <stdlib.h>

enum { DEPTH_MAX = 64 };	/* lists of children within each other; the search ends there */

/* Goes through the DIEs of a unit, and knows the scopes around each. */
struct scopes {
	struct unit *u;
	struct cursor c;
	uint64_t scope[DEPTH_MAX];	/* hash of the scopes, by depth */
	unsigned depth;
};

static uint64_t place_hash(const struct dwarf_file *f, uint64_t offset)
{
	return hash_more((uintptr_t)f, offset);
}

/* Return the hash of the name of DIE, at OFFSET of U, in SCOPE. */
static uint64_t name_hash(struct unit *u, const struct die *die, uint64_t offset, uint64_t scope)
{
	const char *text = die_has(die, A_NAME) ? form_string(u, &die->value[A_NAME]) : NULL;
	size_t size = text ? strnlen(text, STRING_MAX) : 0;

	if (!size || !dwarf_pay(u->file, size / STRING_COST + 1))
		return hash_more(place_hash(u->file, offset), scope);	/* a scope of its own */
	return hash_more(scope, hash_bytes(text, size));
}

/* Add TYPE, of SIZE bytes, as the definition for HASH; two that differ are none. */
static void add(struct definitions *d, uint64_t hash, struct type type, uint64_t size)
{
	uint32_t at = TABLE_FIND(&d->table, hash, i, d->at[i].hash == hash);

	if (at != TABLE_NONE) {
		if (d->at[at].size != size)
			d->at[at].type.u = NULL;
		return;
	}
	if (!dwarf_pay(type.u->file, sizeof(*d->at)))
		return;
	d->at = array_grow(d->at, d->count, sizeof(*d->at));
	d->at[d->count] = (struct definition){ hash, size, type };
	table_add(&d->table, hash, d->count++);
}

/* If DIE, at OFFSET of U, defines a structure, add it to D.  NAMED: the hash of its name. */
static void add_structure(struct definitions *d, struct unit *u, const struct die *die,
			  uint64_t offset, uint64_t named)
{
	const struct type type = { u, offset };
	uint64_t declared;

	if (die_has(die, A_DECLARATION) || !die_has(die, A_BYTE_SIZE))
		return;
	uint64_t size = die->value[A_BYTE_SIZE].number;
	if (die_has(die, A_NAME))
		add(d, named, type, size);
	if (!die_has(die, A_SPECIFICATION))
		return;
	struct dwarf_file *f = form_reference(u, &die->value[A_SPECIFICATION], &declared);
	if (f)
		add(d, place_hash(f, declared), type, size);
}

/* Go past one DIE.  D: add the structure to it, or NULL.  False: the end, damage or a limit. */
static bool scopes_step(struct scopes *s, struct definitions *d)
{
	const uint8_t *start = s->c.at, *info = s->u->file->section[S_INFO].at;
	uint64_t offset = (uint64_t)(start - info), code = cursor_uleb(&s->c);
	struct die die;

	if (s->c.failed)
		return false;
	if (code == 0) {
		s->depth -= s->depth > 0;
		return true;
	}
	const struct abbrev *a = abbrev_of(s->u, code);
	if (!a)
		return false;
	uint64_t scope = s->scope[s->depth], inner = scope;
	bool has_children = a->has_children, is_structure = tag_is_structure(a->tag);
	if (is_structure || a->tag == DW_TAG_namespace) {
		s->c.at = start;
		if (!die_read(s->u, &s->c, &die))
			return false;
		inner = name_hash(s->u, &die, offset, scope);
		if (is_structure && d)
			add_structure(d, s->u, &die, offset, inner);
	} else {
		if (a->tag == DW_TAG_subprogram)
			inner = place_hash(s->u->file, offset);
		has_children &= !a->has_sibling;
		if (!die_pass(s->u, &s->c, a, true))
			return false;
	}
	if (!has_children)
		return true;
	if (++s->depth == DEPTH_MAX)
		return false;
	s->scope[s->depth] = inner;
	return true;
}

static struct scopes scopes_of(struct unit *u)
{
	return (struct scopes){ .u = u, .c = unit_cursor(u, u->dies) };
}

/* Add the structures of all units of F. */
static void read_file(struct definitions *d, struct dwarf_file *f)
{
	for (size_t i = 0; f && i < f->units; i++) {
		struct unit *u = &f->unit[i];
		if (u->type == DW_UT_type || !unit_read_root(u))
			continue;
		struct scopes s = scopes_of(unit_with_code(u));
		while (s.c.at < s.c.end && scopes_step(&s, d))
			;
	}
}

/* Return the hash of the scopes of T and its name, with DIE.  0: they are unknown. */
static uint64_t scoped_name(struct type t, const struct die *die)
{
	struct scopes s = scopes_of(t.u);
	const uint8_t *until = t.u->file->section[S_INFO].at + t.at;

	if (!die_has(die, A_NAME) || !dwarf_pay(t.u->file, t.at - t.u->dies))
		return 0;
	while (s.c.at < until && scopes_step(&s, NULL))
		;
	return s.c.at == until ? name_hash(t.u, die, t.at, s.scope[s.depth]) : 0;
}

struct type definition_of(struct type t, const struct die *die)
{
	struct dwarf *dwarf = t.u->file->dwarf;
	struct definitions *d = &dwarf->variables->definitions;
	uint64_t hash[2] = { place_hash(t.u->file, t.at), scoped_name(t, die) };

	if (!d->is_read) {
		d->is_read = true;
		read_file(d, dwarf->main);
		read_file(d, dwarf->alternate);
		dwarf_charge(dwarf, d->count * sizeof(*d->at));
	}
	for (int i = 0; i < 2; i++) {
		uint32_t at = TABLE_FIND(&d->table, hash[i], k, d->at[k].hash == hash[i]);
		if (at != TABLE_NONE)
			return d->at[at].type;
	}
	return (struct type){ NULL, 0 };
}

void definitions_release(struct definitions *d)
{
	free(d->at);
	table_release(&d->table);
}
