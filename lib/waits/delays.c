/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/delays.h"

#include <stdlib.h>

static uint64_t hash_of(const struct delay_node *n)
{
	uint64_t place = (uint64_t)n->at.stack << 32 | n->at.labels;

	return hash_more(hash_u64(place), (uint64_t)n->parent << 8 | n->link);
}

static bool is_same(const struct delay_node *a, const struct delay_node *b)
{
	return a->parent == b->parent && a->link == b->link && a->at.stack == b->at.stack &&
	       a->at.labels == b->at.labels;
}

/* Return the node equal to NEW, whose parent is TABLE_NONE if it is a root; or OTHERWISE. */
static uint32_t find_or_add(struct delays *d, struct delay_node new, uint32_t otherwise)
{
	uint64_t hash = hash_of(&new);
	uint32_t id = TABLE_FIND(&d->table, hash, i, is_same(&d->node[i], &new));

	if (id != TABLE_NONE)
		return id;
	if (d->count == DELAY_NODES_MAX) {
		d->refused++;
		return otherwise;
	}
	d->node = array_grow(d->node, d->count, sizeof(*d->node));
	d->node[d->count] = new;
	table_add(&d->table, hash, d->count);
	return d->count++;
}

uint32_t delays_root(struct delays *d, struct delay_place at)
{
	return find_or_add(d, (struct delay_node){ .parent = TABLE_NONE, .at = at }, TABLE_NONE);
}

uint32_t delays_child(struct delays *d, uint32_t parent, enum delay_link link, uint32_t stack)
{
	if (parent == TABLE_NONE)
		return TABLE_NONE;
	return find_or_add(d, (struct delay_node){ .parent = parent, .link = link,
						   .at.stack = stack }, parent);
}

void delays_add(struct delays *d, uint32_t node, uint64_t count, uint64_t ns)
{
	if (node == TABLE_NONE)
		return;
	d->node[node].count += count;
	d->node[node].ns += ns;
}

void delays_relabel(struct delays *d, const uint32_t *moved)
{
	table_release(&d->table);
	for (uint32_t i = 0; i < d->count; i++) {
		struct delay_node *n = &d->node[i];
		if (n->parent == TABLE_NONE)
			n->at.labels = moved[n->at.labels];
		/* two roots may be equal now: the table finds one of them */
		table_add(&d->table, hash_of(n), i);
	}
}

void delays_release(struct delays *d)
{
	free(d->node);
	table_release(&d->table);
	*d = (struct delays){ 0 };
}
