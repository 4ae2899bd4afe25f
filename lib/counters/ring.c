/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/ring.h"
#include "base/arena.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SCRATCH = 64 * 1024 };	/* bytes; a record's size is a u16 */

bool ring_map(struct ring *ring, int fd, size_t size, bool overwrite)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int access = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;	/* selects the mode */
	void *at = mmap(NULL, page + size, access, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return false;
	*ring = (struct ring){ .fd = fd, .page = at, .data = (uint8_t *)at + page, .size = size,
			       .scratch = mem_resize(NULL, SCRATCH) };
	return true;
}

uint64_t ring_refresh(struct ring *ring)
{
	/*
	 * Acquire: read the records up to the head only after the head
	 * (linux/perf_event.h, data_head).
	 */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	return ring->head - ring->tail;
}

static uint8_t *scratch_of(struct ring *ring)
{
	if (!ring->scratch)
		ring->scratch = mem_resize(NULL, SCRATCH);
	return ring->scratch;
}

/* Discard all bytes: they are not records.  Return NULL. */
static void *discard(struct ring *ring)
{
	ring->discarded += ring->head - ring->tail;
	ring->tail = ring->head;
	return NULL;
}

const struct perf_event_header *ring_peek(struct ring *ring)
{
	uint64_t left = ring->head - ring->tail, at = ring->tail & (ring->size - 1);

	if (left == 0)
		return NULL;
	/* Records are multiples of 8, so a header never wraps. */
	if (left > ring->size || left % 8 || at % 8)
		return discard(ring);
	const struct perf_event_header *record = (void *)(ring->data + at);
	ring->next = record->size;
	if (ring->next < sizeof(*record) || ring->next % 8 || ring->next > left)
		return discard(ring);
	if (at + ring->next <= ring->size)
		return record;
	uint64_t first = ring->size - at;
	uint8_t *copy = scratch_of(ring);
	memcpy(copy, record, first);
	memcpy(copy + first, ring->data, ring->next - first);
	return (void *)copy;
}

static void copy_out(const uint8_t *data, uint64_t size, uint64_t from, void *to, size_t bytes)
{
	uint64_t at = from & (size - 1);
	uint64_t first = size - at < bytes ? size - at : bytes;

	memcpy(to, data + at, first);
	memcpy((uint8_t *)to + first, data, bytes - first);
}

bool ring_look_ahead(const struct ring *ring, uint64_t at, void *to, size_t size)
{
	uint64_t left = ring->head - ring->tail;

	if (at > left || size > left - at)
		return false;
	copy_out(ring->data, ring->size, ring->tail + at, to, size);
	return true;
}

const struct perf_event_header *ring_cut(struct ring *ring, const struct perf_event_header *record,
					 uint16_t size)
{
	struct perf_event_header *copy = (void *)scratch_of(ring);

	memmove(copy, record, size);
	copy->size = size;
	return copy;
}

struct perf_event_header *ring_copy(struct ring *ring, const struct perf_event_header *record)
{
	return memmove(scratch_of(ring), record, record->size);
}

bool ring_is_stuck(struct ring *ring, uint64_t now)
{
	enum { LONGEST = 1000000000 };	/* ns */
	bool is_full = ring->head - ring->tail > ring->size / 4 * 3;

	if (!is_full)
		ring->full_since = 0;
	else if (ring->full_since == 0)
		ring->full_since = now;
	return is_full && now - ring->full_since >= LONGEST;
}

void ring_give_back(struct ring *ring)
{
	/* Release: the kernel may overwrite only after our reads are done. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/* Return the size of the whole records from HEAD on in DATA, of which LIMIT bytes are intact. */
static uint64_t whole_records(const uint8_t *data, uint64_t size, uint64_t head, uint64_t limit)
{
	uint64_t at = 0;

	while (head % 8 == 0 && at + sizeof(struct perf_event_header) <= limit) {
		const struct perf_event_header *record =
			(const void *)(data + ((head + at) & (size - 1)));
		if (record->size < sizeof(*record) || record->size % 8 ||
		    at + record->size > limit)
			break;	/* the end of this record has been overwritten */
		at += record->size;
	}
	return at;
}

/*
 * The kernel continues to write during the copy: pausing it would lose samples.  It writes towards
 * lower addresses, over the oldest records: discard from the copy all records that it has
 * overwritten since, or may be overwriting now.
 */
void ring_copy_backward(const struct ring *ring, struct ring *copy)
{
	uint64_t size = ring->size, now_written = size / 8 < SCRATCH ? size / 8 : SCRATCH;
	uint8_t *raw = mem_resize(NULL, size);
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	memcpy(raw, ring->data, size);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	uint64_t later = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t lost = head - later + now_written, written = -head;	/* head started at 0 */
	uint64_t intact = lost < size ? size - lost : 0;
	uint64_t whole = whole_records(raw, size, head, written < intact ? written : intact);

	*copy = (struct ring){ .data = mem_resize(NULL, size), .size = size, .head = whole };
	for (uint64_t at = 0; at < whole; ) {	/* newest first in RAW, last in COPY */
		struct perf_event_header record;
		copy_out(raw, size, head + at, &record, sizeof(record));
		copy_out(raw, size, head + at, copy->data + whole - at - record.size, record.size);
		at += record.size;
	}
	free(raw);
}

void ring_append(struct ring *ring, const struct perf_event_header *record)
{
	if (ring->tail == ring->head)
		ring->tail = ring->head = 0;
	if (ring->head + record->size > ring->size) {
		ring->size = ring->size ? 2 * ring->size : SCRATCH;
		ring->data = mem_resize(ring->data, ring->size);
	}
	memcpy(ring->data + ring->head, record, record->size);
	ring->head += record->size;
}

void ring_drop(struct ring *ring)
{
	free(ring->data);
	free(ring->scratch);
	*ring = (struct ring){ 0 };
}

void ring_unmap(struct ring *ring)
{
	if (!ring->page)
		return;
	munmap(ring->page, (size_t)(ring->data - (uint8_t *)ring->page) + ring->size);
	free(ring->scratch);
	*ring = (struct ring){ .fd = -1 };
}
