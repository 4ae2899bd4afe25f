/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring - the kernel's ring of records of one CPU, mapped into memory.
 *
 * The kernel writes at the head, we read at the tail.  ring_peek() returns the next record in
 * place; ring_take() consumes it; ring_give_back() lets the kernel overwrite consumed records.
 *
 * No record is trusted: whatever the kernel writes, reading stays inside the ring, and ends.
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
	uint64_t next;		/* bytes of the record that ring_peek() returned last */
	uint64_t time;		/* of the last record, as ring-merge.h has it */
	uint64_t discarded;	/* bytes that are not records, see ring_peek() */
	uint64_t damaged;	/* records whose fields do not fit into them */
	uint64_t full_since;	/* see ring_is_stuck() */
	bool overdue;		/* its records do not wait for those of other rings */
	uint8_t *scratch;	/* copy of a record that wraps around the end, or is cut */
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
 * valid until the next peek or give-back.  If the next bytes cannot be a record, all bytes up to
 * the head are discarded, since nothing says where the next record is.
 */
const struct perf_event_header *ring_peek(struct ring *ring);

/*
 * Copy to TO the SIZE bytes that start AT bytes after the start of the record that ring_peek()
 * returned.  Return false if some of them are beyond the head.
 */
bool ring_look_ahead(const struct ring *ring, uint64_t at, void *to, size_t size);

/* Return RECORD, which ring_peek() returned, cut to SIZE bytes; valid as long. */
const struct perf_event_header *ring_cut(struct ring *ring, const struct perf_event_header *record,
					 uint16_t size);

/* Return a copy of RECORD, which ring_peek() returned, that may be changed; valid as long. */
struct perf_event_header *ring_copy(struct ring *ring, const struct perf_event_header *record);

/* Consume the record that ring_peek() returned. */
static inline void ring_take(struct ring *ring)
{
	ring->tail += ring->next;
}

/*
 * After the records of a round were taken: return whether the ring has been nearly full for a
 * second.  NOW: monotonic_ns().
 */
bool ring_is_stuck(struct ring *ring, uint64_t now);

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
