/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member - the name of the member at an offset of a type: "[].lock", ".hits".
 *
 * Which member an access means is only known if one member alone covers the offset.  If several
 * do, those of a union or bit-fields of one byte, the name has all of them, and ends there.
 */
#include "base/bisect.h"
#include "base/text.h"
#include "dwarf/data.h"
#include "record/words.h"

#include <stdio.h>

enum { SHOWN_MAX = 3 };		/* members that cover the same offset */

/* The name so far. */
struct path {
	char *text;
	size_t size, used;
	bool is_full;		/* the rest does not fit */
};

static void append(struct path *p, const char *before, const char *name)
{
	size_t more = strlen(before) + strnlen(name, STRING_MAX);

	if (p->is_full || more >= p->size - p->used) {
		p->is_full = true;
		return;
	}
	p->used += (size_t)snprintf(p->text + p->used, p->size - p->used, "%s%s", before, name);
}

static bool covers(const struct shape_member *m, uint64_t offset)
{
	return offset >= m->start && (m->size == SIZE_UNKNOWN || offset - m->start < m->size);
}

/* Return the index after the members of S that may cover OFFSET. */
static uint32_t members_until(const struct shape *s, uint64_t offset)
{
	return (uint32_t)BISECT(0, s->members, i, s->member[i].start > offset);
}

/*
 * Append the members of S, a structure, at *OFFSET.  Return the shape of the member if it is one
 * alone, and set *OFFSET to the offset in it; otherwise NULL.  *IS_KNOWN: there is a member, or
 * padding.
 */
static struct shape *step_into(struct path *p, struct shape *s, uint64_t *offset, bool *is_known)
{
	struct shape_member *only = NULL;
	uint32_t count = 0;

	shape_read_members(s);
	uint32_t until = members_until(s, *offset), first = until;
	while (first > 0 && s->member[first - 1].reach > *offset)
		first--;
	for (uint32_t i = first; i < until && count <= SHOWN_MAX; i++) {
		if (!covers(&s->member[i], *offset))
			continue;
		only = &s->member[i];
		append(p, !count ? "." : "|", count < SHOWN_MAX ? only->name : "...");
		count++;
	}
	*is_known = count > 0 || (*offset < s->size && !s->is_partial);
	if (count == 0 && *is_known)
		append(p, ".", WORD_PADDING);
	if (count != 1 || only->is_bits)
		return NULL;
	*offset -= only->start;
	if (!only->shape)
		only->shape = shape_find(only->type);
	return only->shape;
}

/* Append the dimensions of the array S; return the shape of its elements, or NULL. */
static struct shape *step_into_array(struct path *p, struct shape *s, uint64_t *offset)
{
	for (unsigned i = 0; i < s->dimensions; i++)
		append(p, "[]", "");
	if (!s->element_size)
		return NULL;
	*offset %= s->element_size;
	if (!s->inner)
		s->inner = shape_find(s->element);
	return s->inner;
}

bool member_write(struct shape *s, uint64_t offset, char *text, size_t size)
{
	struct path p = { .text = text, .size = size };
	bool is_known = true;

	*text = '\0';
	/* a structure may end with an array without bounds */
	if (s->kind != SHAPE_STRUCTURE && offset >= s->size)
		return false;
	for (int level = 0; s && is_known && level < LEVELS_MAX; level++)
		s = s->kind == SHAPE_ARRAY ? step_into_array(&p, s, &offset)
		  : s->kind == SHAPE_STRUCTURE ? step_into(&p, s, &offset, &is_known) : NULL;
	text_make_safe(text);
	return is_known;
}
