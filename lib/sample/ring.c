/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ring.h"
#include "base/arena.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SCRATCH = 64 * 1024 };	/* bytes; a record's size is a u16 */

bool ring_map(struct ring *ring, int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

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

void ring_unmap(struct ring *ring)
{
	if (!ring->page)
		return;
	munmap(ring->page, (size_t)(ring->data - (uint8_t *)ring->page) + ring->size);
	free(ring->scratch);
	*ring = (struct ring){ .fd = -1 };
}
