/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/kept-files.h"
#include "base/arena.h"
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

enum { HIDDEN_SECONDS = 3600 };		/* an older hidden file was left over */

bool ring_open(struct kept_files *r, const char *path, struct report *report)
{
	char why[DIRECTORY_WHY];

	*r = (struct kept_files){ .path = path, .fd = -1 };
	if (!directory_make(path)) {
		report_failure(report, "cannot make the directory '%s'", path);
		return false;
	}
	r->fd = directory_open(path, why);
	if (r->fd < 0) {
		report_error(report, "cannot keep profiles in '%s': %s", path, why);
		return false;
	}
	if (flock(r->fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	report_error(report, "cannot keep profiles in '%s': %s", path, errno == EWOULDBLOCK
		     ? "another pmu-serve does" : strerror(errno));
	ring_close(r);
	return false;
}

void ring_close(struct kept_files *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->file);
	*r = (struct kept_files){ .fd = -1 };
}

char *ring_template(const struct kept_files *r, uint64_t length)
{
	size_t size = 2 * strlen(r->path) + RING_NAME;
	char *text = mem_zeroed(size, 1), *to = text;

	for (const char *from = r->path; *from; from++) {
		*to++ = *from;
		if (*from == '%')	/* for strftime(3) */
			*to++ = '%';
	}
	snprintf(to, size - (size_t)(to - text), "/" PREFIX "%%s-%" PRIu64 SUFFIX, length);
	return text;
}

void ring_name(const struct kept_file *f, char name[RING_NAME])
{
	snprintf(name, RING_NAME, PREFIX "%" PRIu64 "-%" PRIu64 SUFFIX, f->start, f->length);
}

/* Parse NAME.  Return false if it is not exactly what ring_name() writes. */
static bool parse_name(const char *name, struct kept_file *f)
{
	char right[RING_NAME];

	*f = (struct kept_file){ .bytes = 0 };
	if (sscanf(name, PREFIX "%18" SCNu64 "-%9" SCNu64, &f->start, &f->length) != 2)
		return false;
	ring_name(f, right);
	f->end = f->start + f->length;
	return !strcmp(name, right);
}

static int by_start(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->length < y->length ? -1 : x->length > y->length;
}

/* Take the file NAME of directory FD, if it is one of the ring. */
static void take(struct kept_files *r, int fd, const char *name)
{
	struct kept_file f;
	struct stat st;
	bool hidden = !strncmp(name, REPLACE_HIDDEN, strlen(REPLACE_HIDDEN));

	if ((!hidden && !parse_name(name, &f)) ||
	    fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    (st.st_uid != 0 && st.st_uid != geteuid()))
		return;
	if (hidden) {
		if (time(NULL) - st.st_mtime > HIDDEN_SECONDS)
			unlinkat(fd, name, 0);
		return;
	}
	f.bytes = (uint64_t)st.st_size;
	r->bytes += f.bytes;
	r->file = array_grow(r->file, r->files, sizeof(*r->file));
	r->file[r->files++] = f;
}

void ring_look(struct kept_files *r)
{
	int fd = fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	DIR *in = fd >= 0 ? fdopendir(fd) : NULL;

	free(r->file);
	r->file = NULL;
	r->files = 0;
	r->bytes = 0;
	if (!in) {
		if (fd >= 0)
			close(fd);
		return;
	}
	rewinddir(in);		/* both descriptors have one position */
	for (const struct dirent *d; (d = readdir(in)) != NULL; )
		take(r, dirfd(in), d->d_name);
	closedir(in);
	if (r->files > 0)
		qsort(r->file, r->files, sizeof(*r->file), by_start);
	for (size_t i = 0; i + 1 < r->files; i++)
		if (r->file[i].end > r->file[i + 1].start)
			r->file[i].end = r->file[i + 1].start;
}

void ring_trim(struct kept_files *r, uint64_t oldest, uint64_t most)
{
	char name[RING_NAME];
	size_t gone = 0;

	for (; gone < r->files && (r->file[gone].end < oldest || r->bytes > most); gone++) {
		ring_name(&r->file[gone], name);
		unlinkat(r->fd, name, 0);
		r->bytes -= r->file[gone].bytes;
	}
	r->files -= gone;
	if (gone)
		memmove(r->file, r->file + gone, r->files * sizeof(*r->file));
}

size_t ring_find(const struct kept_files *r, uint64_t from, uint64_t to, size_t *first)
{
	size_t i = 0, count = 0;

	while (i < r->files && r->file[i].end <= from && r->file[i].start != from)
		i++;
	*first = i;
	while (i + count < r->files && r->file[i + count].start < to)
		count++;
	return count;
}
