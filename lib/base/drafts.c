/* SPDX-License-Identifier: Apache-2.0 */
#include "base/drafts.h"
#include "base/arena.h"

#include <stdlib.h>

/* Bytes of a chunk: so many that malloc() maps it, and free() returns it to the system. */
enum { CHUNK = 1 << 20 };

void drafts_grow(struct drafts *d, size_t size)
{
	size_t room = size > CHUNK ? size : CHUNK;
	struct draft_chunk *chunk = mem_resize(NULL, sizeof(*chunk) + room);

	*chunk = (struct draft_chunk){ .room = room };
	if (d->last)
		d->last->next = chunk;
	else
		d->first = chunk;
	d->last = chunk;
}

void drafts_shrink(struct drafts *d)
{
	while (d->first && d->read == d->first->used) {
		struct draft_chunk *next = d->first->next;
		free(d->first);
		d->first = next;
		d->read = 0;
	}
	if (!d->first)
		d->last = NULL;
}
