/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlapping address ranges to disjoint ones: a sweep over the starts, with
 * a heap of the ranges that are open, the one added last on top.
 */
#include "symbol/span.h"
#include "base/arena.h"

#include <stdbool.h>
#include <stdlib.h>

/* SPAN's order: by start, then by when it was added. */
struct entry {
	struct span span;
	size_t order;
};

void spans_add(struct spans *s, uint64_t start, uint64_t end, uint32_t value)
{
	s->at = array_grow(s->at, s->count, sizeof(*s->at));
	s->at[s->count++] = (struct span){ start, end, value };
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->span.start != y->span.start)
		return x->span.start < y->span.start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* From START on, VALUE shows. */
static void show(struct flats *f, uint64_t start, uint32_t value)
{
	if (f->count && f->at[f->count - 1].start == start)
		f->count--;
	if (f->count ? f->at[f->count - 1].value == value : value == SPAN_NONE)
		return;
	f->at = array_grow(f->at, f->count, sizeof(*f->at));
	f->at[f->count++] = (struct flat){ start, value };
}

static void heap_push(const struct entry *e, size_t *heap, size_t count, size_t item)
{
	size_t i = count;

	for (; i > 0 && e[heap[(i - 1) / 2]].order < e[item].order; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = item;
}

/* Remove the top of a heap of COUNT. */
static void heap_pop(const struct entry *e, size_t *heap, size_t count)
{
	size_t item = heap[count - 1], i = 0;

	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= count - 1)
			break;
		if (child + 1 < count - 1 && e[heap[child + 1]].order > e[heap[child]].order)
			child++;
		if (e[heap[child]].order < e[item].order)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = item;
}

/* Show what is open up to ADDRESS. */
static size_t close_until(const struct entry *e, size_t *heap, size_t open, uint64_t address,
			  struct flats *out)
{
	while (open && e[heap[0]].span.end <= address) {
		uint64_t end = e[heap[0]].span.end;
		heap_pop(e, heap, open--);
		while (open && e[heap[0]].span.end <= end)	/* it ended unseen */
			heap_pop(e, heap, open--);
		show(out, end, open ? e[heap[0]].span.value : SPAN_NONE);
	}
	return open;
}

struct flats spans_flatten(struct spans *s)
{
	struct entry *e = mem_resize(NULL, s->count * sizeof(*e));
	size_t *heap = mem_resize(NULL, s->count * sizeof(*heap)), open = 0;
	struct flats out = { 0 };
	bool is_sorted = true;

	for (size_t i = 0; i < s->count; i++) {
		e[i] = (struct entry){ s->at[i], i };
		is_sorted = is_sorted && (i == 0 || s->at[i - 1].start <= s->at[i].start);
	}
	if (!is_sorted)
		qsort(e, s->count, sizeof(*e), by_start);
	for (size_t i = 0; i < s->count; i++) {
		open = close_until(e, heap, open, e[i].span.start, &out);
		heap_push(e, heap, open++, i);
		show(&out, e[i].span.start, e[heap[0]].span.value);
	}
	close_until(e, heap, open, UINT64_MAX, &out);
	free(e);
	free(heap);
	free(s->at);
	*s = (struct spans){ 0 };
	if (out.count)
		out.at = mem_resize(out.at, out.count * sizeof(*out.at));
	return out;
}

/* The index of the first one behind ADDRESS. */
static size_t behind(const struct flats *f, uint64_t address)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (f->at[middle].start > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint32_t flats_find(const struct flats *f, uint64_t address)
{
	size_t next = behind(f, address);

	return next ? f->at[next - 1].value : SPAN_NONE;
}

uint32_t flats_narrow(const struct flats *f, uint64_t address, struct extent *same)
{
	size_t next = behind(f, address);

	extent_narrow(same, next ? f->at[next - 1].start : 0,
		      next < f->count ? f->at[next].start : UINT64_MAX);
	return next ? f->at[next - 1].value : SPAN_NONE;
}
