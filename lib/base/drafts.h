/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drafts - bytes that are written once, then read once in the same order.  They are freed while
 * they are read, so the result can reuse their memory.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct draft_chunk {
	struct draft_chunk *next;
	size_t used, room;	/* bytes */
	uint8_t bytes[];
};

/* Zero-initialised: empty. */
struct drafts {
	struct draft_chunk *first, *last;	/* FIRST is being read */
	size_t read;		/* bytes of FIRST that were read */
};

/* Add a chunk that has room for SIZE bytes. */
void drafts_grow(struct drafts *d, size_t size);

/* Free the first chunk, which was read, and those after it that are empty. */
void drafts_shrink(struct drafts *d);

/* Return room for SIZE bytes, valid until the next call.  drafts_add() keeps the first of them. */
static inline uint8_t *drafts_room(struct drafts *d, size_t size)
{
	if (!d->last || d->last->room - d->last->used < size)
		drafts_grow(d, size);
	return d->last->bytes + d->last->used;
}

static inline void drafts_add(struct drafts *d, size_t size)
{
	d->last->used += size;
}

/*
 * Skip USED bytes, and return the next ones: at least those of one drafts_add().  Return NULL at
 * the end, when all memory has been freed.
 */
static inline const uint8_t *drafts_next(struct drafts *d, size_t used)
{
	d->read += used;
	if (d->first && d->read == d->first->used)
		drafts_shrink(d);
	return d->first ? d->first->bytes + d->read : NULL;
}
