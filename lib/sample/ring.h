/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring - the kernel's ring of records of one CPU, mapped into memory.
 *
 * The kernel writes at the head, we read at the tail.  ring_peek() lends a
 * record where it lies; ring_take() moves on past it; ring_give_back() lets
 * the kernel overwrite all that was taken.
 */
#pragma once
#include "base/report.h"

#include <linux/perf_event.h>
#include <stddef.h>

struct ring {
	int fd;			/* the event it was mapped from; -1: none */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t size;		/* bytes of data, a power of two */
	uint64_t head;		/* as of the last ring_refresh() */
	uint64_t tail;		/* what was taken so far */
	uint8_t *scratch;	/* for a record that wraps around the end */
};

/*
 * Map a ring of SIZE data bytes (a power of two of pages) over the event FD.
 * False with errno set.
 */
bool ring_map(struct ring *ring, int fd, size_t size);

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

void ring_unmap(struct ring *ring);
