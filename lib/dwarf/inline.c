/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inlined calls of one function: its tree of DIEs, flattened to disjoint address ranges,
 * each with the innermost call there.  If calls overlap, the call later in the file wins, as
 * in LLVM's reader.
 */
#include "dwarf/constants.h"
#include "base/bisect.h"
#include "dwarf/internal.h"

#include <stdlib.h>

enum {
	DEPTH_MAX = 1000,	/* nested DIEs; the search ends at a deeper DIE */
	KEPT_MAX = 1 << 14,	/* ranges or calls for which memory is kept for the next function */
};

#define DAMAGED UINT64_MAX	/* code.end: the end was searched for and not found */

/* A function nested in the function being read.  Its calls are not ours. */
struct inner {
	struct dwarf_code *code;
	size_t depth;		/* of its list of children */
};

/* Reads the calls of one function after the other, so it keeps its memory. */
struct call_reader {
	struct unit *unit;	/* of the function being read */
	struct spans spans;	/* address ranges of its calls */
	struct call *call;
	size_t calls, room;	/* in CALL; allocated */
	/* By depth of the current lists of children: the index of the call around the list. */
	uint32_t around[DEPTH_MAX];
	size_t depth;		/* of the current list; 1: the function's children */
	size_t hidden;		/* depth of the outermost nested function's children; 0: none */
	struct inner *inner;	/* current nested functions with code, the innermost last */
	size_t inners;
};

static uint32_t number(const struct die *die, enum slot slot)
{
	return die_has(die, slot) ? (uint32_t)die->value[slot].number : 0;
}

/* Add the inlined call DIE, and return its index. */
static uint32_t add_call(struct call_reader *r, const struct die *die)
{
	uint32_t index = (uint32_t)r->calls++;

	if (index == r->room) {
		r->room = 2 * r->room + 8;
		r->call = mem_resize(r->call, r->room * sizeof(*r->call));
	}
	struct call *call = &r->call[index];
	*call = (struct call){
		.parent = r->around[r->depth], .call_file = number(die, A_CALL_FILE),
		.call_line = number(die, A_CALL_LINE), .call_column = number(die, A_CALL_COLUMN),
	};
	if (die_has(die, A_ORIGIN))
		call->file = form_reference(r->unit, &die->value[A_ORIGIN], &call->origin);
	die_ranges(r->unit, die, &r->spans, index);
	return index;
}

/* Return the function with its DIE at offset DIE, or NULL. */
static struct dwarf_code *find_code(const struct unit *u, uint64_t die)
{
	size_t at = BISECT(0, u->codes, i, u->code[i].die >= die);

	return at < u->codes && u->code[at].die == die ? &u->code[at] : NULL;
}

/* End the current list of children, just before C.  False: it was the list of the function. */
static bool end_children(struct call_reader *r, const struct cursor *c)
{
	const uint8_t *info = r->unit->file->section[S_INFO].at;

	if (r->hidden == r->depth)
		r->hidden = 0;
	if (r->inners && r->inner[r->inners - 1].depth == r->depth)
		r->inner[--r->inners].code->end = (uint64_t)(c->at - info);
	return --r->depth > 0;
}

/*
 * Enter the children, at C, of the nested function at OFFSET, or skip them if their end is
 * known.  Each end is searched for only once, so nested functions do not take quadratic time.
 * False: the end was not found before.
 */
static bool enter_function(struct call_reader *r, struct cursor *c, uint64_t offset)
{
	struct dwarf_code *inner = find_code(r->unit, offset);

	if (inner && inner->end == DAMAGED)
		return false;
	if (inner && inner->end) {
		c->at = r->unit->file->section[S_INFO].at + inner->end;
		return true;
	}
	r->depth++;
	if (!r->hidden)
		r->hidden = r->depth;	/* from here on, calls belong to the nested function */
	if (!inner)
		return true;
	r->inner = array_grow(r->inner, r->inners, sizeof(*r->inner));
	r->inner[r->inners++] = (struct inner){ inner, r->depth };
	return true;
}

/* Read one DIE below the function.  False: the end, damage, or a limit. */
static inline bool read_one(struct call_reader *r, struct cursor *c)
{
	const uint8_t *start = c->at;
	uint64_t code = cursor_uleb(c);

	if (c->failed)
		return false;
	if (code == 0)
		return end_children(r, c);
	const struct abbrev *a = abbrev_of(r->unit, code);
	if (!a) {
		unit_damaged(r->unit, start);
		return false;
	}
	uint32_t inside = r->hidden ? SPAN_NONE : r->around[r->depth];
	if (!a->is_block) {
		if (!die_pass(r->unit, c, a, true))
			return false;
		if (a->has_sibling)
			return true;
	} else if (a->tag == DW_TAG_inlined_subroutine && !r->hidden) {
		struct die die;
		c->at = start;
		if (!die_read(r->unit, c, &die) || !dwarf_pay(r->unit->file, sizeof(struct call)))
			return false;
		inside = add_call(r, &die);
	} else if (!die_pass(r->unit, c, a, false)) {
		return false;
	}
	if (!a->has_children)
		return true;
	if (a->tag == DW_TAG_subprogram)
		return enter_function(r, c, (uint64_t)(start -
						       r->unit->file->section[S_INFO].at));
	r->depth++;
	if (r->hidden)
		return true;
	if (r->depth >= DEPTH_MAX)
		return false;
	r->around[r->depth] = inside;
	return true;
}

void call_reader_free(struct call_reader *r)
{
	if (!r)
		return;
	spans_release(&r->spans);
	free(r->call);
	free(r->inner);
	free(r);
}

void inline_read_calls(struct unit *u, struct dwarf_code *code)
{
	struct dwarf *d = u->file->dwarf;

	code->calls_read = true;
	struct cursor c = unit_cursor(u, code->die);
	const struct abbrev *a = abbrev_of(u, cursor_uleb(&c));
	if (!a || !a->has_children || !die_pass(u, &c, a, false))
		return;
	if (!d->call_reader)
		d->call_reader = mem_zeroed(1, sizeof(*d->call_reader));
	struct call_reader *r = d->call_reader;
	r->unit = u;
	r->calls = r->hidden = 0;
	r->depth = 1;
	r->around[1] = SPAN_NONE;
	while (read_one(r, &c))
		;
	while (r->inners)	/* their end was not found */
		r->inner[--r->inners].code->end = DAMAGED;
	code->call = arena_copy(&d->arena, r->call, r->calls * sizeof(*r->call));
	code->flat = spans_flatten(&r->spans, &d->arena);
	dwarf_charge(d, r->calls * sizeof(*code->call) +
		     code->flat.count * sizeof(*code->flat.at));
	if (r->spans.room > KEPT_MAX || r->room > KEPT_MAX) {
		call_reader_free(r);
		d->call_reader = NULL;
	}
}
