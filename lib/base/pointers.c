/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pointers.h"
#include "base/arena.h"

#include <stdlib.h>

bool pointers_find(const struct pointers *p, const void *pointer, uint32_t *id)
{
	struct table_probe probe = table_probe(&p->table, hash_u64((uintptr_t)pointer));
	uint32_t at;

	while ((at = table_next(&p->table, &probe)) != TABLE_NONE)
		if (p->item[at].pointer == pointer) {
			*id = p->item[at].id;
			return true;
		}
	return false;
}

uint32_t pointers_add(struct pointers *p, const void *pointer, uint32_t id)
{
	p->item = array_grow(p->item, p->count, sizeof(*p->item));
	p->item[p->count].pointer = pointer;
	p->item[p->count].id = id;
	table_add(&p->table, hash_u64((uintptr_t)pointer), p->count++);
	return id;
}

void pointers_release(struct pointers *p)
{
	free(p->item);
	table_release(&p->table);
	*p = (struct pointers){ 0 };
}
