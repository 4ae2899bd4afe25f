/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring - the kernel's ring of records of one CPU, mapped into memory.
 *
 * The kernel writes at the head, we read at the tail.  ring_peek() lends a
 * record where it lies; ring_take() moves on past it; ring_give_back() lets
 * the kernel overwrite all that was taken.
 *
 * A ring may also be in memory alone, of records that were copied.
 */
#pragma once
#include "base/report.h"

#include <linux/perf_event.h>
#include <stddef.h>

struct ring {
	int fd;			/* the event it was mapped from, 0 in memory; -1: none */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t size;		/* bytes of data, a power of two; 0: none yet */
	uint64_t head;		/* as of the last ring_refresh() */
	uint64_t tail;		/* what was taken so far */
	uint8_t *scratch;	/* for a record that wraps around the end */
};

/*
 * Map a ring of SIZE data bytes (a power of two of pages) over the event FD;
 * with OVERWRITE one that the kernel goes on filling from its end to its start,
 * over and over (attr.write_backward).  False with errno set.
 */
bool ring_map(struct ring *ring, int fd, size_t size, bool overwrite);

/* See what the kernel has written up to now.  Returns the bytes not taken yet. */
uint64_t ring_refresh(struct ring *ring);

/*
 * The next record as of the last refresh, or NULL.  It is one piece and
 * aligned to 8; valid until the next peek or give-back.
 */
const struct perf_event_header *ring_peek(struct ring *ring);

static inline void ring_take(struct ring *ring, const struct perf_event_header *record)
{
	ring->tail += record->size;
}

/* Everything taken may be overwritten. */
void ring_give_back(struct ring *ring);

/*
 * Copy what a ring mapped for overwriting holds, the oldest record first, into
 * COPY, to be read like any ring; ring_drop() it.
 */
void ring_copy_backward(const struct ring *ring, struct ring *copy);

/* A ring in memory, to which ring_append() adds; ring_drop() it. */
void ring_append(struct ring *ring, const struct perf_event_header *record);
void ring_drop(struct ring *ring);

void ring_unmap(struct ring *ring);
