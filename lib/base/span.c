/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flattens overlapping address ranges: a sweep over the starts, with a heap of the ranges that are
 * open at the current address, the one added last on top.
 */
#include "base/span.h"

#include <stdbool.h>
#include <stdlib.h>

void spans_add(struct spans *s, uint64_t start, uint64_t end, uint32_t value)
{
	if (start >= end)
		return;
	if (s->count == s->room) {
		s->room = 2 * s->room + 8;
		s->at = mem_resize(s->at, s->room * sizeof(*s->at));
	}
	s->at[s->count++] = (struct span){ start, end, value };
}

/* From START on, the value is VALUE.  make_room() has made room for it. */
static inline void show(struct flats *f, uint64_t start, uint32_t value)
{
	if (f->count && f->at[f->count - 1].start == start)
		f->count--;
	if (f->count ? f->at[f->count - 1].value != value : value != SPAN_NONE)
		f->at[f->count++] = (struct flat){ start, value };
}

/* The open spans are a heap, the last one first. */
static struct heap_item item_of(size_t span)
{
	return (struct heap_item){ .key = UINT64_MAX - span, .value = span };
}

/* Close the open spans that end at or before ADDRESS. */
static void close_until(const struct span *span, struct heap *open, uint64_t address,
			struct flats *out)
{
	while (open->count && span[open->item[0].value].end <= address) {
		uint64_t end = span[open->item[0].value].end;
		heap_remove(open);
		while (open->count && span[open->item[0].value].end <= end)
			heap_remove(open);		/* it was covered up to its end */
		show(out, end, open->count ? span[open->item[0].value].value : SPAN_NONE);
	}
}

/* Make room to sort and flatten S. */
static void make_room(struct spans *s)
{
	if (s->count <= s->sortable)
		return;
	s->sortable = s->room;
	s->key = mem_resize(s->key, 2 * s->sortable * sizeof(*s->key));
	/* A span adds two elements at most, at its start and at its end. */
	s->flat = mem_resize(s->flat, 2 * s->sortable * sizeof(*s->flat));
}

/*
 * Return the spans in order of their starts, those with equal starts in the order in which they
 * were added.  NULL: the spans were added in order.
 */
static const struct sort_key *in_order(struct spans *s)
{
	size_t i = 1;

	while (i < s->count && s->at[i - 1].start <= s->at[i].start)
		i++;
	if (i >= s->count)
		return NULL;
	for (i = 0; i < s->count; i++)
		s->key[i] = (struct sort_key){ s->at[i].start, i };
	return sort_keys(s->key, s->key + s->count, s->count);
}

struct flats spans_flatten(struct spans *s, struct arena *arena)
{
	struct heap *open = &s->open;

	make_room(s);
	const struct sort_key *key = in_order(s);
	struct flats out = { .at = s->flat };
	for (size_t i = 0; i < s->count; i++) {
		size_t item = key ? key[i].item : i;
		const struct span *span = &s->at[item];
		uint64_t next = i + 1 == s->count ? UINT64_MAX
			: s->at[key ? key[i + 1].item : i + 1].start;
		close_until(s->at, open, span->start, &out);
		if (!open->count && span->start < span->end && span->end <= next) {
			show(&out, span->start, span->value);	/* it overlaps no other */
			show(&out, span->end, SPAN_NONE);
			continue;
		}
		heap_add(open, item_of(item));
		show(&out, span->start, s->at[open->item[0].value].value);
	}
	close_until(s->at, open, UINT64_MAX, &out);
	out.at = arena_copy(arena, out.at, out.count * sizeof(*out.at));
	BINS_MAKE(&out.bins, arena, out.count, i, out.at[i].start);
	s->count = 0;
	return out;
}

void spans_release(struct spans *s)
{
	free(s->at);
	free(s->key);
	free(s->flat);
	heap_release(&s->open);
	*s = (struct spans){ 0 };
}

uint32_t flats_narrow(const struct flats *f, uint64_t address, struct extent *same)
{
	size_t next = BINS_BISECT(&f->bins, f->at, address, f->count, i, f->at[i].start > address);

	extent_narrow(same, next ? f->at[next - 1].start : 0,
		      next < f->count ? f->at[next].start : UINT64_MAX);
	return next ? f->at[next - 1].value : SPAN_NONE;
}
