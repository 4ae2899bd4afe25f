/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena - memory that is freed as a whole; and allocation that cannot fail.
 *
 * Out of memory ends the program with one line and exit status 1: sizes that
 * come from input have been bounded before anyone asks for them.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

/* Zero-initialised: empty. */
struct arena {
	struct arena_chunk *chunks;	/* the newest first */
	uint8_t *at, *end;		/* free bytes of the newest */
	size_t size;			/* bytes asked of malloc, of all chunks */
};

/* SIZE bytes, aligned to 8, not zeroed.  They live until arena_release(). */
void *arena_alloc(struct arena *a, size_t size);

/* A copy of SIZE bytes, aligned to 8. */
void *arena_copy(struct arena *a, const void *bytes, size_t size);

/* A copy of at most SIZE bytes of TEXT (fewer if a NUL comes first), NUL-terminated. */
char *arena_text(struct arena *a, const char *text, size_t size);

/* Free everything; the arena is empty again. */
void arena_release(struct arena *a);

/* realloc() that does not return NULL.  The caller frees. */
void *mem_resize(void *p, size_t size);

/* strdup() that does not return NULL.  The caller frees. */
char *mem_text(const char *text);

/* calloc() that does not return NULL.  The caller frees. */
void *mem_zeroed(size_t count, size_t size);

/* SIZE bytes at a multiple of ALIGNMENT, not zeroed.  The caller frees. */
void *mem_aligned(size_t alignment, size_t size);

/*
 * Make room for one more item in the array P of COUNT items of ITEM bytes:
 * capacity grows at powers of two, so adding is linear.  Returns the array.
 */
void *array_grow(void *p, size_t count, size_t item);
