/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring - the kernel's ring of records of one CPU, mapped into memory.
 *
 * The kernel writes at the head, we read at the tail.  ring_peek() returns the next record in
 * place; ring_take() consumes it; ring_give_back() lets the kernel overwrite consumed records.
 *
 * A ring may also be a buffer of our own, with copies of records.
 */
#pragma once
#include "base/report.h"

#include <linux/perf_event.h>
#include <stddef.h>

struct ring {
	int fd;			/* the mapped event; 0: our own buffer; -1: not mapped */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t size;		/* data bytes, a power of two; 0: no buffer yet */
	uint64_t head;		/* end of the records, as of the last ring_refresh() */
	uint64_t tail;		/* end of the consumed records */
	uint8_t *scratch;	/* copy of a record that wraps around the end */
};

/*
 * Map a ring of SIZE data bytes (a power of two of pages) over the event FD.  With OVERWRITE,
 * the kernel fills it from its end to its start and overwrites the oldest records
 * (attr.write_backward).  False: errno is set.
 */
bool ring_map(struct ring *ring, int fd, size_t size, bool overwrite);

/* Read the kernel's head.  Returns the bytes not consumed yet. */
uint64_t ring_refresh(struct ring *ring);

/*
 * Return the next record as of the last refresh, or NULL.  It is contiguous and aligned to 8;
 * valid until the next peek or give-back.
 */
const struct perf_event_header *ring_peek(struct ring *ring);

/* Consume RECORD, which ring_peek() returned. */
static inline void ring_take(struct ring *ring, const struct perf_event_header *record)
{
	ring->tail += record->size;
}

/* Let the kernel overwrite the consumed records. */
void ring_give_back(struct ring *ring);

/*
 * Copy the records of RING, mapped with OVERWRITE, to COPY, oldest first.  Free COPY by
 * ring_drop().
 */
void ring_copy_backward(const struct ring *ring, struct ring *copy);

/* Append RECORD to RING, a zero-initialised buffer of our own that grows. */
void ring_append(struct ring *ring, const struct perf_event_header *record);

/* Free a ring that is a buffer of our own. */
void ring_drop(struct ring *ring);

void ring_unmap(struct ring *ring);
