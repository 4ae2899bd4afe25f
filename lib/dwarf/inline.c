/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inlined calls of one function: its tree of DIEs, flattened to disjoint
 * ranges, each with the innermost call there.  Where calls overlap, the one
 * that stands later in the file shows, as it does in LLVM's reader.
 */
#include "dwarf/constants.h"
#include "dwarf/internal.h"

#include <stdlib.h>

enum { DEPTH_MAX = 1000 };	/* of DIEs in each other; deeper ones are left out */

struct call_reader {
	struct unit *unit;
	struct code *code;
	struct spans spans;
	size_t calls;
	/* Of each list of children that we are in: the call around it. */
	uint32_t around[DEPTH_MAX];
	int depth;
	int hidden;		/* depth of the other function we are in; 0: none */
};

static uint32_t number(const struct die *die, enum slot slot)
{
	return die_has(die, slot) ? (uint32_t)die->value[slot].number : 0;
}

/* Add a call; returns its index. */
static uint32_t add_call(struct call_reader *r, const struct die *die)
{
	struct code *code = r->code;
	uint32_t index = (uint32_t)r->calls;

	code->call = array_grow(code->call, r->calls++, sizeof(*code->call));
	struct call *call = &code->call[index];
	*call = (struct call){
		.parent = r->around[r->depth], .call_file = number(die, A_CALL_FILE),
		.call_line = number(die, A_CALL_LINE), .call_column = number(die, A_CALL_COLUMN),
	};
	if (die_has(die, A_ORIGIN))
		call->file = value_reference(r->unit, &die->value[A_ORIGIN], &call->origin);
	die_ranges(r->unit, die, &r->spans, index);
	return index;
}

/* One DIE below the function.  False: the end, or damage. */
static bool read_one(struct call_reader *r, struct cursor *c)
{
	struct cursor start = *c;
	uint64_t code = cursor_uleb(c);

	if (c->failed)
		return false;
	if (code == 0) {
		if (r->hidden == r->depth)
			r->hidden = 0;
		return --r->depth > 0;
	}
	const struct abbrev *a = abbrev_of(r->unit, code);
	if (!a)
		return false;
	uint32_t inside = r->around[r->depth];
	if (a->tag == DW_TAG_inlined_subroutine && !r->hidden) {
		struct die die;
		*c = start;
		if (!die_read(r->unit, c, &die) || !ranges_pay(r->unit))
			return false;
		inside = add_call(r, &die);
	} else {
		bool is_block = a->tag == DW_TAG_inlined_subroutine ||
				a->tag == DW_TAG_lexical_block || a->tag == DW_TAG_try_block ||
				a->tag == DW_TAG_catch_block;
		if (!die_pass(r->unit, c, a, !is_block))
			return false;
		if (!is_block && a->has_sibling)
			return true;
	}
	if (!a->has_children)
		return true;
	if (r->depth + 1 >= DEPTH_MAX)
		return false;
	r->around[++r->depth] = inside;
	if (a->tag == DW_TAG_subprogram && !r->hidden)
		r->hidden = r->depth;	/* its calls are its own */
	return true;
}

void code_read_calls(struct unit *u, struct code *code)
{
	struct call_reader r = { .unit = u, .code = code, .depth = 1 };
	struct die die;

	if (code->calls_read)
		return;
	code->calls_read = true;
	struct cursor c = section_cursor(u->file, S_INFO, code->die);
	c.end = u->file->section[S_INFO].at + u->end;
	if (!die_read(u, &c, &die) || !die.abbrev || !die.abbrev->has_children)
		return;
	r.around[1] = SPAN_NONE;
	while (read_one(&r, &c))
		;
	code->flat = spans_flatten(&r.spans);
}
