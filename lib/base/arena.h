/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena - memory that is freed all at once, and allocation that cannot fail.
 *
 * If memory runs out, a tool ends with one message and exit status 1, and a function of the library
 * ends with an error.  Callers check sizes that come from input before they allocate.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

/* Zero-initialised: empty. */
struct arena {
	struct arena_chunk *chunks;	/* list, newest first */
	uint8_t *at, *end;		/* free bytes of the newest chunk */
	size_t size;			/* bytes allocated by malloc() for all chunks */
};

/* Return SIZE bytes, aligned to 8, not zeroed.  They live until arena_release(). */
void *arena_alloc(struct arena *a, size_t size);

/* Return a copy of SIZE bytes, aligned to 8. */
void *arena_copy(struct arena *a, const void *bytes, size_t size);

/* Return a NUL-terminated copy of the first SIZE bytes of TEXT, or of all up to its NUL. */
char *arena_text(struct arena *a, const char *text, size_t size);

/* Free everything; the arena is empty again. */
void arena_release(struct arena *a);

/*
 * Memory has run out.  base/out-of-memory.c ends the tool; in the library, library/guard.c returns
 * from the function that the program called.
 */
_Noreturn void out_of_memory(void);

/* realloc() that does not return NULL.  The caller frees. */
void *mem_resize(void *p, size_t size);

/* strdup() that does not return NULL.  The caller frees. */
char *mem_text(const char *text);

/* calloc() that does not return NULL.  The caller frees. */
void *mem_zeroed(size_t count, size_t size);

/* Return SIZE bytes at a multiple of ALIGNMENT, not zeroed.  The caller frees. */
void *mem_aligned(size_t alignment, size_t size);

/*
 * Make room for one more item in the array P of COUNT items of ITEM bytes.
 * The capacity doubles, so adding N items takes linear time.  Return the array.
 */
void *array_grow(void *p, size_t count, size_t item);
