/* SPDX-License-Identifier: Apache-2.0 */
#include "base/destination.h"
#include "base/descriptor.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };	/* as the kernel allows */

/*
 * Return 0 if no other user put a file with status ST into DIRECTORY, by the kernel's conditions
 * for fs.protected_regular=2 (fs/namei.c, may_create_in_sticky()), or an errno.  Only root creates
 * devices.  A file of ours with more than one name may be one that we keep elsewhere, and another
 * user linked it: only fs.protected_hardlinks would keep them from that.
 */
static int why_foreign(const struct stat *directory, const struct stat *st)
{
	if (!(directory->st_mode & S_ISVTX) || !(directory->st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	if ((S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode) || S_ISLNK(st->st_mode)) &&
	    st->st_uid != directory->st_uid && st->st_uid != geteuid())
		return DESTINATION_FOREIGN;
	return S_ISREG(st->st_mode) && st->st_nlink > 1 ? DESTINATION_LINKED : 0;
}

/* Return false with errno set if a file with status ST is foreign in the directory. */
static bool may_use(int directory, const struct stat *st)
{
	struct stat parent;

	if (fstat(directory, &parent) < 0)
		return false;
	errno = why_foreign(&parent, st);
	return errno == 0;
}

/* The part of a path that has not been walked yet. */
struct path_walk {
	int directory;		/* where REST starts */
	char rest[PATH_MAX];	/* without slashes at its start */
	int links;		/* followed so far */
};

/* Continue W at DIRECTORY, a new descriptor.  Return false if it is -1. */
static bool enter(struct path_walk *w, int directory)
{
	descriptor_close(w->directory);
	w->directory = directory;
	return directory >= 0;
}

/* Put PATH before the rest of W, and start at its directory. */
static bool prepend(struct path_walk *w, const char *path, const char *rest)
{
	char whole[PATH_MAX];
	const char *from = path + strspn(path, "/");
	int length = snprintf(whole, sizeof(whole), "%s%s%s", from, rest ? "/" : "",
			      rest ? rest : "");

	errno = ENAMETOOLONG;
	if (length >= (int)sizeof(whole))
		return false;
	memcpy(w->rest, whole, (size_t)length + 1);
	return *path != '/' || enter(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Follow the link whose descriptor is LINK.  REST comes after it in the path, or is NULL. */
static bool follow(struct path_walk *w, int link, const struct stat *st, const char *rest)
{
	char target[PATH_MAX];
	ssize_t length;

	if (!may_use(w->directory, st))
		return false;
	errno = ELOOP;
	if (++w->links > LINKS_MAX)
		return false;
	length = readlinkat(link, "", target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	return prepend(w, target, rest);
}

/* A link of /proc may lead to a file without a path, and nobody else can replace it. */
static bool is_in_proc(int directory)
{
	struct statfs fs;

	return fstatfs(directory, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Enter the directory NAME, or follow the link NAME.  REST comes after it in the path. */
static bool step(struct path_walk *w, const char *name, const char *rest)
{
	int no_link = is_in_proc(w->directory) ? 0 : O_NOFOLLOW;
	int fd = openat(w->directory, name, O_PATH | O_CLOEXEC | O_DIRECTORY | no_link);
	struct stat st;

	if (fd >= 0) {
		memmove(w->rest, rest, strlen(rest) + 1);
		return enter(w, fd);
	}
	if (errno != ENOTDIR || !no_link)
		return false;
	fd = openat(w->directory, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	bool is_link = fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
	errno = ENOTDIR;
	bool followed = is_link && follow(w, fd, &st, rest);
	descriptor_close(fd);
	return followed;
}

/* Set D to the last component of the path.  Return false, with errno 0 if it was a link. */
static bool arrive(struct path_walk *w, struct destination *d)
{
	const char *name = strcmp(w->rest, "") ? w->rest : ".";
	int fd;
	bool good;

	errno = ENAMETOOLONG;
	if (snprintf(d->name, sizeof(d->name), "%s", name) >= (int)sizeof(d->name))
		return false;
	fd = openat(w->directory, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	d->exists = fd >= 0;
	if (fd < 0)
		return errno == ENOENT;
	good = fstat(fd, &d->st) == 0;
	if (good && S_ISLNK(d->st.st_mode) && is_in_proc(w->directory)) {
		d->is_descriptor = true;
		good = fstatat(w->directory, name, &d->st, 0) == 0;
	} else if (good && S_ISLNK(d->st.st_mode)) {
		good = false;
		if (follow(w, fd, &d->st, NULL))
			errno = 0;
	} else if (good) {
		good = may_use(w->directory, &d->st);
	}
	descriptor_close(fd);
	return good;
}

bool destination_find(struct destination *d, const char *file)
{
	/* An absolute path must work even if the working directory cannot be searched. */
	struct path_walk w = { .directory = open(*file == '/' ? "/" : ".",
					    O_PATH | O_DIRECTORY | O_CLOEXEC) };
	bool more = w.directory >= 0, found = false;

	*d = (struct destination){ .directory = -1 };
	if (more) {
		errno = ENOENT;
		more = *file && prepend(&w, file, NULL);
	}
	while (more) {
		char *slash = strchr(w.rest, '/');
		if (slash) {
			char name[PATH_MAX];
			snprintf(name, sizeof(name), "%.*s", (int)(slash - w.rest), w.rest);
			more = step(&w, name, slash + strspn(slash, "/"));
		} else {
			found = arrive(&w, d);
			more = !found && errno == 0;
		}
	}
	if (found)
		d->directory = w.directory;
	else
		descriptor_close(w.directory);
	return found;
}

/* Open NAME in DIRECTORY; with IS_DESCRIPTOR, what that link of /proc leads to. */
static int open_checked(int directory, const char *name, bool is_descriptor, int flags)
{
	int fd = openat(directory, name, O_WRONLY | O_CLOEXEC | (is_descriptor ? 0 : O_NOFOLLOW) |
			(flags & ~O_TRUNC), 0666);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && (is_descriptor || may_use(directory, &st)) &&
	    (!(flags & O_TRUNC) || !S_ISREG(st.st_mode) || ftruncate(fd, 0) == 0))
		return fd;
	descriptor_close(fd);
	return -1;
}

int destination_open(const struct destination *d, int flags)
{
	return open_checked(d->directory, d->name, d->is_descriptor, flags);
}

int destination_open_in(int directory, const char *name, int flags)
{
	return open_checked(directory, name, false, flags);
}

bool destination_is_ours(int directory, const char *name)
{
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	return may_use(directory, &st);
}

const char *destination_why(int error)
{
	if (error == DESTINATION_LINKED)
		return "it has other names (hard links), in a sticky directory where others may "
		       "create files; use another name";
	return error == DESTINATION_FOREIGN
	       ? "it, or a link to it, belongs to another user, in a sticky directory where others "
		 "may create files; use another name"
	       : strerror(error);
}

/* Fill *ST for FILE ("-": the descriptor STANDARD).  Return whether it is a regular file. */
static bool find_inode(const char *file, int standard, struct stat *st)
{
	return (strcmp(file, "-") ? stat(file, st) : fstat(standard, st)) == 0 &&
	       S_ISREG(st->st_mode);
}

bool destination_is_input(const char *file, const char *const *input, size_t inputs)
{
	struct stat out, in;

	if (!find_inode(file, STDOUT_FILENO, &out))
		return false;
	for (size_t i = 0; i < inputs; i++)
		if (find_inode(input[i], STDIN_FILENO, &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino)
			return true;
	return false;
}
