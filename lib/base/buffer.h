/* SPDX-License-Identifier: Apache-2.0 */
/* buffer - bytes that grow at their end. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: empty.  The owner frees AT. */
struct buffer {
	uint8_t *at;
	size_t size;		/* bytes in use */
	size_t room;		/* bytes allocated */
};

/* Allocate room for at least SIZE more bytes. */
void buffer_grow(struct buffer *b, size_t size);

/* Return where the next bytes go: there is room for at least SIZE.  The caller adds to b->size. */
static inline uint8_t *buffer_end(struct buffer *b, size_t size)
{
	if (b->room - b->size < size || !b->at)
		buffer_grow(b, size);
	return b->at + b->size;
}

/* Make the buffer SIZE bytes longer, and return the first of them.  They are not zeroed. */
uint8_t *buffer_extend(struct buffer *b, size_t size);

/* Append a copy of SIZE bytes. */
void buffer_add(struct buffer *b, const void *bytes, size_t size);
