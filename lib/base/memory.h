/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory - how freed memory returns to the system.  glibc keeps it, unless it is asked; other C
 * libraries have nothing to ask for.
 */
#pragma once
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Return what was freed to the system now. */
static inline void memory_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

/*
 * Have malloc() map each block of more than BYTES for itself: to make it larger copies nothing, and
 * when it is freed, it returns to the system.
 */
static inline void memory_map_from(int bytes)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, bytes);
#else
	(void)bytes;
#endif
}
