/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 * 1024 };	/* bytes; larger requests get a chunk of their own */

struct arena_chunk {
	struct arena_chunk *next;
	uint64_t bytes[];
};

static void *checked(void *p)
{
	if (!p)
		out_of_memory();
	return p;
}

void *mem_resize(void *p, size_t size)
{
	return checked(realloc(p, size ? size : 1));
}

char *mem_text(const char *text)
{
	return checked(strdup(text));
}

void *mem_zeroed(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *mem_aligned(size_t alignment, size_t size)
{
	return checked(aligned_alloc(alignment, size));
}

void *array_grow(void *p, size_t count, size_t item)
{
	enum { FIRST = 8 };

	if (count == 0)
		return mem_resize(p, FIRST * item);
	if (count < FIRST || (count & (count - 1)))
		return p;
	if (count > SIZE_MAX / 2 / item)
		out_of_memory();
	return mem_resize(p, 2 * count * item);
}

void *arena_alloc(struct arena *a, size_t size)
{
	size = (size + 7) & ~(size_t)7;
	if ((size_t)(a->end - a->at) < size) {
		size_t room = size > CHUNK / 4 ? size : CHUNK;
		struct arena_chunk *chunk = mem_resize(NULL, sizeof(*chunk) + room);
		a->size += sizeof(*chunk) + room;
		chunk->next = a->chunks;
		a->chunks = chunk;
		if (room == size)	/* large: keep filling the last chunk */
			return chunk->bytes;
		a->at = (uint8_t *)chunk->bytes;
		a->end = a->at + room;
	}
	void *p = a->at;
	a->at += size;
	return p;
}

void *arena_copy(struct arena *a, const void *bytes, size_t size)
{
	return size ? memcpy(arena_alloc(a, size), bytes, size) : arena_alloc(a, 1);
}

char *arena_text(struct arena *a, const char *text, size_t size)
{
	size_t length = strnlen(text, size);
	char *copy = arena_alloc(a, length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

void arena_release(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;
		free(a->chunks);
		a->chunks = next;
	}
	*a = (struct arena){ 0 };
}
