/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a frame, and the callers of a place.
 *
 * A place is where a caller is in a stack: whatever caller is there, the frames around it are the
 * same.  If a function calls another one twice, both calls have the same place.
 */
#include "unwind/generation.h"

struct caller_place {
	uint64_t callee;	/* pc of the frame that the caller called */
	uint64_t above;		/* pc of the caller's own caller; 0: it has none */
	uint64_t size;		/* of the caller's frame */
};

struct frame node_frame(const struct node *n)
{
	struct frame f = { .pc = n->pc & ~EXACT, .sp = n->sp, .words = n->words,
			   .is_exact = n->pc & EXACT };

	memcpy(f.kept, n->kept, sizeof(f.kept));
	return f;
}

static uint64_t hash_of(const struct frame *f, uint32_t serial)
{
	return hash_more(hash_more(f->pc, f->sp), serial);
}

struct table_probe generation_probe(const struct generation *g, const struct frame *f,
				    uint32_t serial)
{
	return table_probe(&g->table, hash_of(f, serial));
}

struct node *generation_next(struct generation *g, struct table_probe *probe,
			     const struct frame *f, uint32_t serial)
{
	uint32_t id;

	while ((id = table_next(&g->table, probe)) != TABLE_NONE) {
		struct node *n = &g->node[id];
		if (is_frame_of(n, f) && n->serial == serial)
			return n;
	}
	return NULL;
}

/* Return the place of the caller of N, which is in G.  That caller's own caller is known. */
static struct caller_place place_of(const struct generation *g, const struct node *n)
{
	const struct node *caller = caller_of(g, n);
	const struct node *above = has_caller(caller) ? caller_of(g, caller) : NULL;

	return (struct caller_place){ n->pc, above ? above->pc : 0,
				      above ? above->sp - caller->sp : 0 };
}

static uint64_t hash_of_place(const struct caller_place *p)
{
	return hash_more(hash_more(p->callee, p->above), p->size);
}

/* Return the node that G remembers for the place P, or NULL. */
static struct node *find_place(struct generation *g, const struct caller_place *p)
{
	struct table_probe probe = table_probe(&g->places, hash_of_place(p));
	uint32_t id;

	while ((id = table_next(&g->places, &probe)) != TABLE_NONE) {
		struct caller_place other = place_of(g, &g->node[id]);
		if (other.callee == p->callee && other.above == p->above && other.size == p->size)
			return &g->node[id];
	}
	return NULL;
}

/* Remember which caller is in the place of the caller of N, a new node of G. */
static void add_place(struct generation *g, const struct node *n)
{
	const struct node *caller = caller_of(g, n);

	if (caller->caller == CALLER_UNKNOWN)
		return;
	struct caller_place p = place_of(g, n);
	struct node *first = find_place(g, &p);
	if (!first)
		table_add(&g->places, hash_of_place(&p), node_id(g, n));
	else if (caller_of(g, first)->pc != caller->pc)
		first->has_rival = true;
}

struct node *generation_add(struct generation *g, const struct frame *f, uint32_t serial,
			    uint32_t caller)
{
	struct node *n = &g->node[g->count];

	*n = (struct node){ .pc = f->pc | (f->is_exact ? EXACT : 0), .sp = f->sp,
			    .serial = serial, .caller = caller,
			    .is_whole = caller == CALLER_NONE };
	table_add(&g->table, hash_of(f, serial), g->count++);
	if (has_caller(n)) {
		n->callers = caller_of(g, n)->callers + 1;
		n->is_whole = caller_of(g, n)->is_whole;
		add_place(g, n);
	}
	return n;
}

/* Return whether the frame F of the thread SERIAL was seen with another caller than CALLER. */
static bool has_other_caller(struct generation *g, const struct frame *f, uint32_t serial,
			     const struct node *caller)
{
	struct table_probe probe = generation_probe(g, f, serial);
	const struct node *n;

	while ((n = generation_next(g, &probe, f, serial)) != NULL) {
		const struct node *other = has_caller(n) ? caller_of(g, n) : NULL;
		if (n->caller == CALLER_NONE ||
		    (other && (other->pc != caller->pc || other->sp != caller->sp)))
			return true;
	}
	return false;
}

bool generation_has_rival(struct generation *g, const struct generation *own,
			  const struct node *n)
{
	const struct frame f = node_frame(n);
	const struct node *caller = caller_of(own, n), *first;

	if (has_other_caller(g, &f, n->serial, caller))
		return true;
	if (caller->caller == CALLER_UNKNOWN)
		return false;
	struct caller_place p = place_of(own, n);
	first = find_place(g, &p);
	return first && (first->has_rival || caller_of(g, first)->pc != caller->pc);
}

void generation_clear(struct generation *g)
{
	g->count = 0;
	table_release(&g->table);
	table_release(&g->places);
}
