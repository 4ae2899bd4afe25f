/* SPDX-License-Identifier: Apache-2.0 */
/* What both ways to map a file have in common: the tools' in mapped.c, and the library's. */
#include "elf/mapped.h"

#include <sys/stat.h>
#include <unistd.h>

size_t mapped_reserved(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return ((size + page - 1) & ~(page - 1)) + page;
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

bool mapped_describe(struct mapped *m, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > SIZE_MAX / 2 || is_hollow(&st))
		return false;
	m->size = (size_t)st.st_size;
	m->modified = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	m->owner = st.st_uid;
	return true;
}
