/* SPDX-License-Identifier: Apache-2.0 */
/* Room for new rows and parts: those with few samples are left out. */
#include "access/internal.h"
#include "base/sort.h"

#include <stdlib.h>

/*
 * Return an array that is true for the half of COUNT items with the larger KEYs; of equal ones, for
 * those that came last.  The caller frees it and KEY.
 */
static bool *larger_half(struct sort_key *key, uint32_t count)
{
	struct sort_key *spare = mem_zeroed((size_t)count + 1, sizeof(*spare));
	bool *larger = mem_zeroed((size_t)count + 1, sizeof(*larger));
	struct sort_key *sorted = sort_keys(key, spare, count);

	for (uint32_t i = count / 2; i < count; i++)
		larger[sorted[i].item] = true;
	free(spare);
	return larger;
}

/* Remove the rows that are not in KEEP.  Return the new index of each row; TABLE_NONE: removed. */
static uint32_t *remove_rows(struct accesses *a, const bool *keep)
{
	uint32_t *moved = mem_zeroed((size_t)a->rows + 1, sizeof(*moved)), kept = 0;

	table_release(&a->row_table);
	for (uint32_t i = 0; i < a->rows; i++) {
		moved[i] = keep[i] ? kept : TABLE_NONE;
		if (!keep[i]) {
			access_sums_add(&a->others, &a->row[i].sums);
			a->rows_left_out++;
			free(a->row[i].times.slice);
			continue;
		}
		a->row[kept] = a->row[i];
		table_add(&a->row_table, access_row_hash(a, &a->row[kept]), kept);
		kept++;
	}
	a->rows = kept;
	return moved;
}

/* Keep the parts of rows that were MOVED, and of these only those in KEEP, if it is not NULL. */
static void move_parts(struct accesses *a, const uint32_t *moved, const bool *keep)
{
	uint32_t kept = 0;

	table_release(&a->part_table);
	for (uint32_t i = 0; i < a->parts; i++) {
		struct access_part part = a->part[i];
		part.row = moved[part.row];
		if (part.row == TABLE_NONE || (keep && !keep[i]))
			continue;
		a->part[kept] = part;
		table_add(&a->part_table, access_part_hash(&part), kept++);
	}
	a->parts = kept;
}

static void move_weights(struct accesses *a, const uint32_t *moved)
{
	uint32_t kept = 0;

	table_release(&a->weight_table);
	for (uint32_t i = 0; i < a->weights; i++) {
		struct access_weight w = a->weight[i];
		w.row = moved[w.row];
		if (w.row == TABLE_NONE)
			continue;
		a->weight[kept] = w;
		table_add(&a->weight_table, access_weight_hash(&w), kept++);
	}
	a->weights = kept;
}

/* Return the rows to keep: those that threads contend for are worth more than their samples say. */
static bool *rows_to_keep(const struct accesses *a)
{
	struct sort_key *key = mem_zeroed((size_t)a->rows + 1, sizeof(*key));

	for (uint32_t i = 0; i < a->rows; i++) {
		const struct access_row *row = &a->row[i];
		uint64_t worth = row->sums.samples;
		if (a->how.by == ACCESS_BY_LINE && access_is_contended(row))
			worth += UINT64_MAX / 2;
		key[i] = (struct sort_key){ worth, i };
	}
	bool *keep = larger_half(key, a->rows);
	free(key);
	return keep;
}

static bool *parts_to_keep(const struct accesses *a)
{
	struct sort_key *key = mem_zeroed((size_t)a->parts + 1, sizeof(*key));

	for (uint32_t i = 0; i < a->parts; i++)
		key[i] = (struct sort_key){ a->part[i].sums.samples, i };
	bool *keep = larger_half(key, a->parts);
	free(key);
	return keep;
}

void accesses_make_room(struct accesses *a)
{
	bool *row = rows_to_keep(a), *part = NULL;
	uint32_t *moved = remove_rows(a, row);

	move_weights(a, moved);
	move_parts(a, moved, NULL);
	free(moved);
	free(row);
	if (a->parts <= ACCESS_PARTS_MAX / 2)
		return;
	moved = mem_zeroed((size_t)a->rows + 1, sizeof(*moved));
	for (uint32_t i = 0; i < a->rows; i++)
		moved[i] = i;
	part = parts_to_keep(a);
	move_parts(a, moved, part);
	free(part);
	free(moved);
}
