/* SPDX-License-Identifier: Apache-2.0 */
#include "library/handle.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * getpid() at each call would cost more than many calls do.  Instead, each handle has a page that a
 * fork sets to zero in the child.
 */
static const volatile uint8_t *new_mark(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *mark = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);

	if (mark == MAP_FAILED)
		return NULL;
	madvise(mark, size, MADV_WIPEONFORK);
	*mark = 1;
	return mark;
}

void *handle_new(enum handle_kind kind, size_t size, pmukit_message *message, void *context)
{
	struct handle *h = calloc(1, size);
	const volatile uint8_t *mark = h ? new_mark() : NULL;

	prepare_once();
	if (!mark) {
		free(h);
		fail(PMUKIT_NO_MEMORY, "out of memory");
		return NULL;
	}
	h->kind = kind;
	h->mark = mark;
	h->report = (struct report){ .tool = "libpmukit", .owner = h };
	h->message = message;
	h->context = context;
	room_init(&h->room);
	return h;
}

void *handle_free(struct handle *h)
{
	int error = errno;

	room_clear(&h->room);
	munmap((void *)h->mark, (size_t)sysconf(_SC_PAGESIZE));
	h->kind = 0;
	free(h);
	errno = error;
	return NULL;
}
