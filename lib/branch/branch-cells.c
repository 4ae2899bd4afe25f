/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-cells.h"

#include "base/arena.h"

#include <stdlib.h>

struct branch_cell *branch_cells_at(struct branch_cells *cells, uint64_t from, uint64_t to)
{
	uint64_t hash = hash_more(hash_u64(from), to);
	uint32_t id = TABLE_FIND(&cells->table, hash, i,
				 cells->cell[i].from == from && cells->cell[i].to == to);

	if (id != TABLE_NONE)
		return &cells->cell[id];
	if (cells->count >= cells->most)
		return NULL;
	cells->cell = array_grow(cells->cell, cells->count, sizeof(*cells->cell));
	table_add(&cells->table, hash, cells->count);
	struct branch_cell *c = &cells->cell[cells->count++];
	*c = (struct branch_cell){ .from = from, .to = to };
	return c;
}

static int by_kind_and_places(const void *a, const void *b)
{
	const struct branch_cell *x = a, *y = b;

	if (branch_cell_kind(x) != branch_cell_kind(y))
		return branch_cell_kind(x) < branch_cell_kind(y) ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

uint32_t branch_cells_sort(struct branch_cell *c, uint32_t count)
{
	uint32_t kept = 0;

	if (count)
		qsort(c, count, sizeof(*c), by_kind_and_places);
	for (uint32_t i = 0; i < count; i++) {
		struct branch_cell *last = kept ? &c[kept - 1] : NULL;
		if (last && last->from == c[i].from && last->to == c[i].to) {
			last->count += c[i].count;
			last->mispredicted += c[i].mispredicted;
			last->predicted += c[i].predicted;
			last->cycles += c[i].cycles;
		} else {
			c[kept++] = c[i];
		}
	}
	return kept;
}

void branch_cells_release(struct branch_cells *cells)
{
	free(cells->cell);
	table_release(&cells->table);
}
