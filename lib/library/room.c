/* SPDX-License-Identifier: Apache-2.0 */
#include "library/room.h"
#include "base/arena.h"
#include "library/guard.h"
#include "library/handle.h"
#include "library/system.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What precedes each block.  It keeps the alignment of malloc(). */
struct block {
	_Alignas(16) struct room_link link;
};

/* A larger alignment than that: what precedes the struct block, too. */
struct aligned {
	_Alignas(16) size_t size;	/* bytes that were asked for */
	void *start;			/* what aligned_alloc() returned */
	struct block block;
};

/* In `previous` of a block: it is part of a struct aligned. */
enum { IS_ALIGNED = 1 };

static struct room_link *address(struct room_link *link)
{
	return (struct room_link *)((uintptr_t)link & ~(uintptr_t)IS_ALIGNED);
}

static bool is_aligned(const struct room_link *link)
{
	return (uintptr_t)link->previous & IS_ALIGNED;
}

/* Let NEXT follow PREVIOUS.  NEXT stays aligned or not. */
static void connect(struct room_link *previous, struct room_link *next)
{
	previous->next = next;
	next->previous = (struct room_link *)((uintptr_t)previous | is_aligned(next));
}

/* Let LINK follow FIRST. */
static void insert(struct room_link *first, struct room_link *link, bool aligned)
{
	link->previous = (struct room_link *)(uintptr_t)aligned;
	connect(link, first->next);
	connect(first, link);
}

static void take_out(struct room_link *link)
{
	connect(address(link->previous), link->next);
}

static void *enter(struct block *b, bool aligned)
{
	if (!b)
		return NULL;
	if (current_guard) {
		insert(&current_guard->handle->room.blocks, &b->link, aligned);
	} else {	/* in no room: a circle of its own */
		b->link.next = &b->link;
		b->link.previous = (struct room_link *)((uintptr_t)&b->link | aligned);
	}
	return b + 1;
}

void *room_malloc(size_t size)
{
	size_t whole;

	if (__builtin_add_overflow(size, sizeof(struct block), &whole)) {
		errno = ENOMEM;
		return NULL;
	}
	return enter(malloc(whole), false);
}

void *room_calloc(size_t count, size_t size)
{
	size_t whole;

	if (__builtin_mul_overflow(count, size, &whole) ||
	    __builtin_add_overflow(whole, sizeof(struct block), &whole)) {
		errno = ENOMEM;
		return NULL;
	}
	return enter(calloc(1, whole), false);
}

static void free_block(struct block *b)
{
	if (is_aligned(&b->link))
		free(((struct aligned *)(b + 1) - 1)->start);
	else
		free(b);
}

void room_free(void *p)
{
	if (!p)
		return;
	struct block *b = (struct block *)p - 1;
	take_out(&b->link);
	free_block(b);
}

/* Return SIZE bytes with what the aligned block P has, and free P, or return NULL. */
static void *move_aligned(void *p, size_t size)
{
	const struct aligned *a = (struct aligned *)p - 1;
	void *moved = room_malloc(size);

	if (!moved)
		return NULL;
	memcpy(moved, p, size < a->size ? size : a->size);
	room_free(p);
	return moved;
}

void *room_realloc(void *p, size_t size)
{
	size_t whole;

	if (!p)
		return room_malloc(size);
	struct block *b = (struct block *)p - 1;
	if (is_aligned(&b->link))
		return move_aligned(p, size);
	if (__builtin_add_overflow(size, sizeof(*b), &whole)) {
		errno = ENOMEM;
		return NULL;
	}
	bool is_alone = b->link.next == &b->link;
	b = realloc(b, whole);
	if (!b)
		return NULL;
	if (is_alone)
		b->link.next = b->link.previous = &b->link;
	connect(b->link.previous, &b->link);
	connect(&b->link, b->link.next);
	return b + 1;
}

void *room_aligned_alloc(size_t alignment, size_t size)
{
	size_t before = alignment > sizeof(struct aligned) ? alignment : sizeof(struct aligned);
	size_t whole;
	char *start;

	if (alignment <= _Alignof(struct block))
		return room_malloc(size);
	if (__builtin_add_overflow(size, before, &whole)) {
		errno = ENOMEM;
		return NULL;
	}
	start = aligned_alloc(alignment, (whole + alignment - 1) & ~(alignment - 1));
	if (!start)
		return NULL;
	struct aligned *a = (struct aligned *)(start + before) - 1;
	a->size = size;
	a->start = start;
	return enter(&a->block, true);
}

char *room_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = room_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

char *room_strndup(const char *text, size_t most)
{
	size_t length = strnlen(text, most);
	char *copy = room_malloc(length + 1);

	if (!copy)
		return NULL;
	copy[length] = '\0';
	return memcpy(copy, text, length);
}

void room_init(struct room *room)
{
	room->blocks.next = room->blocks.previous = &room->blocks;
	room->things.next = room->things.previous = &room->things;
}

bool room_is_empty(const struct room *room)
{
	return room->blocks.next == &room->blocks && room->things.next == &room->things;
}

/* Something that is not memory. */
struct thing {
	struct room_link link;
	void (*release)(void *object);
	void *object;
};

void *room_try_to_note(void *object, void (*release)(void *object))
{
	struct thing *thing;

	if (!object || !current_guard)
		return object;
	thing = malloc(sizeof(*thing));
	if (!thing) {
		release(object);
		return NULL;
	}
	thing->object = object;
	thing->release = release;
	insert(&current_guard->handle->room.things, &thing->link, false);
	return object;
}

void *room_note(void *object, void (*release)(void *object))
{
	if (object && !room_try_to_note(object, release))
		out_of_memory();
	return object;
}

/* Return the note of OBJECT in the rooms that this thread works for, or NULL. */
static struct thing *find(const void *object)
{
	for (const struct guard *guard = current_guard; guard; guard = guard->outer) {
		struct room_link *first = &guard->handle->room.things;

		for (struct room_link *link = first->next; link != first; link = link->next)
			if (((struct thing *)link)->object == object)
				return (struct thing *)link;
	}
	return NULL;
}

void (*room_forget(const void *object))(void *object)
{
	struct thing *thing = object ? find(object) : NULL;
	void (*release)(void *object);

	if (!thing)
		return NULL;
	release = thing->release;
	take_out(&thing->link);
	free(thing);
	return release;
}

void room_clear(struct room *room)
{
	while (room->things.next != &room->things) {
		struct thing *thing = (struct thing *)room->things.next;

		take_out(&thing->link);
		thing->release(thing->object);
		free(thing);
	}
	while (room->blocks.next != &room->blocks) {
		struct block *b = (struct block *)room->blocks.next;

		take_out(&b->link);
		free_block(b);
	}
}
