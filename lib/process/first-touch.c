/* SPDX-License-Identifier: Apache-2.0 */
#include "process/first-touch.h"

#include <stdlib.h>

static uint64_t hash_of(uint64_t space, uint64_t page)
{
	return hash_more(space, page);
}

static uint32_t find(const struct first_touches *t, uint64_t space, uint64_t page)
{
	return TABLE_FIND(&t->table, hash_of(space, page), i,
			  t->touch[i].page == page && t->touch[i].space == space);
}

/* Return the index of a free element; the oldest gives way if there is none. */
static uint32_t make_room(struct first_touches *t)
{
	if (t->count < TOUCHES_MAX) {
		t->touch = array_grow(t->touch, t->count, sizeof(*t->touch));
		return t->count++;
	}
	uint32_t id = t->next;
	t->next = (id + 1) % TOUCHES_MAX;
	table_remove(&t->table, hash_of(t->touch[id].space, t->touch[id].page), id);
	return id;
}

void first_touch_add(struct first_touches *t, uint64_t space, uint64_t address,
		     const char *text)
{
	uint64_t page = address / TOUCHED_PAGE;
	uint32_t id = find(t, space, page);

	if (t->names.count >= TOUCH_NAMES_MAX && intern_find(&t->names, text) == TABLE_NONE)
		return;
	if (id == TABLE_NONE) {
		id = make_room(t);
		table_add(&t->table, hash_of(space, page), id);
	}
	t->touch[id] = (struct touch){ .space = space, .page = page,
				       .name = intern_text(&t->names, text) };
}

uint32_t first_touch_find(const struct first_touches *t, uint64_t space, uint64_t address)
{
	uint32_t id = find(t, space, address / TOUCHED_PAGE);

	return id == TABLE_NONE ? 0 : t->touch[id].name;
}

void first_touches_release(struct first_touches *t)
{
	free(t->touch);
	table_release(&t->table);
	intern_release(&t->names);
	*t = (struct first_touches){ 0 };
}
