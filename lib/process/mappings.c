/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A treap: a binary tree by address that is also a heap by random priorities, so that
 * its depth is logarithmic whatever the order of insertion.  Several trees may share a
 * node: a shared node is copied before it is changed.
 */
#include "process/mappings.h"
#include "base/arena.h"
#include "base/table.h"

#include <stdlib.h>

struct mapping_node {
	struct mapping mapping;
	struct mapping_node *left, *right;
	uint32_t users;		/* count of trees and nodes that point to it */
	uint32_t priority;	/* at least the priority of each child */
	uint32_t round;		/* ROUND of the last mappings_mark() that visited the node */
};

/* The priority is a hash of the node's address, which no stream can predict. */
static struct mapping_node *new_node(struct mapping mapping)
{
	struct mapping_node *n = mem_resize(NULL, sizeof(*n));

	*n = (struct mapping_node){ .mapping = mapping, .users = 1,
				    .priority = (uint32_t)hash_u64((uintptr_t)n) };
	return n;
}

static void share(struct mapping_node *n)
{
	if (n)
		n->users++;
}

static void drop(struct mapping_node *n)
{
	while (n && --n->users == 0) {
		struct mapping_node *right = n->right;
		drop(n->left);
		free(n);
		n = right;
	}
}

/* Return N, or a copy if N has several users: only the caller points to the result. */
static struct mapping_node *own(struct mapping_node *n)
{
	if (n->users == 1)
		return n;
	struct mapping_node *copy = mem_resize(NULL, sizeof(*copy));
	*copy = *n;
	copy->users = 1;
	share(copy->left);
	share(copy->right);
	n->users--;
	return copy;
}

/* Split tree N: LOW gets the mappings that start before ADDRESS, HIGH the others. */
static void split(struct mapping_node *n, uint64_t address, struct mapping_node **low,
		  struct mapping_node **high)
{
	while (n) {
		n = own(n);
		if (n->mapping.start < address) {
			*low = n;
			low = &n->right;
			n = n->right;
		} else {
			*high = n;
			high = &n->left;
			n = n->left;
		}
	}
	*low = *high = NULL;
}

/* Join two trees into one.  All of LOW must come before HIGH. */
static struct mapping_node *join(struct mapping_node *low, struct mapping_node *high)
{
	struct mapping_node *root, **at = &root;

	while (low && high) {
		if (low->priority >= high->priority) {
			*at = low = own(low);
			at = &low->right;
			low = low->right;
		} else {
			*at = high = own(high);
			at = &high->left;
			high = high->left;
		}
	}
	*at = low ? low : high;
	return root;
}

/* Return a node for the part of M from address END on. */
static struct mapping_node *rest_of(struct mapping m, uint64_t end)
{
	m.file_offset += end - m.start;
	m.start = end;
	return new_node(m);
}

static const struct mapping *last_of(const struct mapping_node *n)
{
	while (n && n->right)
		n = n->right;
	return n ? &n->mapping : NULL;
}

/*
 * Split IN's tree into LOW, before START, and HIGH, from END on, and drop the mappings in between.
 * Only the last mapping of LOW and the last mapping in between may extend beyond their part.
 */
static void cut(struct mappings *in, uint64_t start, uint64_t end, struct mapping_node **low,
		struct mapping_node **high)
{
	struct mapping_node *middle, *crossing;

	split(in->root, start, low, &middle);
	split(middle, end, &middle, high);
	const struct mapping *last = last_of(middle);
	if (last && last->end > end)
		*high = join(rest_of(*last, end), *high);
	drop(middle);
	last = last_of(*low);
	if (!last || last->end <= start)
		return;
	struct mapping m = *last;
	split(*low, m.start, low, &crossing);
	drop(crossing);
	if (m.end > end)
		*high = join(rest_of(m, end), *high);
	m.end = start;
	*low = join(*low, new_node(m));
}

const struct mapping *mappings_from(const struct mappings *in, uint64_t address)
{
	const struct mapping *found = NULL;

	for (const struct mapping_node *n = in->root; n; ) {
		bool is_before = n->mapping.end <= address;
		if (!is_before)
			found = &n->mapping;
		n = is_before ? n->right : n->left;
	}
	return found;
}

const struct mapping *mappings_before(const struct mappings *in, uint64_t address)
{
	const struct mapping *found = NULL;

	for (const struct mapping_node *n = in->root; n; ) {
		bool is_before = n->mapping.start < address;
		if (is_before)
			found = &n->mapping;
		n = is_before ? n->right : n->left;
	}
	return found;
}

const struct mapping *mappings_find(const struct mappings *in, uint64_t address)
{
	const struct mapping *m = mappings_from(in, address);

	return m && m->start <= address ? m : NULL;
}

void mappings_set(struct mappings *in, struct mapping new)
{
	struct mapping_node *low, *high;

	cut(in, new.start, new.end, &low, &high);
	in->root = join(join(low, new_node(new)), high);
}

void mappings_remove(struct mappings *in, uint64_t start, uint64_t end)
{
	struct mapping_node *low, *high;

	cut(in, start, end, &low, &high);
	in->root = join(low, high);
}

struct mappings mappings_copy(const struct mappings *from)
{
	share(from->root);
	return *from;
}

static void mark(struct mapping_node *n, uint32_t round, bool *live)
{
	for (; n && n->round != round; n = n->right) {
		n->round = round;
		live[n->mapping.object] = true;
		if (n->mapping.is_covered)
			live[n->mapping.cover] = true;
		mark(n->left, round, live);
	}
}

void mappings_mark(const struct mappings *in, uint32_t round, bool *live)
{
	mark(in->root, round, live);
}

void mappings_release(struct mappings *in)
{
	drop(in->root);
	in->root = NULL;
}
