/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room - all that a handle has taken from the system: memory, descriptors, open files and
 * directories, mappings, and objects of other libraries.
 *
 * When the library is linked, calls of malloc(), ZSTD_createDCtx() and the like become calls of
 * room_malloc() and so on (renamed.txt).  These do what the plain functions do, and note what they
 * took in the room of the handle that the thread works for.  So out_of_memory() can jump out of the
 * middle of anything, and nothing is lost.
 *
 * Free and close as usual.  Memory may be freed at any time.  Everything else must be closed in a
 * call for the same handle, or in one that such a call made.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* A circle of links; a room has the first of each. */
struct room_link {
	struct room_link *next, *previous;
};

struct room {
	struct room_link blocks;	/* of memory */
	struct room_link things;	/* everything else */
};

void room_init(struct room *room);

/* Return whether nothing is in ROOM. */
bool room_is_empty(const struct room *room);

/* Give back everything in ROOM: the newest things first, then the memory. */
void room_clear(struct room *room);

/*
 * Note OBJECT, which another library made, and which RELEASE gives back; do so before anything else
 * that may fail.  Return OBJECT; NULL stays NULL.  If there is no memory for the note, release
 * OBJECT and call out_of_memory().
 */
void *room_note(void *object, void (*release)(void *object));
/* The same, but without memory return NULL. */
void *room_try_to_note(void *object, void (*release)(void *object));

/* OBJECT is about to be released.  Return its RELEASE function, or NULL if it was not noted. */
void (*room_forget(const void *object))(void *object);

/*
 * Reserve SIZE bytes of address space: zeros that take memory when they are written to.  Return
 * NULL if there is no room.  room_release() gives them back.
 */
void *room_reserve(size_t size);
void room_release(void *at);

/* Return a duplicate of FD, for close(), or -1. */
int room_dup(int fd);

/* The same as malloc() and free(), for tables of functions that other libraries call. */
void *room_malloc(size_t size);
void *room_calloc(size_t count, size_t size);
void room_free(void *p);
