/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregate/ranking.h"

#include <stdlib.h>

const struct resolved *ranking_object(const struct ranking *r, uint32_t index, uint32_t *id)
{
	bool own = index >= r->p->resolved->objects;

	*id = own ? index - r->p->resolved->objects : index;
	return own ? &r->p->own : r->p->resolved;
}

const struct resolved *ranking_function(const struct ranking *r, uint32_t index, uint32_t *id)
{
	bool own = index >= r->p->resolved->functions;

	*id = own ? index - r->p->resolved->functions : index;
	return own ? &r->p->own : r->p->resolved;
}

const struct resolved *ranking_frame(const struct ranking *r, uint32_t index, uint32_t *id)
{
	bool own = index >= r->p->resolved->frames;

	*id = own ? index - r->p->resolved->frames : index;
	return own ? &r->p->own : r->p->resolved;
}

static uint32_t object_index(const struct ranking *r, const struct resolved *t, uint32_t id)
{
	return t == r->p->resolved ? id : r->p->resolved->objects + id;
}

static uint32_t function_index(const struct ranking *r, const struct resolved *t, uint32_t id)
{
	return t == r->p->resolved ? id : r->p->resolved->functions + id;
}

uint32_t ranking_object_rank(const struct ranking *r, const struct resolved *t, uint32_t id)
{
	return r->objects.rank[object_index(r, t, id)];
}

uint32_t ranking_function_rank(const struct ranking *r, const struct resolved *t, uint32_t id)
{
	return r->functions.rank[function_index(r, t, id)];
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Return the text at INDEX of r->strings. */
static const char *string_at(const struct ranking *r, uint32_t index)
{
	const struct resolved *t = r->p->resolved;

	return index < t->strings ? t->string[index] : r->p->own.string[index - t->strings];
}

static uint32_t *string_rank(const struct ranking *r, const struct resolved *t, uint32_t id)
{
	return &r->strings.rank[t == r->p->resolved ? id : r->p->resolved->strings + id];
}

static int compare_texts(const void *a, const void *b, void *ranking)
{
	return strcmp(string_at(ranking, *(const uint32_t *)a),
		      string_at(ranking, *(const uint32_t *)b));
}

static int compare_strings(const struct ranking *r, const struct resolved *t, uint32_t a,
			   const struct resolved *u, uint32_t b)
{
	return compare_numbers(*string_rank(r, t, a), *string_rank(r, u, b));
}

static int compare_objects(const void *a, const void *b, void *ranking)
{
	uint32_t i, k;
	const struct resolved *t = ranking_object(ranking, *(const uint32_t *)a, &i);
	const struct resolved *u = ranking_object(ranking, *(const uint32_t *)b, &k);
	const struct resolved_object *x = &t->object[i], *y = &u->object[k];
	int order = compare_strings(ranking, t, x->path, u, y->path);

	order = order ? order : compare_numbers(x->kind, y->kind);
	order = order ? order : compare_numbers(x->flags, y->flags);
	order = order ? order : memcmp(x->build_id, y->build_id, BUILD_ID_MAX);
	order = order ? order : compare_numbers(x->start, y->start);
	order = order ? order : compare_numbers(x->size, y->size);
	return order ? order : compare_numbers(x->file_offset, y->file_offset);
}

static int compare_functions(const void *a, const void *b, void *ranking)
{
	uint32_t i, k;
	const struct resolved *t = ranking_function(ranking, *(const uint32_t *)a, &i);
	const struct resolved *u = ranking_function(ranking, *(const uint32_t *)b, &k);
	const struct resolved_function *x = &t->function[i], *y = &u->function[k];
	int order = compare_strings(ranking, t, x->name, u, y->name);

	order = order ? order : compare_strings(ranking, t, x->system_name, u, y->system_name);
	order = order ? order : compare_strings(ranking, t, x->file, u, y->file);
	return order ? order : compare_numbers(x->line, y->line);
}

static int compare_lines(const struct ranking *r, const struct resolved *t,
			 const struct resolved_line *x, const struct resolved *u,
			 const struct resolved_line *y)
{
	int order = compare_numbers(ranking_function_rank(r, t, x->function),
				    ranking_function_rank(r, u, y->function));

	order = order ? order : compare_numbers(x->line, y->line);
	return order ? order : compare_numbers(x->column, y->column);
}

static int compare_frames(const void *a, const void *b, void *ranking)
{
	const struct ranking *r = ranking;
	uint32_t i, k;
	const struct resolved *t = ranking_frame(r, *(const uint32_t *)a, &i);
	const struct resolved *u = ranking_frame(r, *(const uint32_t *)b, &k);
	const struct resolved_frame *x = &t->frame[i], *y = &u->frame[k];
	int order = compare_numbers(ranking_object_rank(r, t, x->object),
				    ranking_object_rank(r, u, y->object));

	order = order ? order : compare_numbers(x->address, y->address);
	order = order ? order : compare_numbers(x->lines, y->lines);
	for (uint32_t n = 0; n < x->lines && order == 0; n++)
		order = compare_lines(r, t, &x->line[n], u, &y->line[n]);
	return order;
}

/* Sort the indices that are marked in o->rank, and set their ranks. */
static void make_order(struct ranking *r, struct ranks *o, uint32_t count,
		       int (*compare)(const void *, const void *, void *))
{
	for (uint32_t i = 0; i < count; i++)
		if (o->rank[i])
			o->order[o->used++] = i;
	qsort_r(o->order, o->used, sizeof(*o->order), compare, r);
	for (uint32_t i = 0; i < o->used; i++)
		o->rank[o->order[i]] = i + 1;
}

/*
 * Sort the texts once, and compare ranks from then on, because many objects and functions may share
 * a text, and texts may be long and nearly equal.  Equal texts have the same rank.
 */
static void order_strings(struct ranking *r, uint32_t count)
{
	struct ranks *o = &r->strings;
	uint32_t rank = 0;

	make_order(r, o, count, compare_texts);
	for (uint32_t i = 0; i < o->used; i++) {
		if (i == 0 || strcmp(string_at(r, o->order[i - 1]), string_at(r, o->order[i])))
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

static uint32_t open_order(struct ranks *o, uint32_t resolved, uint32_t own)
{
	uint32_t count = resolved + own;

	o->order = mem_zeroed(count, sizeof(*o->order));
	o->rank = mem_zeroed(count, sizeof(*o->rank));
	return count;
}

static void mark_object(struct ranking *r, const struct resolved *t, uint32_t id)
{
	r->objects.rank[object_index(r, t, id)] = 1;
	*string_rank(r, t, t->object[id].path) = 1;
}

static void mark_function(struct ranking *r, const struct resolved *t, uint32_t id)
{
	const struct resolved_function *f = &t->function[id];

	r->functions.rank[function_index(r, t, id)] = 1;
	*string_rank(r, t, f->name) = 1;
	*string_rank(r, t, f->system_name) = 1;
	*string_rank(r, t, f->file) = 1;
}

static void mark_frame(struct ranking *r, uint32_t index)
{
	uint32_t id;
	const struct resolved *t = ranking_frame(r, index, &id);
	const struct resolved_frame *f = &t->frame[id];

	if (r->frames.rank[index])
		return;
	r->frames.rank[index] = 1;
	mark_object(r, t, f->object);
	for (uint32_t i = 0; i < f->lines; i++)
		mark_function(r, t, f->line[i].function);
}

/* Mark everything that the chains refer to: each is the chain of a stack. */
static void mark_used(struct ranking *r)
{
	const struct chains *chains = &r->p->chains;

	for (size_t i = 0; i < chains->frames; i++)
		mark_frame(r, ranking_frame_index(r, chains->frame[i]));
}

static void rank_chains(struct ranking *r)
{
	struct chains *chains = &r->p->chains;

	for (size_t i = 0; i < chains->frames; i++)
		chains->frame[i] = ranking_frame_rank(r, chains->frame[i]);
}

enum { WINDOW = 7 };	/* ranks that are read at a time */

/* A stack, while stacks are sorted, and the ranks of some frames in the order of calls. */
struct sorted_stack {
	uint32_t stack;
	uint32_t rank[WINDOW];	/* 0: the stack has no frame so deep */
};

static void fill_windows(const struct ranking *r, struct sorted_stack *s, size_t count,
			 uint32_t depth)
{
	for (size_t i = 0; i < count; i++) {
		memset(s[i].rank, 0, sizeof(s[i].rank));
		chains_calls(&r->p->chains, r->p->stacks.stack[s[i].stack].chain, depth, s[i].rank,
			     WINDOW);
	}
}

static int compare_labels(const void *a, const void *b, void *ranking)
{
	const struct sorted_stack *x = a, *y = b;
	const struct ranking *r = ranking;
	const struct stack *stack = r->p->stacks.stack;

	return labels_compare(r->p->labels, r->label_rank, stack[x->stack].labels,
			      stack[y->stack].labels);
}

/*
 * Order S by the rank in COLUMN: first the stacks below a pivot, then the equal, then the larger
 * ones.  Set *EQUAL and *LARGER to the indexes where these start.  Return the pivot.
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

/* Stacks with the same frames above DEPTH. */
struct sorted_range {
	struct sorted_stack *s;
	size_t count;
	uint32_t depth;
};

/* Split ALL by the frame at its depth.  A range that is in order already gets the count 0. */
static void split(struct ranking *r, struct sorted_range all, struct sorted_range range[3])
{
	uint32_t deeper = all.depth + 1;
	size_t equal, larger;
	uint32_t pivot = partition(all.s, all.count, all.depth % WINDOW, &equal, &larger);

	range[0] = (struct sorted_range){ all.s, equal, all.depth };
	range[1] = (struct sorted_range){ all.s + equal, larger - equal, deeper };
	range[2] = (struct sorted_range){ all.s + larger, all.count - larger, all.depth };
	if (range[1].count > 1 && pivot == 0)	/* all frames are equal */
		qsort_r(range[1].s, range[1].count, sizeof(*all.s), compare_labels, r);
	if (range[1].count == 1 || pivot == 0)
		range[1].count = 0;
	else if (deeper % WINDOW == 0)
		fill_windows(r, range[1].s, range[1].count, deeper);
}

/*
 * Quicksort with three ranges: the stacks with the pivot's frame are then compared one frame
 * deeper, so a frame that many stacks share is looked at once per stack, and not once per
 * comparison.  The loop continues with the largest range, so the recursion is at most log2 of the
 * count deep.
 */
static void sort_stacks(struct ranking *r, struct sorted_range all)
{
	struct sorted_range range[3];

	while (all.count > 1) {
		unsigned largest = 0;
		split(r, all, range);
		for (unsigned i = 1; i < 3; i++)
			largest = range[i].count > range[largest].count ? i : largest;
		for (unsigned i = 0; i < 3; i++)
			if (i != largest)
				sort_stacks(r, range[i]);
		all = range[largest];
	}
}

/* Order stacks from the root: neighbours then share most callers, which compresses well. */
static void order_stacks(struct ranking *r)
{
	uint32_t count = r->p->stacks.count;
	struct sorted_stack *s = mem_resize(NULL, (size_t)count * sizeof(*s));

	for (uint32_t i = 0; i < count; i++)
		s[i].stack = i;
	fill_windows(r, s, count, 0);
	sort_stacks(r, (struct sorted_range){ s, count, 0 });
	r->stacks = mem_zeroed(count, sizeof(*r->stacks));
	for (uint32_t i = 0; i < count; i++)
		r->stacks[i] = s[i].stack;
	free(s);
}

void ranking_make(struct ranking *r, struct profile *p)
{
	*r = (struct ranking){ .p = p };
	uint32_t strings = open_order(&r->strings, p->resolved->strings, p->own.strings);
	uint32_t objects = open_order(&r->objects, p->resolved->objects, p->own.objects);
	uint32_t functions = open_order(&r->functions, p->resolved->functions, p->own.functions);
	uint32_t frames = open_order(&r->frames, p->resolved->frames, p->own.frames);

	mark_used(r);
	order_strings(r, strings);
	r->label_rank = order_label_texts(&p->labels->texts);
	make_order(r, &r->objects, objects, compare_objects);
	make_order(r, &r->functions, functions, compare_functions);
	make_order(r, &r->frames, frames, compare_frames);
	rank_chains(r);
	order_stacks(r);
}

void ranking_release(struct ranking *r)
{
	struct ranks *orders[] = { &r->strings, &r->objects, &r->functions, &r->frames };

	for (int i = 0; i < 4; i++) {
		free(orders[i]->order);
		free(orders[i]->rank);
	}
	free(r->stacks);
	free(r->label_rank);
}
