/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start and end addresses of all functions cut the address space into ranges. The ranges are
 * the leaves of a binary tree: node N has the children 2N and 2N + 1, and range I is node
 * EDGES + I. Each function is an entry of the few nodes that together cover its ranges. So the
 * functions that were ever in a range are the entries on the path from its leaf to the root.
 * Entries are added in order of time, so each node can be searched by bisection.
 */
#include "symbol/jitmap-internal.h"
#include "base/arena.h"
#include "base/bisect.h"
#include "base/sort.h"

#include <stdlib.h>

static void make_edges(struct jit_history *h, const struct jit_function *f, uint32_t count)
{
	size_t edges = 0;
	bool is_sorted = true;

	h->edge = mem_resize(NULL, 2 * (size_t)count * sizeof(*h->edge));
	for (uint32_t i = 0; i < count; i++) {
		h->edge[edges++] = f[i].start;
		h->edge[edges++] = f[i].start + f[i].size;
	}
	for (size_t i = 1; i < edges; i++)
		is_sorted = is_sorted && h->edge[i - 1] <= h->edge[i];
	if (!is_sorted)
		qsort(h->edge, edges, sizeof(*h->edge), sort_compare_u64);
	for (size_t i = 0; i < edges; i++)
		if (h->edges == 0 || h->edge[h->edges - 1] != h->edge[i])
			h->edge[h->edges++] = h->edge[i];
}

/* Return the number of edges at or before ADDRESS. */
static uint32_t edges_until(const struct jit_history *h, uint64_t address)
{
	return (uint32_t)BISECT(0, h->edges, i, h->edge[i] > address);
}

struct moment {
	uint64_t time;
	uint32_t function;
};

static int by_moment(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static void make_order(struct jit_history *h, const struct jit_function *f, uint32_t count)
{
	struct moment *m = mem_resize(NULL, count * sizeof(*m));
	bool is_sorted = true;

	for (uint32_t i = 0; i < count; i++) {
		m[i] = (struct moment){ f[i].time, i };
		is_sorted = is_sorted && (i == 0 || f[i - 1].time <= f[i].time);
	}
	if (!is_sorted)
		qsort(m, count, sizeof(*m), by_moment);
	h->order = mem_resize(NULL, count * sizeof(*h->order));
	for (uint32_t i = 0; i < count; i++)
		h->order[i] = m[i].function;
	free(m);
}

/* The ranges of a function: the edges FIRST to END - 1. */
struct covered_ranges {
	uint32_t first, end;
};

static struct covered_ranges *find_covered(const struct jit_history *h,
					   const struct jit_function *f,
					   uint32_t count)
{
	struct covered_ranges *r = mem_resize(NULL, count * sizeof(*r));

	for (uint32_t i = 0; i < count; i++)
		r[i] = (struct covered_ranges){ edges_until(h, f[i].start) - 1,
				       edges_until(h, f[i].start + f[i].size) - 1 };
	return r;
}

/*
 * Visit the nodes that together cover the ranges R. If PLACE, an index in ORDER, is JIT_NOBODY,
 * count an entry for each node in h->first, two elements after the node's own. Otherwise store
 * PLACE as an entry of each node.
 */
static void visit(struct jit_history *h, struct covered_ranges r, uint32_t place)
{
	size_t left = (size_t)r.first + h->edges, right = (size_t)r.end + h->edges;

	for (; left < right; left /= 2, right /= 2) {
		size_t node[2] = { left & 1 ? left++ : 0, right & 1 ? --right : 0 };
		for (int i = 0; i < 2; i++) {
			if (node[i] && place == JIT_NOBODY)
				h->first[node[i] + 2]++;
			else if (node[i])
				h->entry[h->first[node[i] + 1]++] = place;
		}
	}
}

/*
 * Counts are stored two elements ahead. After the summation first[N + 1] is the index of node N's
 * first entry. Storing the entries moves it to their end, which is the start of node N + 1's.
 */
static void make_tree(struct jit_history *h, const struct covered_ranges *r, uint32_t count)
{
	size_t nodes = 2 * (size_t)h->edges;

	h->first = mem_zeroed(nodes + 2, sizeof(*h->first));
	for (uint32_t i = 0; i < count; i++)
		visit(h, r[i], JIT_NOBODY);
	for (size_t i = 1; i < nodes + 2; i++)
		h->first[i] += h->first[i - 1];
	h->entry = mem_resize(NULL, h->first[nodes + 1] * sizeof(*h->entry) + 1);
	for (uint32_t place = 0; place < count; place++)
		visit(h, r[h->order[place]], place);
}

/* Set LATEST: per range, the last entry in the nodes from its leaf to the root. */
static void find_latest(struct jit_history *h)
{
	size_t nodes = 2 * (size_t)h->edges;
	uint32_t *last = mem_zeroed(nodes, sizeof(*last));	/* index in ORDER plus 1; 0: none */

	for (size_t node = 1; node < nodes; node++) {
		last[node] = last[node / 2];
		if (h->first[node + 1] > h->first[node]) {
			uint32_t own = h->entry[h->first[node + 1] - 1] + 1;
			last[node] = own > last[node] ? own : last[node];
		}
	}
	h->latest = mem_resize(NULL, h->edges * sizeof(*h->latest));
	for (uint32_t i = 0; i < h->edges; i++)
		h->latest[i] = last[h->edges + i] ? h->order[last[h->edges + i] - 1] : JIT_NOBODY;
	free(last);
}

/* Set VARIES: true for ranges that several functions cover, if one of these has a time. */
static void find_varying(struct jit_history *h, const struct jit_function *f,
			 const struct covered_ranges *r, uint32_t count)
{
	struct covers {
		uint32_t all, timed;	/* functions that start here minus those that end here */
	} *c = mem_zeroed(h->edges, sizeof(*c)), sum = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		c[r[i].first].all++;
		c[r[i].end].all--;
		c[r[i].first].timed += f[i].time != 0;
		c[r[i].end].timed -= f[i].time != 0;
	}
	h->varies = mem_resize(NULL, h->edges * sizeof(*h->varies));
	for (uint32_t i = 0; i < h->edges; i++) {
		sum.all += c[i].all;
		sum.timed += c[i].timed;
		h->varies[i] = sum.all > 1 && sum.timed > 0;
	}
	free(c);
}

void jit_history_make(struct jit_history *h, const struct jit_function *f, uint32_t count)
{
	jit_history_release(h);
	if (count == 0)
		return;
	make_edges(h, f, count);
	make_order(h, f, count);
	struct covered_ranges *r = find_covered(h, f, count);
	make_tree(h, r, count);
	find_latest(h);
	find_varying(h, f, r, count);
	free(r);
}

/* Return how many of the entries [FIRST, END) are functions whose time is not after TIME. */
static uint32_t entries_until(const struct jit_history *h, const struct jit_function *f,
			      uint32_t first, uint32_t end, uint64_t time)
{
	return (uint32_t)BISECT(first, end, i, f[h->order[h->entry[i]]].time > time) - first;
}

uint32_t jit_history_find(const struct jit_history *h, const struct jit_function *f,
			  uint64_t address, uint64_t time, bool *varies)
{
	uint32_t before = edges_until(h, address), first = JIT_NOBODY, latest = 0;
	bool any = false;

	*varies = before > 0 && h->varies[before - 1];
	if (before == 0)
		return JIT_NOBODY;
	if (!*varies || time == JIT_LATEST)
		return h->latest[before - 1];
	for (size_t node = (size_t)h->edges + before - 1; node > 0; node /= 2) {
		const uint32_t *entry = &h->entry[h->first[node]];
		uint32_t entries = entries_until(h, f, h->first[node], h->first[node + 1], time);
		if (entries > 0 && (!any || entry[entries - 1] > latest)) {
			latest = entry[entries - 1];
			any = true;
		}
		if (h->first[node + 1] > h->first[node] && entry[0] < first)
			first = entry[0];
	}
	return h->order[any ? latest : first];
}

void jit_history_release(struct jit_history *h)
{
	free(h->edge);
	free(h->latest);
	free(h->varies);
	free(h->order);
	free(h->first);
	free(h->entry);
	*h = (struct jit_history){ 0 };
}
