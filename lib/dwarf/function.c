/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a unit, and their names.
 *
 * All DIEs of a unit are read in the order of the file, at any depth: compilers put lambdas,
 * which are functions with code, into types inside functions.  If a DIE has the offset of its
 * sibling, its children are skipped in two cases.  Types outside functions: the code of their
 * functions is described in DIEs beside the type.  Instances of functions: their types are in
 * the abstract instance.
 */
#include "dwarf/constants.h"
#include "dwarf/internal.h"

#include <stdlib.h>

static void add_function(struct unit *u, uint64_t offset, const struct die *die,
			 struct spans *spans)
{
	size_t before = spans->count;

	if (u->codes >= SPAN_NONE)
		return;
	die_ranges(u, die, spans, (uint32_t)u->codes);
	if (spans->count == before)
		return;
	u->code = array_grow(u->code, u->codes, sizeof(*u->code));
	u->code[u->codes++] = (struct dwarf_code){ .die = offset };
}

/* Return the end of the children of the DIE of A with its attributes at C; if unknown, C. */
static const uint8_t *after_children(const struct unit *u, struct cursor c, const struct abbrev *a)
{
	const uint8_t *here = c.at;

	return a->has_sibling && die_pass(u, &c, a, true) ? c.at : here;
}

void unit_read_functions(struct unit *u)
{
	enum { AHEAD = 512, LINE = 64 };
	const uint8_t *info = u->file->section[S_INFO].at, *inside = info, *ahead;
	struct cursor c = unit_cursor(u, u->dies);
	struct spans spans = { 0 };
	struct die die;

	u->functions_read = true;
	for (ahead = c.at; c.at < c.end; ) {
		struct cursor start = c;
		/* Prefetch: the CPU cannot predict the jumps over children. */
		for (ahead = ahead < c.at ? c.at : ahead; ahead < c.at + AHEAD; ahead += LINE)
			__builtin_prefetch(ahead);
		uint64_t code = cursor_uleb(&c);
		if (code == 0)
			continue;
		const struct abbrev *a = abbrev_of(u, code);
		if (!a) {
			unit_damaged(u, start.at);
			break;
		}
		bool is_inside = c.at < inside;
		if (a->tag == DW_TAG_subprogram && !a->is_codeless && !is_inside)
			inside = after_children(u, c, a);
		if (a->is_function) {
			c = start;
			if (!die_read(u, &c, &die)) {
				unit_damaged(u, start.at);
				break;
			}
			add_function(u, (uint64_t)(start.at - info), &die, &spans);
			if (a->is_instance && !is_inside && c.at < inside)
				c.at = inside;
		} else if (!die_pass(u, &c, a, a->is_codeless || a->is_instance ||
					       (a->is_class && !is_inside))) {
			unit_damaged(u, start.at);
			break;
		}
	}
	u->functions = spans_flatten(&spans, &u->file->dwarf->arena);
	spans_release(&spans);
	dwarf_charge(u->file->dwarf, u->codes * sizeof(*u->code) +
		     u->functions.count * sizeof(*u->functions.at));
}

struct dwarf_file *form_reference(const struct unit *u, const struct value *v, uint64_t *offset)
{
	*offset = v->number;
	switch (v->kind) {
	case V_REFERENCE:
		return u->file;
	case V_ALTERNATE_REFERENCE:
		return u->file->dwarf->alternate;
	default:
		return NULL;
	}
}

/*
 * Return the string V; NULL: none, or not enough fuel is left.  A string takes fuel each time,
 * because strings may overlap, and the receiver of the name reads it again.
 */
static const char *name_of(struct unit *u, const struct value *v)
{
	const char *text = form_string(u, v);

	return text && dwarf_pay(u->file, strnlen(text, STRING_MAX) / STRING_COST) ? text : NULL;
}

/* Fill missing fields of FUNCTION from DIE.  Return the reference to the next DIE, or NULL. */
static const struct value *take_names(struct unit *u, const struct die *die,
				      struct dwarf_function *function)
{
	if (!function->linkage_name && die_has(die, A_LINKAGE_NAME))
		function->linkage_name = name_of(u, &die->value[A_LINKAGE_NAME]);
	if (!function->name && die_has(die, A_NAME))
		function->name = name_of(u, &die->value[A_NAME]);
	if (!function->line && die_has(die, A_DECL_LINE))
		function->line = (uint32_t)die->value[A_DECL_LINE].number;
	if (!function->file && die_has(die, A_DECL_FILE))
		function->file = lines_path(unit_lines(u), die->value[A_DECL_FILE].number);
	return die_has(die, A_ORIGIN) ? &die->value[A_ORIGIN]
		: die_has(die, A_SPECIFICATION) ? &die->value[A_SPECIFICATION] : NULL;
}

bool die_at(struct unit *u, uint64_t offset, struct die *die)
{
	enum { NAMED_MAX = 2 * STRING_MAX };	/* bytes of a DIE with names */
	struct dwarf_file *f = u->file;
	struct cursor c = unit_cursor(u, offset);
	uint64_t most = u->end - offset;
	const uint8_t *start = c.at;

	most = most < NAMED_MAX ? most : NAMED_MAX;
	most = most < f->fuel.left ? most : f->fuel.left;
	if (c.failed)
		return false;
	c.end = start + most;
	bool is_good = die_read(u, &c, die);
	return dwarf_pay(f, is_good ? (uint64_t)(c.at - start) : most) && is_good && die->abbrev;
}

static void read_names(struct dwarf_file *f, uint64_t offset, struct dwarf_function *function)
{
	enum { HOPS = 8 };	/* usual: an instance, its abstract instance, its declaration */
	struct die die;

	for (int hop = 0; hop < HOPS && f; hop++) {
		struct unit *u = unit_at(f, offset);
		if (!u || !die_at(u, offset, &die))
			return;
		const struct value *next = take_names(u, &die, function);
		if (!next)
			return;
		f = form_reference(u, next, &offset);
	}
}

/* A function, with the file and the offset of its DIE. */
struct named {
	struct dwarf_function function;
	struct dwarf_file *file;
	uint64_t die;			/* offset in .debug_info */
};

enum { TOGETHER = 64 };		/* functions that are allocated together */

static inline struct named *named_at(const struct dwarf *d, uint32_t id)
{
	return &d->named[id / TOGETHER][id % TOGETHER];
}

const struct dwarf_function *function_at(struct dwarf_file *f, uint64_t die)
{
	static const struct dwarf_function nameless;
	struct dwarf *d = f->dwarf;
	uint64_t hash = hash_more((uintptr_t)f, die);
	uint32_t id = TABLE_FIND(&d->function_table, hash, i,
				 named_at(d, i)->die == die && named_at(d, i)->file == f);

	if (id != TABLE_NONE)
		return &named_at(d, id)->function;
	if (!dwarf_pay(f, sizeof(struct named)))
		return &nameless;
	dwarf_charge(d, sizeof(struct named));
	id = d->functions++;
	if (id % TOGETHER == 0) {
		d->named = array_grow(d->named, id / TOGETHER, sizeof(*d->named));
		d->named[id / TOGETHER] = arena_alloc(&d->arena, TOGETHER * sizeof(**d->named));
	}
	struct named *named = named_at(d, id);
	*named = (struct named){ .file = f, .die = die };
	table_add(&d->function_table, hash, id);
	read_names(f, die, &named->function);
	return &named->function;
}
