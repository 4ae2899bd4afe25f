/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flatten overlapping address ranges: a sweep over the starts, with a heap of the
 * ranges that are open at the current address, the one added last on top.
 */
#include "base/span.h"
#include "base/arena.h"
#include "base/bisect.h"
#include "base/heap.h"

#include <stdbool.h>
#include <stdlib.h>

/* A span's start, and its index. */
struct key {
	uint64_t start;
	size_t item;
};

void spans_add(struct spans *s, uint64_t start, uint64_t end, uint32_t value)
{
	s->at = array_grow(s->at, s->count, sizeof(*s->at));
	s->at[s->count++] = (struct span){ start, end, value };
}

/* Merge FROM[first..middle) and FROM[middle..end), which are sorted, into TO. */
static void merge(const struct key *from, struct key *to, size_t first, size_t middle, size_t end)
{
	size_t one = first, other = middle;

	for (size_t i = first; i < end; i++)
		to[i] = one < middle && (other == end || from[one].start <= from[other].start)
			? from[one++] : from[other++];
}

/* Sort by start, equal starts by item (a stable sort).  SPARE has room for COUNT. */
static struct key *sort(struct key *key, struct key *spare, size_t count)
{
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t first = 0; first < count; first += 2 * width) {
			size_t middle = count - first < width ? count : first + width;
			size_t end = count - middle < width ? count : middle + width;
			merge(key, spare, first, middle, end);
		}
		struct key *sorted = spare;
		spare = key;
		key = sorted;
	}
	return key;
}

/* VALUE holds from START on. */
static void show(struct flats *f, uint64_t start, uint32_t value)
{
	if (f->count && f->at[f->count - 1].start == start)
		f->count--;
	if (f->count ? f->at[f->count - 1].value == value : value == SPAN_NONE)
		return;
	f->at = array_grow(f->at, f->count, sizeof(*f->at));
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

struct flats spans_flatten(struct spans *s)
{
	struct key *keys = mem_resize(NULL, 2 * s->count * sizeof(*keys)), *key = keys;
	struct heap open = { 0 };
	struct flats out = { 0 };
	bool is_sorted = true;

	for (size_t i = 0; i < s->count; i++) {
		key[i] = (struct key){ s->at[i].start, i };
		is_sorted = is_sorted && (i == 0 || key[i - 1].start <= key[i].start);
	}
	if (!is_sorted)
		key = sort(key, key + s->count, s->count);
	for (size_t i = 0; i < s->count; i++) {
		close_until(s->at, &open, key[i].start, &out);
		heap_add(&open, item_of(key[i].item));
		show(&out, key[i].start, s->at[open.item[0].value].value);
	}
	close_until(s->at, &open, UINT64_MAX, &out);
	free(keys);
	heap_release(&open);
	free(s->at);
	*s = (struct spans){ 0 };
	if (out.count)
		out.at = mem_resize(out.at, out.count * sizeof(*out.at));
	return out;
}

/* Return the index of the first element that starts after ADDRESS. */
static size_t after(const struct flats *f, uint64_t address)
{
	return BISECT(0, f->count, i, f->at[i].start > address);
}

uint32_t flats_find(const struct flats *f, uint64_t address)
{
	size_t next = after(f, address);

	return next ? f->at[next - 1].value : SPAN_NONE;
}

uint32_t flats_narrow(const struct flats *f, uint64_t address, struct extent *same)
{
	size_t next = after(f, address);

	extent_narrow(same, next ? f->at[next - 1].start : 0,
		      next < f->count ? f->at[next].start : UINT64_MAX);
	return next ? f->at[next - 1].value : SPAN_NONE;
}
