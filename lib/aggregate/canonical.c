/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/canonical.h"

#include <stdlib.h>

const struct resolved *canonical_object(const struct canonical *c, uint32_t index, uint32_t *id)
{
	bool own = index >= c->p->resolved->objects;

	*id = own ? index - c->p->resolved->objects : index;
	return own ? &c->p->own : c->p->resolved;
}

const struct resolved *canonical_function(const struct canonical *c, uint32_t index, uint32_t *id)
{
	bool own = index >= c->p->resolved->functions;

	*id = own ? index - c->p->resolved->functions : index;
	return own ? &c->p->own : c->p->resolved;
}

const struct resolved *canonical_frame(const struct canonical *c, uint32_t index, uint32_t *id)
{
	bool own = index >= c->p->resolved->frames;

	*id = own ? index - c->p->resolved->frames : index;
	return own ? &c->p->own : c->p->resolved;
}

static uint32_t object_index(const struct canonical *c, const struct resolved *t, uint32_t id)
{
	return t == c->p->resolved ? id : c->p->resolved->objects + id;
}

static uint32_t function_index(const struct canonical *c, const struct resolved *t, uint32_t id)
{
	return t == c->p->resolved ? id : c->p->resolved->functions + id;
}

uint32_t canonical_object_rank(const struct canonical *c, const struct resolved *t, uint32_t id)
{
	return c->objects.rank[object_index(c, t, id)];
}

uint32_t canonical_function_rank(const struct canonical *c, const struct resolved *t, uint32_t id)
{
	return c->functions.rank[function_index(c, t, id)];
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Return the text at INDEX of c->strings. */
static const char *string_at(const struct canonical *c, uint32_t index)
{
	const struct resolved *r = c->p->resolved;

	return index < r->strings ? r->string[index] : c->p->own.string[index - r->strings];
}

static uint32_t *string_rank(const struct canonical *c, const struct resolved *t, uint32_t id)
{
	return &c->strings.rank[t == c->p->resolved ? id : c->p->resolved->strings + id];
}

static int compare_texts(const void *a, const void *b, void *canonical)
{
	return strcmp(string_at(canonical, *(const uint32_t *)a),
		      string_at(canonical, *(const uint32_t *)b));
}

static int compare_strings(const struct canonical *c, const struct resolved *t, uint32_t a,
			   const struct resolved *u, uint32_t b)
{
	return compare_numbers(*string_rank(c, t, a), *string_rank(c, u, b));
}

static int compare_objects(const void *a, const void *b, void *canonical)
{
	uint32_t i, k;
	const struct resolved *t = canonical_object(canonical, *(const uint32_t *)a, &i);
	const struct resolved *u = canonical_object(canonical, *(const uint32_t *)b, &k);
	const struct resolved_object *x = &t->object[i], *y = &u->object[k];
	int order = compare_strings(canonical, t, x->path, u, y->path);

	order = order ? order : compare_numbers(x->kind, y->kind);
	order = order ? order : compare_numbers(x->flags, y->flags);
	order = order ? order : memcmp(x->build_id, y->build_id, BUILD_ID_MAX);
	order = order ? order : compare_numbers(x->start, y->start);
	order = order ? order : compare_numbers(x->size, y->size);
	return order ? order : compare_numbers(x->file_offset, y->file_offset);
}

static int compare_functions(const void *a, const void *b, void *canonical)
{
	uint32_t i, k;
	const struct resolved *t = canonical_function(canonical, *(const uint32_t *)a, &i);
	const struct resolved *u = canonical_function(canonical, *(const uint32_t *)b, &k);
	const struct resolved_function *x = &t->function[i], *y = &u->function[k];
	int order = compare_strings(canonical, t, x->name, u, y->name);

	order = order ? order : compare_strings(canonical, t, x->system_name, u, y->system_name);
	order = order ? order : compare_strings(canonical, t, x->file, u, y->file);
	return order ? order : compare_numbers(x->line, y->line);
}

static int compare_lines(const struct canonical *c, const struct resolved *t,
			 const struct resolved_line *x, const struct resolved *u,
			 const struct resolved_line *y)
{
	int order = compare_numbers(canonical_function_rank(c, t, x->function),
				    canonical_function_rank(c, u, y->function));

	order = order ? order : compare_numbers(x->line, y->line);
	return order ? order : compare_numbers(x->column, y->column);
}

static int compare_frames(const void *a, const void *b, void *canonical)
{
	const struct canonical *c = canonical;
	uint32_t i, k;
	const struct resolved *t = canonical_frame(c, *(const uint32_t *)a, &i);
	const struct resolved *u = canonical_frame(c, *(const uint32_t *)b, &k);
	const struct resolved_frame *x = &t->frame[i], *y = &u->frame[k];
	int order = compare_numbers(canonical_object_rank(c, t, x->object),
				    canonical_object_rank(c, u, y->object));

	order = order ? order : compare_numbers(x->address, y->address);
	order = order ? order : compare_numbers(x->lines, y->lines);
	for (uint32_t n = 0; n < x->lines && order == 0; n++)
		order = compare_lines(c, t, &x->line[n], u, &y->line[n]);
	return order;
}

/* Sort the indices that are marked in o->rank, and set their ranks. */
static void make_order(struct canonical *c, struct canonical_order *o, uint32_t count,
		       int (*compare)(const void *, const void *, void *))
{
	for (uint32_t i = 0; i < count; i++)
		if (o->rank[i])
			o->order[o->used++] = i;
	qsort_r(o->order, o->used, sizeof(*o->order), compare, c);
	for (uint32_t i = 0; i < o->used; i++)
		o->rank[o->order[i]] = i + 1;
}

/*
 * Sort each text once, and compare ranks from then on: many objects and functions may share
 * a text, and texts may be long and nearly equal.  Equal texts have the same rank.
 */
static void order_strings(struct canonical *c, uint32_t count)
{
	struct canonical_order *o = &c->strings;
	uint32_t rank = 0;

	make_order(c, o, count, compare_texts);
	for (uint32_t i = 0; i < o->used; i++) {
		if (i == 0 || strcmp(string_at(c, o->order[i - 1]), string_at(c, o->order[i])))
			rank = i + 1;
		o->rank[o->order[i]] = rank;
	}
}

static int compare_label_texts(const void *a, const void *b, void *texts)
{
	const struct intern *in = texts;

	return strcmp(in->text[*(const uint32_t *)a], in->text[*(const uint32_t *)b]);
}

/* Return the rank of each text, by id.  The texts of an intern are all different. */
static uint32_t *order_label_texts(const struct intern *in)
{
	uint32_t *order = mem_zeroed(in->count, sizeof(*order));
	uint32_t *rank = mem_zeroed(in->count, sizeof(*rank));

	for (uint32_t i = 0; i < in->count; i++)
		order[i] = i;
	qsort_r(order, in->count, sizeof(*order), compare_label_texts, (void *)(uintptr_t)in);
	for (uint32_t i = 0; i < in->count; i++)
		rank[order[i]] = i;
	free(order);
	return rank;
}

static uint32_t open_order(struct canonical_order *o, uint32_t resolved, uint32_t own)
{
	uint32_t count = resolved + own;

	o->order = mem_zeroed(count, sizeof(*o->order));
	o->rank = mem_zeroed(count, sizeof(*o->rank));
	return count;
}

static void mark_object(struct canonical *c, const struct resolved *t, uint32_t id)
{
	c->objects.rank[object_index(c, t, id)] = 1;
	*string_rank(c, t, t->object[id].path) = 1;
}

static void mark_function(struct canonical *c, const struct resolved *t, uint32_t id)
{
	const struct resolved_function *f = &t->function[id];

	c->functions.rank[function_index(c, t, id)] = 1;
	*string_rank(c, t, f->name) = 1;
	*string_rank(c, t, f->system_name) = 1;
	*string_rank(c, t, f->file) = 1;
}

static void mark_frame(struct canonical *c, uint32_t index)
{
	uint32_t id;
	const struct resolved *t = canonical_frame(c, index, &id);
	const struct resolved_frame *f = &t->frame[id];

	if (c->frames.rank[index])
		return;
	c->frames.rank[index] = 1;
	mark_object(c, t, f->object);
	for (uint32_t i = 0; i < f->lines; i++)
		mark_function(c, t, f->line[i].function);
}

/* Mark everything that the chains refer to: each is the chain of a stack. */
static void mark_used(struct canonical *c)
{
	const struct chains *chains = &c->p->chains;

	for (size_t i = 0; i < chains->frames; i++)
		mark_frame(c, canonical_frame_index(c, chains->frame[i]));
}

static void rank_chains(struct canonical *c)
{
	struct chains *chains = &c->p->chains;

	for (size_t i = 0; i < chains->frames; i++)
		chains->frame[i] = canonical_frame_rank(c, chains->frame[i]);
}

enum { WINDOW = 7 };	/* ranks that are read at a time */

/* A stack, while stacks are sorted, and the ranks of some frames in the order of calls. */
struct sorted_stack {
	uint32_t stack;
	uint32_t rank[WINDOW];	/* 0: the stack has no frame so deep */
};

static void fill_windows(const struct canonical *c, struct sorted_stack *s, size_t count,
			 uint32_t depth)
{
	for (size_t i = 0; i < count; i++) {
		memset(s[i].rank, 0, sizeof(s[i].rank));
		chains_calls(&c->p->chains, c->p->stacks.stack[s[i].stack].chain, depth, s[i].rank,
			     WINDOW);
	}
}

static int compare_labels(const void *a, const void *b, void *canonical)
{
	const struct sorted_stack *x = a, *y = b;
	const struct canonical *c = canonical;
	const struct stack *stack = c->p->stacks.stack;

	return labels_compare(c->p->labels, c->label_rank, stack[x->stack].labels,
			      stack[y->stack].labels);
}

/*
 * Order S by the rank in COLUMN: smaller than a pivot, then equal, then larger.  Set *EQUAL and
 * *LARGER to where these start.  Return the pivot.
 */
static uint32_t partition(struct sorted_stack *s, size_t count, uint32_t column, size_t *equal,
			  size_t *larger)
{
	uint32_t pivot = s[hash_u64(count) % count].rank[column];
	size_t smaller = 0, end = count, i = 0;

	while (i < end) {
		struct sorted_stack it = s[i];
		if (it.rank[column] == pivot) {
			i++;
		} else if (it.rank[column] < pivot) {
			s[i++] = s[smaller];
			s[smaller++] = it;
		} else {
			s[i] = s[--end];
			s[end] = it;
		}
	}
	*equal = smaller;
	*larger = end;
	return pivot;
}

/* Stacks that are equal above DEPTH. */
struct sorted_part {
	struct sorted_stack *s;
	size_t count;
	uint32_t depth;
};

/* Split ALL by the frame at its depth.  A part that is in order already gets the count 0. */
static void split(struct canonical *c, struct sorted_part all, struct sorted_part part[3])
{
	uint32_t deeper = all.depth + 1;
	size_t equal, larger;
	uint32_t pivot = partition(all.s, all.count, all.depth % WINDOW, &equal, &larger);

	part[0] = (struct sorted_part){ all.s, equal, all.depth };
	part[1] = (struct sorted_part){ all.s + equal, larger - equal, deeper };
	part[2] = (struct sorted_part){ all.s + larger, all.count - larger, all.depth };
	if (part[1].count > 1 && pivot == 0)	/* all frames are equal */
		qsort_r(part[1].s, part[1].count, sizeof(*all.s), compare_labels, c);
	if (part[1].count == 1 || pivot == 0)
		part[1].count = 0;
	else if (deeper % WINDOW == 0)
		fill_windows(c, part[1].s, part[1].count, deeper);
}

/*
 * Quicksort with three parts: the stacks with the pivot's frame go on one frame deeper, so a frame
 * that many stacks share is looked at once for each stack, not in each comparison.  The largest
 * part goes on in the loop, so the recursion is at most log2 of the count deep.
 */
static void sort_stacks(struct canonical *c, struct sorted_part all)
{
	struct sorted_part part[3];

	while (all.count > 1) {
		unsigned largest = 0;
		split(c, all, part);
		for (unsigned i = 1; i < 3; i++)
			largest = part[i].count > part[largest].count ? i : largest;
		for (unsigned i = 0; i < 3; i++)
			if (i != largest)
				sort_stacks(c, part[i]);
		all = part[largest];
	}
}

/* Order stacks from the root: neighbours then share most callers, which compresses well. */
static void order_stacks(struct canonical *c)
{
	uint32_t count = c->p->stacks.count;
	struct sorted_stack *s = mem_resize(NULL, (size_t)count * sizeof(*s));

	for (uint32_t i = 0; i < count; i++)
		s[i].stack = i;
	fill_windows(c, s, count, 0);
	sort_stacks(c, (struct sorted_part){ s, count, 0 });
	c->stacks = mem_zeroed(count, sizeof(*c->stacks));
	for (uint32_t i = 0; i < count; i++)
		c->stacks[i] = s[i].stack;
	free(s);
}

void canonical_make(struct canonical *c, struct profile *p)
{
	*c = (struct canonical){ .p = p };
	uint32_t strings = open_order(&c->strings, p->resolved->strings, p->own.strings);
	uint32_t objects = open_order(&c->objects, p->resolved->objects, p->own.objects);
	uint32_t functions = open_order(&c->functions, p->resolved->functions, p->own.functions);
	uint32_t frames = open_order(&c->frames, p->resolved->frames, p->own.frames);

	mark_used(c);
	order_strings(c, strings);
	c->label_rank = order_label_texts(&p->labels->texts);
	make_order(c, &c->objects, objects, compare_objects);
	make_order(c, &c->functions, functions, compare_functions);
	make_order(c, &c->frames, frames, compare_frames);
	rank_chains(c);
	order_stacks(c);
}

void canonical_release(struct canonical *c)
{
	struct canonical_order *orders[] = { &c->strings, &c->objects, &c->functions, &c->frames };

	for (int i = 0; i < 4; i++) {
		free(orders[i]->order);
		free(orders[i]->rank);
	}
	free(c->stacks);
	free(c->label_rank);
}
