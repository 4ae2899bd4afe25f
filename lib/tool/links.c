/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/links.h"
#include "base/arena.h"
#include "linux/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct links {
	int fd;				/* of the directory */
	const char *directory;		/* its name, as the user gave it */
	char target[2 * PATH_MAX];	/* this program's file, from the directory */
	struct stat file;		/* this program's file */
	struct report *report;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Write to TARGET the way from DIRECTORY to FILE.  Both are absolute and free of links. */
static void find_way(const char *directory, const char *file, char target[2 * PATH_MAX])
{
	const char *rest = file + 1;
	size_t same = 0, used = 0;

	if (!strcmp(directory, "/"))
		directory = "";
	for (size_t i = 0; ; i++) {	/* up to the last directory that both are in */
		bool ends = directory[i] == '\0';
		if ((ends || directory[i] == '/') && file[i] == '/') {
			same = i;
			rest = file + i + 1;
		}
		if (ends || directory[i] != file[i])
			break;
	}
	for (const char *at = directory + same; *at; at++)
		if (*at == '/')
			used += (size_t)snprintf(target + used, 2 * PATH_MAX - used, "../");
	snprintf(target + used, 2 * PATH_MAX - used, "%s", rest);
}

struct links *links_open(const char *directory, struct report *report)
{
	struct links *l = mem_zeroed(1, sizeof(*l));
	const char *own = proc_own_program();
	char file[PATH_MAX], whole[PATH_MAX];

	l->directory = directory;
	l->report = report;
	l->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->fd < 0 || !realpath(directory, whole)) {
		report_failure(report, "cannot make links in '%s'", directory);
	} else if (!own || !realpath(own, file) || stat(file, &l->file) < 0) {
		report_error(report, "cannot make links: the file of this program is not found");
	} else {
		find_way(whole, file, l->target);
		return l;
	}
	links_close(l);
	return NULL;
}

/* Return whether the link NAME, which holds TEXT, was made for this program. */
static bool is_ours(const struct links *l, const char *name, const char *text)
{
	struct stat there;

	if (fstatat(l->fd, name, &there, 0) == 0)
		return there.st_dev == l->file.st_dev && there.st_ino == l->file.st_ino;
	return errno == ENOENT && !strcmp(base_name(text), base_name(l->target));
}

/* Create the link by another name first: at each moment NAME is a whole link. */
static void create(const struct links *l, const char *name)
{
	char other[64];

	snprintf(other, sizeof(other), ".%.32s.%d", name, (int)getpid());
	if (symlinkat(l->target, l->fd, other) == 0) {
		if (renameat(l->fd, other, l->fd, name) == 0)
			return;
		int why = errno;
		unlinkat(l->fd, other, 0);
		errno = why;
	}
	report_failure(l->report, "cannot make the link '%s/%s'", l->directory, name);
}

void links_make(struct links *l, const char *name)
{
	char text[2 * PATH_MAX];
	ssize_t length = readlinkat(l->fd, name, text, sizeof(text) - 1);

	if (length < 0 && errno == ENOENT) {
		create(l, name);
		return;
	}
	text[length < 0 ? 0 : length] = '\0';
	if (length < 0 || !is_ours(l, name, text)) {
		/* each is named, however many there are */
		report_event(l->report, "not linked, as another file has this name: '%s/%s'",
			     l->directory, name);
		l->report->status = 1;
	} else if (strcmp(text, l->target))
		create(l, name);
}

void links_close(struct links *l)
{
	if (l && l->fd >= 0)
		close(l->fd);
	free(l);
}
