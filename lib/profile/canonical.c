/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/canonical.h"

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

/* Compare from the root: neighbours then share most of their callers, which compresses well. */
static int compare_stacks(const void *a, const void *b, void *canonical)
{
	const struct canonical *c = canonical;
	const struct stack *x = &c->p->stacks.stack[*(const uint32_t *)a];
	const struct stack *y = &c->p->stacks.stack[*(const uint32_t *)b];
	const struct chain *f = &c->p->chains.chain[x->chain], *g = &c->p->chains.chain[y->chain];
	uint32_t least = f->frames < g->frames ? f->frames : g->frames;
	const uint32_t *end = f->frame + f->frames, *other_end = g->frame + g->frames;

	for (size_t i = 1; i <= least && x->chain != y->chain; i++)
		if (*(end - i) != *(other_end - i))
			return compare_numbers(canonical_frame_rank(c, *(end - i)),
					       canonical_frame_rank(c, *(other_end - i)));
	if (f->frames != g->frames)
		return compare_numbers(f->frames, g->frames);
	return labels_compare(c->p->labels, c->label_rank, x->labels, y->labels);
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

/* Mark everything that the stacks refer to. */
static void mark_used(struct canonical *c)
{
	const struct profile *p = c->p;
	bool *seen = mem_zeroed(p->chains.count, sizeof(*seen));

	for (uint32_t s = 0; s < p->stacks.count; s++) {
		uint32_t chain = p->stacks.stack[s].chain;
		const struct chain *f = &p->chains.chain[chain];
		for (uint32_t i = 0; i < f->frames && !seen[chain]; i++)
			mark_frame(c, canonical_frame_index(c, f->frame[i]));
		seen[chain] = true;
	}
	free(seen);
}

void canonical_make(struct canonical *c, const struct profile *p)
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
	c->stacks = mem_zeroed(p->stacks.count, sizeof(*c->stacks));
	for (uint32_t i = 0; i < p->stacks.count; i++)
		c->stacks[i] = i;
	qsort_r(c->stacks, p->stacks.count, sizeof(*c->stacks), compare_stacks, c);
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
