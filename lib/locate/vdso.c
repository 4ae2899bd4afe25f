/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what the kernel of this machine maps into every process. */
#include "locate/internal.h"
#include "base/arena.h"
#include "linux/proc.h"

#include <sys/auxv.h>
#include <sys/utsname.h>

enum { VDSO_MAX = 4 * 4096 };	/* bytes; the vdso of x86 and arm64 has one or two pages */

/* Open this machine's vdso, which every process maps. */
static struct elf *open_vdso(void)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	const char *why;

	return vdso ? elf_open_memory(vdso, VDSO_MAX, &why) : NULL;
}

/* Open the vdso that PID maps at M, by the memory of the living process. */
static struct elf *open_vdso_of(pid_t pid, const struct mapping *m)
{
	size_t size = m->end - m->start < VDSO_MAX ? m->end - m->start : VDSO_MAX;
	uint8_t *bytes = mem_zeroed(1, size);
	ssize_t n = proc_read_memory(pid, m->start, bytes, size);
	const char *why;

	return elf_open_owned(bytes, n > 0 ? (size_t)n : 0, &why);
}

struct elf *locate_vdso(const struct object *object, pid_t pid, const struct mapping *m)
{
	return object_is_vdso32(object) ? open_vdso_of(pid, m) : open_vdso();
}

bool locate_is_local(const struct stream_origin *origin)
{
	struct utsname here;

	return origin->host && origin->kernel && uname(&here) == 0 &&
	       !strcmp(origin->host, here.nodename) && !strcmp(origin->kernel, here.release);
}
