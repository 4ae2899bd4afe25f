/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flatten overlapping address ranges: a sweep over the starts, with a heap of the
 * ranges that are open at the current address, the one added last on top.
 */
#include "base/span.h"
#include "base/arena.h"
#include "base/bisect.h"

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

static void heap_push(size_t *heap, size_t count, size_t item)
{
	size_t i = count;

	for (; i > 0 && heap[(i - 1) / 2] < item; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = item;
}

/* Remove the top of a heap of COUNT. */
static void heap_pop(size_t *heap, size_t count)
{
	size_t item = heap[count - 1], i = 0;

	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= count - 1)
			break;
		if (child + 1 < count - 1 && heap[child + 1] > heap[child])
			child++;
		if (heap[child] < item)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = item;
}

/* Close the open spans that end at or before ADDRESS.  Return how many are still open. */
static size_t close_until(const struct span *span, size_t *heap, size_t open, uint64_t address,
			  struct flats *out)
{
	while (open && span[heap[0]].end <= address) {
		uint64_t end = span[heap[0]].end;
		heap_pop(heap, open--);
		while (open && span[heap[0]].end <= end)	/* covered up to its end */
			heap_pop(heap, open--);
		show(out, end, open ? span[heap[0]].value : SPAN_NONE);
	}
	return open;
}

struct flats spans_flatten(struct spans *s)
{
	struct key *keys = mem_resize(NULL, 2 * s->count * sizeof(*keys)), *key = keys;
	size_t *heap = mem_resize(NULL, s->count * sizeof(*heap)), open = 0;
	struct flats out = { 0 };
	bool is_sorted = true;

	for (size_t i = 0; i < s->count; i++) {
		key[i] = (struct key){ s->at[i].start, i };
		is_sorted = is_sorted && (i == 0 || key[i - 1].start <= key[i].start);
	}
	if (!is_sorted)
		key = sort(key, key + s->count, s->count);
	for (size_t i = 0; i < s->count; i++) {
		open = close_until(s->at, heap, open, key[i].start, &out);
		heap_push(heap, open++, key[i].item);
		show(&out, key[i].start, s->at[heap[0]].value);
	}
	close_until(s->at, heap, open, UINT64_MAX, &out);
	free(keys);
	free(heap);
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
