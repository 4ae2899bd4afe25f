/* SPDX-License-Identifier: Apache-2.0 */
/* Bars of samples that are not from a profile. */
#include "base/arena.h"
#include "compare/bars-internal.h"

void bars_begin(struct bars *b, const struct bars_given *all)
{
	*b = (struct bars){
		.current = TABLE_NONE, .factor = 1, .taken = all->samples, .lost = all->lost,
		.has_slices = all->blocks > 0, .blocks = all->blocks,
		.block = mem_zeroed((size_t)all->blocks + 1, sizeof(*b->block)),
		.whole = { .total = all->total, .squares = all->squares, .runs = 1,
			   .is_complete = all->is_complete },
	};
	for (uint32_t i = 0; i < all->blocks; i++)
		b->block[i] = (struct bars_block){ .number = i, .weight = all->weight[i] };
	if (all->total <= 0)
		b->why_not = "there are no samples";
}

void bars_put(struct bars *b, uint32_t row, const struct share_part *part)
{
	for (int kind = 0; kind < BARS_KINDS; kind++) {
		struct bars_sums *s = &b->sums[kind];
		bars_make_rows(s, row + 1);
		s->row[row].total = part->total;
		s->row[row].squares = part->squares;
		s->row[row].samples = part->samples;
		for (uint32_t i = 0; i < b->blocks; i++) {
			if (part->weight[i] <= 0)
				continue;
			s->cell = array_grow(s->cell, s->cells, sizeof(*s->cell));
			s->cell[s->cells++] = (struct bars_cell){ row, i, part->weight[i] };
		}
	}
}
