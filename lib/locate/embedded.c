/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of libraries that are stored in an APK, Android's archive. */
#include "base/descriptor.h"
#include "base/regular.h"
#include "elf/mapped.h"
#include "locate/internal.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MOST (256ULL << 20)	/* bytes that archives may cost, and */
enum { EACH = 16 << 10 };	/* what each mapping adds to that */

/* Return whether M has mapped another file than FD: its inode differs, on the same device. */
static bool is_other_file(const struct mmap_record *m, int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ||
	       (m->inode && st.st_ino != m->inode && major(st.st_dev) == m->major &&
		minor(st.st_dev) == m->minor);
}

/* Open the archive PATH of M, below the first root that has it.  Return -1 on failure. */
static int open_archive(const struct images *i, const struct mmap_record *m)
{
	struct proc_path root = proc_path(m->pid, "root");
	const char *roots[] = { i->is_local && m->pid > 0 ? root.text : NULL, "" };

	if (i->where.sysroot)
		return regular_open_below(i->where.sysroot, m->path, false);
	for (unsigned k = 0; i->is_local && k < 2; k++) {
		int fd = roots[k] ? regular_open_below(roots[k], m->path, false) : -1;
		if (fd >= 0 && !is_other_file(m, fd))
			return fd;
		descriptor_close(fd);
	}
	return -1;
}

void images_rename(void *images, struct mmap_record *m)
{
	static const char apk[] = ".apk";
	struct images *i = images;
	size_t length = strlen(m->path), end = sizeof(apk) - 1;
	struct archive_file file;
	struct mapped zip;

	if (i->where.files != LOCATE_RECORDED || m->build_id_size ||
	    length <= end || strcmp(m->path + length - end, apk))
		return;
	i->archives_cost = i->archives_cost > EACH ? i->archives_cost - EACH : 0;
	int fd = i->archives_cost < MOST ? open_archive(i, m) : -1;
	if (fd >= 0 && mapped_open(&zip, fd)) {
		i->archives_cost += archive_cost(&zip);
		if (i->archives_cost < MOST && archive_find_at(&zip, m->file_offset, &file) &&
		    (size_t)snprintf(i->library, sizeof(i->library), "%s!/%s", m->path, file.name) <
		    sizeof(i->library)) {
			m->path = i->library;
			m->file_offset -= file.offset;
		}
		mapped_close(&zip);
	}
	descriptor_close(fd);
}
