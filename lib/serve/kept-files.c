/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/kept-files.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/directory.h"
#include "base/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "profile-"
#define SUFFIX ".pb.gz"

enum { FUTURE_SECONDS = 60 };	/* a file that starts later than this has a wrong name */

bool kept_files_open(struct kept_files *r, const char *path, char why[KEPT_FILES_WHY])
{
	char wrong[DIRECTORY_WHY];

	*r = (struct kept_files){ .path = path, .fd = -1 };
	if (!directory_make(path, 0700)) {	/* other users must not read profiles */
		snprintf(why, KEPT_FILES_WHY, "cannot make this directory: %s", strerror(errno));
		return false;
	}
	r->fd = directory_open(path, wrong);
	if (r->fd >= 0 && flock(r->fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	snprintf(why, KEPT_FILES_WHY, "%s", r->fd < 0 ? wrong : errno == EWOULDBLOCK
		 ? "another pmu-serve does" : strerror(errno));
	kept_files_close(r);
	return false;
}

bool kept_files_exist(const struct kept_files *r)
{
	struct stat own, found;

	return r->fd >= 0 && fstat(r->fd, &own) == 0 && stat(r->path, &found) == 0 &&
	       own.st_dev == found.st_dev && own.st_ino == found.st_ino;
}

void kept_files_close(struct kept_files *r)
{
	descriptor_close(r->fd);
	free(r->file);
	free(r->expired);
	*r = (struct kept_files){ .fd = -1 };
}

char *kept_files_template(const struct kept_files *r, uint64_t length)
{
	size_t size = 2 * strlen(r->path) + KEPT_FILE_NAME;
	char *text = mem_zeroed(size, 1), *to = text;

	for (const char *from = r->path; *from; from++) {
		*to++ = *from;
		if (*from == '%')	/* for strftime(3) */
			*to++ = '%';
	}
	snprintf(to, size - (size_t)(to - text), "/" PREFIX "%%s-%" PRIu64 SUFFIX, length);
	return text;
}

void kept_file_name(const struct kept_file *f, char name[KEPT_FILE_NAME])
{
	snprintf(name, KEPT_FILE_NAME, PREFIX "%" PRIu64 "-%" PRIu64 SUFFIX, f->start, f->length);
}

/* Parse NAME.  Return false if it is not exactly what kept_file_name() writes. */
static bool parse_name(const char *name, struct kept_file *f)
{
	char right[KEPT_FILE_NAME];

	*f = (struct kept_file){ .bytes = 0 };
	if (sscanf(name, PREFIX "%18" SCNu64 "-%9" SCNu64, &f->start, &f->length) != 2)
		return false;
	kept_file_name(f, right);
	f->end = f->start + f->length;
	return !strcmp(name, right);
}

/* Compare the names of files. */
static int by_start(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->length < y->length ? -1 : x->length > y->length;
}

/* Add the file NAME of directory FD if it is a kept profile.  Remove an old hidden file. */
static void add_file(struct kept_files *r, int fd, const char *name)
{
	struct kept_file f;
	struct stat st;

	if (replace_clean(fd, name) || !parse_name(name, &f) ||
	    fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    (st.st_uid != 0 && st.st_uid != geteuid()))
		return;
	if (r->expirations > 0 &&
	    bsearch(&f, r->expired, r->expirations, sizeof(f), by_start))
		return;
	f.bytes = (uint64_t)st.st_size;
	f.changed = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	if (st.st_mtime > r->written)
		r->written = st.st_mtime;
	r->bytes += f.bytes;
	r->file = array_grow(r->file, r->files, sizeof(*r->file));
	r->file[r->files++] = f;
}

bool kept_files_read(struct kept_files *r)
{
	int fd = fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	DIR *in = fd >= 0 ? fdopendir(fd) : NULL;

	free(r->file);
	r->file = NULL;
	r->files = 0;
	r->bytes = 0;
	r->written = 0;
	if (!in) {
		descriptor_close(fd);
		return false;
	}
	rewinddir(in);		/* both descriptors have one position */
	for (const struct dirent *d; (d = readdir(in)) != NULL; )
		add_file(r, dirfd(in), d->d_name);
	closedir(in);
	if (r->files > 0)
		qsort(r->file, r->files, sizeof(*r->file), by_start);
	for (size_t i = 0; i + 1 < r->files; i++)
		if (r->file[i].end > r->file[i + 1].start)
			r->file[i].end = r->file[i + 1].start;
	return true;
}

/* Let COUNT files from FIRST on expire. */
static void expire(struct kept_files *r, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		r->expired = array_grow(r->expired, r->expirations, sizeof(*r->expired));
		r->expired[r->expirations++] = r->file[i];
	}
}

void kept_files_trim(struct kept_files *r, uint64_t now, uint64_t keep, uint64_t most)
{
	size_t first = 0, end = r->files;
	const struct kept_file *file = r->file;

	while (first < end && file[first].end < (now > keep ? now - keep : 0))
		r->bytes -= file[first++].bytes;
	while (first < end && file[end - 1].start > now + keep)
		r->bytes -= file[--end].bytes;
	while (first < end && r->bytes > most && file[end - 1].start > now + FUTURE_SECONDS)
		r->bytes -= file[--end].bytes;
	while (first < end && r->bytes > most)
		r->bytes -= file[first++].bytes;
	expire(r, 0, first);
	expire(r, end, r->files - end);
	r->files = end - first;
	if (r->files)
		memmove(r->file, r->file + first, r->files * sizeof(*r->file));
}

time_t kept_files_time(const struct kept_files *r, const char *name)
{
	struct stat st;

	return fstatat(r->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mtime : time(NULL);
}

void kept_files_delete(struct kept_files *r)
{
	char name[KEPT_FILE_NAME];

	for (size_t i = 0; i < r->expirations; i++) {
		kept_file_name(&r->expired[i], name);
		unlinkat(r->fd, name, 0);
	}
	free(r->expired);
	r->expired = NULL;
	r->expirations = 0;
}

size_t kept_files_find(const struct kept_files *r, uint64_t from, uint64_t to, size_t *first)
{
	size_t i = 0, count = 0;

	while (i < r->files && r->file[i].end <= from && r->file[i].start != from)
		i++;
	*first = i;
	while (i + count < r->files && r->file[i + count].start < to)
		count++;
	return count;
}
