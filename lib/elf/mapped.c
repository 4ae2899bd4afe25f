/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of mappings is global, because the action for a signal is global.  Only the
 * thread that reads the files changes the list; the signal handler never does.
 */
#include "elf/internal.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mapped *all;
static struct sigaction before;

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Return the bytes of address space for a file of SIZE bytes: its pages, and one more. */
static size_t reserved(size_t size)
{
	size_t page = page_size();

	return ((size + page - 1) & ~(page - 1)) + page;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;

	(void)number;
	(void)context;
	for (struct mapped *m = all; m; m = m->next) {
		uintptr_t start = (uintptr_t)m->at;
		if (address - start >= reserved(m->size))
			continue;
		uintptr_t page = address & ~(uintptr_t)(page_size() - 1);
		if (mmap((void *)page, start + reserved(m->size) - page, PROT_READ,
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

/*
 * Return whether the file is large and almost all holes.  Reading a hole takes as much time and
 * memory as reading data, but making a hole costs nothing.  Some file systems report no blocks
 * (st_blocks is 0); their files are accepted.
 */
static bool is_hollow(const struct stat *st)
{
	enum { SMALL = 64 << 20, SHARE = 64 };	/* bytes; no file system compresses to 1/SHARE */

	return st->st_size > SMALL && st->st_blocks > 0 &&
	       st->st_blocks < st->st_size / 512 / SHARE;
}

bool mapped_open(struct mapped *m, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > SIZE_MAX / 2 || is_hollow(&st))
		return false;
	size_t size = (size_t)st.st_size;
	uint8_t *at = mmap(NULL, reserved(size), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return false;
	if (mmap(at, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		munmap(at, reserved(size));
		return false;
	}
	if (!all)
		catch_sigbus();
	*m = (struct mapped){
		.at = at, .size = size, .next = all,
		.modified = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
		.owner = st.st_uid,
	};
	all = m;
	return true;
}

void mapped_rest(const struct mapped *m, const uint8_t *at, size_t size)
{
	uintptr_t start = (uintptr_t)at, end = start + size, page = page_size();

	if (!m->at || at < m->at || start - (uintptr_t)m->at > m->size ||
	    size > m->size - (start - (uintptr_t)m->at))
		return;
	start = (start + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
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
	munmap((void *)(uintptr_t)m->at, reserved(m->size));
	if (!all)
		sigaction(SIGBUS, &before, NULL);
	*m = (struct mapped){ 0 };
}
