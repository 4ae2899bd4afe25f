/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"
#include "base/arena.h"

#include <string.h>

void buffer_grow(struct buffer *b, size_t size)
{
	b->room = 2 * b->room + size;
	b->at = mem_resize(b->at, b->room);
}

uint8_t *buffer_extend(struct buffer *b, size_t size)
{
	uint8_t *end = buffer_end(b, size);

	b->size += size;
	return end;
}

void buffer_add(struct buffer *b, const void *bytes, size_t size)
{
	if (size > 0)
		memcpy(buffer_extend(b, size), bytes, size);
}
