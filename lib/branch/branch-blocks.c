/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/branch-blocks.h"

#include "base/arena.h"

#include <stdlib.h>

/* The sum of ranges changes at a place. */
struct sum_change {
	uint64_t place;
	int64_t count;
	double rate;		/* cycles per byte */
};

static int by_place(const void *a, const void *b)
{
	const struct sum_change *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

/* Return the changes at the starts and ends of all ranges, sorted, and set *COUNT. */
static struct sum_change *list_changes(struct branches *b, uint32_t *count)
{
	struct branch_functions functions;
	struct sum_change *change = NULL;
	uint32_t changes = 0;

	branch_functions_init(&functions, NULL);
	for (uint32_t i = 0; i < b->cells.count; i++) {
		const struct branch_cell *c = &b->cells.cell[i];
		if (branch_cell_kind(c) > CELL_RANGE_ENTERED)
			continue;
		struct elf *elf = b->objects.object[place_object(c->from)].elf;
		uint64_t last = branch_cell_to(c);
		unsigned size;
		if (functions.elf != elf)
			branch_functions_init(&functions, elf);
		branch_functions_going(&functions, place_offset(last), &size);
		double rate = (double)c->cycles / (double)(last + size - c->from);
		change = array_grow(change, changes, sizeof(*change));
		change[changes++] = (struct sum_change){ c->from, (int64_t)c->count, rate };
		change = array_grow(change, changes, sizeof(*change));
		change[changes++] = (struct sum_change){ last + size, -(int64_t)c->count, -rate };
	}
	if (changes)
		qsort(change, changes, sizeof(*change), by_place);
	*count = changes;
	return change;
}

/* Return a hash of LINES, 0 if no source line is known. */
static uint64_t hash_lines(const struct named_lines *lines)
{
	uint64_t hash = 1;

	if (!lines->count || !lines->line[0].line)
		return 0;
	for (uint32_t i = 0; i < lines->count; i++)
		hash = hash_more(hash, (uint64_t)lines->line[i].function << 32 |
				 lines->line[i].line);
	return hash ?: 1;
}

/* Add the code in NEW, which follows the blocks before it, to the block of its line. */
static void add_block(struct branch_blocks *b, struct branch_block new)
{
	struct branch_block *last = b->count ? &b->block[b->count - 1] : NULL;
	uint64_t hash = hash_more(new.piece, new.line);
	uint32_t id = TABLE_NONE;

	if (last && last->end == new.start && last->line == new.line &&
	    (new.line || last->piece == new.piece))
		id = b->count - 1;
	else if (new.line)
		id = TABLE_FIND(&b->table, hash, i, b->block[i].piece == new.piece &&
							b->block[i].line == new.line);
	if (id == TABLE_NONE) {
		b->block = array_grow(b->block, b->count, sizeof(*b->block));
		b->block[b->count] = new;
		table_add(&b->table, hash, b->count++);
		return;
	}
	struct branch_block *old = &b->block[id];
	if (old->piece != new.piece)
		table_add(&b->table, hash, id);
	if (id == b->count - 1)
		old->end = new.end;
	old->piece = new.piece;
	old->count = new.count > old->count ? new.count : old->count;
	old->cycles += new.cycles;
}

/*
 * Return the place up to which the code from START has one line, END at most, and set *HASH to the
 * hash of the line.
 */
static uint64_t end_of_line(struct branch_blocks *b, struct branch_names *n, uint64_t start,
			    uint64_t end, uint64_t *hash)
{
	enum { LOOKUPS_MAX = 1 << 24 };	/* more than any program has lines that run */
	struct source *source = branch_objects_source(&n->b->objects, place_object(start));
	struct source_answer answer;

	*hash = 0;
	if (!source || b->lookups++ >= LOOKUPS_MAX)
		return end;
	uint64_t address = branch_address(source->image.elf, place_offset(start));
	struct extent same = source_find_range(source, address, &answer);
	struct named_lines lines = branch_names_find(n, start);
	*hash = hash_lines(&lines);
	return same.end > address && same.end - address < end - start
	       ? start + (same.end - address) : end;
}

/* Add the code from START to END, whose ranges have the sum COUNT. */
static void add_piece(struct branch_blocks *b, struct branch_names *n, uint64_t start,
		      uint64_t end, const struct sum_change *sum)
{
	b->pieces++;
	while (start < end) {
		uint64_t hash, next = end_of_line(b, n, start, end, &hash);
		add_block(b, (struct branch_block){
			.start = start, .end = next, .line = hash,
			.count = (uint64_t)sum->count,
			.cycles = sum->rate * (double)(next - start), .piece = b->pieces });
		start = next;
	}
}

void branch_blocks_make(struct branch_blocks *b, struct branch_names *n)
{
	struct sum_change sum = { 0 };
	uint32_t changes, i = 0;
	struct sum_change *change = list_changes(n->b, &changes);
	uint64_t start = 0;

	for (uint32_t k = 0; k < n->b->cells.count; k++)
		b->has_cycles |= branch_cell_kind(&n->b->cells.cell[k]) <= CELL_RANGE_ENTERED &&
				 n->b->cells.cell[k].cycles;
	while (i < changes) {
		uint64_t place = change[i].place;
		struct sum_change step = { 0 };
		for (; i < changes && change[i].place == place; i++) {
			step.count += change[i].count;
			step.rate += change[i].rate;
		}
		if (step.count == 0)	/* one range ends here, and as many others start */
			continue;
		if (sum.count > 0)
			add_piece(b, n, start, place, &sum);
		sum.count += step.count;
		sum.rate = sum.count ? sum.rate + step.rate : 0;
		start = place;
	}
	free(change);
}

void branch_blocks_release(struct branch_blocks *b)
{
	free(b->block);
	table_release(&b->table);
}
