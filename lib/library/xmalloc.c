/* SPDX-License-Identifier: Apache-2.0 */
/* libiberty's demangler takes memory from these; its own ones end the program without memory. */
#include "base/arena.h"

#include <libiberty/libiberty.h>

void *xmalloc(size_t size)
{
	return mem_resize(NULL, size);
}

void *xrealloc(void *p, size_t size)
{
	return mem_resize(p, size);
}

void xmalloc_failed(size_t size)
{
	(void)size;
	out_of_memory();
}
