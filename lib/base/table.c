/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"
#include "base/arena.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

static void insert(struct table *t, struct table_slot slot)
{
	size_t at = slot.hash & t->mask;

	while (t->slot[at].id != TABLE_NONE)
		at = (at + 1) & t->mask;
	t->slot[at] = slot;
}

static void grow(struct table *t)
{
	struct table old = *t;
	size_t slots = old.slot ? 2 * (old.mask + 1) : FIRST_SLOTS;

	t->slot = mem_resize(NULL, slots * sizeof(*t->slot));
	memset(t->slot, 0xff, slots * sizeof(*t->slot));
	t->mask = slots - 1;
	for (size_t i = 0; old.slot && i <= old.mask; i++)
		if (old.slot[i].id != TABLE_NONE)
			insert(t, old.slot[i]);
	free(old.slot);
}

void table_add(struct table *t, uint64_t hash, uint32_t id)
{
	if (!t->slot || 2 * (t->used + 1) > t->mask + 1)
		grow(t);
	insert(t, (struct table_slot){ .hash = (uint32_t)hash, .id = id });
	t->used++;
}

void table_remove(struct table *t, uint64_t hash, uint32_t id)
{
	size_t at = (uint32_t)hash & t->mask;

	while (t->slot[at].id != id)
		at = (at + 1) & t->mask;
	t->used--;
	/* Fill the gap with later entries of the run, unless it is before their home slot. */
	for (size_t next = (at + 1) & t->mask; t->slot[next].id != TABLE_NONE;
	     next = (next + 1) & t->mask) {
		size_t from_home = (next - t->slot[next].hash) & t->mask;
		if (from_home < ((next - at) & t->mask))
			continue;
		t->slot[at] = t->slot[next];
		at = next;
	}
	t->slot[at].id = TABLE_NONE;
}

void table_release(struct table *t)
{
	free(t->slot);
	*t = (struct table){ 0 };
}
