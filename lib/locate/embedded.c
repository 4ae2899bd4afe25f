/* SPDX-License-Identifier: Apache-2.0 */
#include "locate/embedded.h"
#include "base/descriptor.h"
#include "base/regular.h"
#include "elf/mapped.h"
#include "linux/proc.h"
#include "locate/archive.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Return whether M has mapped another file than FD: its inode differs, on the same device. */
static bool is_other_file(const struct mmap_record *m, int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ||
	       (m->inode && st.st_ino != m->inode && major(st.st_dev) == m->major &&
		minor(st.st_dev) == m->minor);
}

/* Open the archive PATH of M, below the first root that has it.  Return -1 on failure. */
static int open_archive(const struct locate_embedded *e, const struct mmap_record *m,
			bool is_local)
{
	struct proc_path root = proc_path(m->pid, "root");
	const char *roots[] = { is_local && m->pid > 0 ? root.text : NULL, "" };

	if (e->where->sysroot)
		return regular_open_below(e->where->sysroot, m->path, false);
	for (unsigned i = 0; is_local && i < 2; i++) {
		int fd = roots[i] ? regular_open_below(roots[i], m->path, false) : -1;
		if (fd >= 0 && !is_other_file(m, fd))
			return fd;
		descriptor_close(fd);
	}
	return -1;
}

void locate_embedded(struct locate_embedded *e, struct mmap_record *m, bool is_local)
{
	static const char apk[] = ".apk";
	size_t length = strlen(m->path), end = sizeof(apk) - 1;
	struct archive_file file;
	struct mapped zip;

	if (length <= end || strcmp(m->path + length - end, apk) || m->build_id_size)
		return;
	e->spent = e->spent > EMBEDDED_EACH ? e->spent - EMBEDDED_EACH : 0;
	int fd = e->spent < EMBEDDED_MOST ? open_archive(e, m, is_local) : -1;
	if (fd >= 0 && mapped_open(&zip, fd)) {
		const struct elf_bytes bytes = { zip.at, zip.size };
		e->spent += archive_cost(bytes);
		if (e->spent < EMBEDDED_MOST && archive_find_at(bytes, m->file_offset, &file) &&
		    (size_t)snprintf(e->path, sizeof(e->path), "%s!/%s", m->path, file.name) <
		    sizeof(e->path)) {
			m->path = e->path;
			m->file_offset -= file.offset;
		}
		mapped_close(&zip);
	}
	descriptor_close(fd);
}
