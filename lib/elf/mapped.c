/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of mappings is global, because the action for a signal is global.  Only the
 * thread that reads the files changes the list; the signal handler never does.
 */
#include "elf/mapped.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static struct mapped *all;
static struct sigaction before;

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;

	(void)number;
	(void)context;
	for (struct mapped *m = all; m; m = m->next) {
		uintptr_t start = (uintptr_t)m->at;
		if (address - start >= mapped_reserved(m->size))
			continue;
		uintptr_t page = address & ~(uintptr_t)(page_size() - 1);
		if (mmap((void *)page, start + mapped_reserved(m->size) - page, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			break;
		m->is_cut = true;
		return;		/* the read continues with zeros */
	}
	sigaction(SIGBUS, &before, NULL);	/* not our file: the access repeats, and the old
						   action gets the signal */
}

static void catch_sigbus(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &before);
}

bool mapped_open(struct mapped *m, int fd)
{
	struct mapped new = { .next = all };

	if (!mapped_describe(&new, fd))
		return false;
	size_t whole = mapped_reserved(new.size);
	uint8_t *at = mmap(NULL, whole, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return false;
	if (mmap(at, new.size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		munmap(at, whole);
		return false;
	}
	if (!all)
		catch_sigbus();
	*m = new;
	m->at = at;
	all = m;
	return true;
}

uint32_t mapped_files_max(uint32_t most)
{
	return most;	/* a mapping takes no descriptor */
}

uint64_t mapped_read(const struct mapped *m, const uint8_t *at, uint64_t size)
{
	(void)m;
	(void)at;
	(void)size;
	return 0;
}

uint64_t mapped_rest(const struct mapped *m, const uint8_t *at, size_t size)
{
	uintptr_t start = (uintptr_t)at, end = start + size, page = page_size();

	if (!m->at || at < m->at || start - (uintptr_t)m->at > m->size ||
	    size > m->size - (start - (uintptr_t)m->at))
		return 0;
	start = (start + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
	return 0;	/* pages of files are not counted as memory */
}

void mapped_close(struct mapped *m)
{
	struct mapped **link = &all;

	if (!m->at)
		return;
	while (*link && *link != m)
		link = &(*link)->next;
	if (*link)
		*link = m->next;
	munmap((void *)(uintptr_t)m->at, mapped_reserved(m->size));
	if (!all)
		sigaction(SIGBUS, &before, NULL);
	*m = (struct mapped){ 0 };
}
