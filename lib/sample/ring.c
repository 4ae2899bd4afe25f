/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ring.h"
#include "base/arena.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SCRATCH = 64 * 1024 };	/* bytes; a record's size is a u16 */

bool ring_map(struct ring *ring, int fd, size_t size, bool overwrite)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int access = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;	/* the kernel tells by it */
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
	 * Acquire: the records up to the head are read after the head
	 * (linux/perf_event.h, data_head).
	 */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	return ring->head - ring->tail;
}

const struct perf_event_header *ring_peek(struct ring *ring)
{
	uint64_t left = ring->head - ring->tail, at = ring->tail & (ring->size - 1);

	if (left == 0)
		return NULL;
	/* Records are multiples of 8, so a header never wraps. */
	const struct perf_event_header *record = (void *)(ring->data + at);
	if (at + record->size <= ring->size)
		return record;
	uint64_t first = ring->size - at;
	memcpy(ring->scratch, record, first);
	memcpy(ring->scratch + first, ring->data, record->size - first);
	return (void *)ring->scratch;
}

void ring_give_back(struct ring *ring)
{
	/* Release: the kernel overwrites only after our reads are done. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/* Bytes of whole records from the head of a ring for overwriting, up to its size. */
static uint64_t whole_records(const struct ring *ring, uint64_t head)
{
	uint64_t written = -head;	/* it began at 0, and goes down */
	uint64_t limit = written < ring->size ? written : ring->size, at = 0;

	while (at < limit) {
		const struct perf_event_header *record =
			(void *)(ring->data + ((head + at) & (ring->size - 1)));
		if (record->size < sizeof(*record) || at + record->size > limit)
			break;	/* its end has been overwritten */
		at += record->size;
	}
	return at;
}

static void copy_out(const struct ring *ring, uint64_t from, uint8_t *to, size_t size)
{
	uint64_t at = from & (ring->size - 1);
	uint64_t first = ring->size - at < size ? ring->size - at : size;

	memcpy(to, ring->data + at, first);
	memcpy(to + first, ring->data, size - first);
}

void ring_copy_backward(const struct ring *ring, struct ring *copy)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t size = whole_records(ring, head);

	*copy = (struct ring){ .data = mem_resize(NULL, ring->size), .size = ring->size,
			       .head = size };
	for (uint64_t at = 0; at < size; ) {	/* the newest comes first here, last there */
		struct perf_event_header record;
		copy_out(ring, head + at, (uint8_t *)&record, sizeof(record));
		copy_out(ring, head + at, copy->data + size - at - record.size, record.size);
		at += record.size;
	}
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
