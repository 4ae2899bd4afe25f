/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in memory, for the library: see elf/mapped.h.  Address space is reserved for the whole
 * file, and its pages are read when they are needed.  What cannot be read stays zero.
 */
#include "base/arena.h"
#include "elf/mapped.h"
#include "library/owned.h"
#include "library/room.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, WORD = 64 };	/* bytes that are read at least; bits of a word */

struct mapped_pages {
	struct owned file;
	uint64_t read[];	/* bit per page of the file: it was read */
};

/* Each file takes a descriptor: leave the program half of those that it may have. */
uint32_t mapped_files_max(uint32_t most)
{
	const rlim_t least = 8;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 2 < least)
		return (uint32_t)least;
	return limit.rlim_cur / 2 < most ? (uint32_t)(limit.rlim_cur / 2) : most;
}

bool mapped_open(struct mapped *m, int fd)
{
	struct mapped new = { 0 };

	if (!mapped_describe(&new, fd))
		return false;
	int own = room_dup(fd);
	void *at = own < 0 ? NULL : room_reserve(mapped_reserved(new.size));
	if (!at) {
		bool is_full = errno == ENOMEM;
		if (own >= 0)
			close(own);
		if (is_full)
			out_of_memory();
		return false;
	}
	size_t words = new.size / PAGE / WORD + 1;
	new.at = at;
	new.pages = mem_zeroed(1, sizeof(*new.pages) + words * sizeof(new.pages->read[0]));
	owned_take(&new.pages->file, own);
#ifdef CHECK_ROOMS	/* what was not asked for may not be used */
	mprotect(at, (new.size + PAGE - 1) / PAGE * PAGE, PROT_NONE);
#endif
	*m = new;
	return true;
}

/* Read the bytes of M from START to END, and return whether the file has them all. */
static bool read_bytes(const struct mapped *m, size_t start, size_t end)
{
	uint8_t *at = (uint8_t *)(uintptr_t)m->at;

#ifdef CHECK_ROOMS
	mprotect(at + start, (end - start + PAGE - 1) / PAGE * PAGE, PROT_READ | PROT_WRITE);
#endif
	while (start < end) {
		ssize_t n = pread(owned_fd(&m->pages->file), at + start, end - start, (off_t)start);
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		start += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool was_read(const struct mapped_pages *p, size_t page)
{
	return p->read[page / WORD] >> page % WORD & 1;
}

uint64_t mapped_read(const struct mapped *m, const uint8_t *at, uint64_t size)
{
	struct mapped_pages *p = m->pages;
	uintptr_t from = (uintptr_t)at - (uintptr_t)m->at;
	uint64_t bytes = 0;

	if (from >= m->size || size == 0)
		return 0;
	size = size < m->size - from ? size : m->size - from;
	size_t page = from / PAGE, last = (from + size - 1) / PAGE, first;
	for (; page <= last; page++) {
		if (p->read[page / WORD] == UINT64_MAX)
			page |= WORD - 1;
		if (page > last || was_read(p, page))
			continue;
		for (first = page; page <= last && !was_read(p, page); page++)
			p->read[page / WORD] |= 1ULL << page % WORD;
		size_t end = page * PAGE < m->size ? page * PAGE : m->size;
		if (!read_bytes(m, first * PAGE, end))
			((struct mapped *)(uintptr_t)m)->is_cut = true;
		bytes += end - first * PAGE;
	}
	return bytes;
}

uint64_t mapped_rest(const struct mapped *m, const uint8_t *at, size_t size)
{
	struct mapped_pages *p = m->pages;
	uintptr_t from = (uintptr_t)at - (uintptr_t)m->at;
	uint64_t bytes = 0;

	if (!p || from >= m->size || size > m->size - from)
		return 0;
	size_t first = (from + PAGE - 1) / PAGE, end = (from + size) / PAGE;
	for (size_t page = first; page < end; page++) {
		bytes += was_read(p, page) ? PAGE : 0;
		p->read[page / WORD] &= ~(1ULL << page % WORD);
	}
	if (first < end)
		madvise((void *)(uintptr_t)(m->at + first * PAGE), (end - first) * PAGE,
			MADV_DONTNEED);
	return bytes;
}

void mapped_close(struct mapped *m)
{
	if (!m->at)
		return;
	room_release((void *)(uintptr_t)m->at);
	owned_close(&m->pages->file);
	free(m->pages);
	*m = (struct mapped){ 0 };
}
