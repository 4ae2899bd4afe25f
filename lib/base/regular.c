/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regular.h"
#include "base/arena.h"
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READ_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, LINKS_MAX = 40 };

/* The directory at which paths start. */
struct start {
	int directory;	/* descriptor; AT_FDCWD: the working directory */
	bool is_root;	/* it is the root directory: no path leads out of it */
};

/* Look up PATH without opening the file.  Return an O_PATH descriptor, or -1. */
static int look_up(struct start at, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
				.resolve = RESOLVE_IN_ROOT };

	return at.is_root ? (int)syscall(SYS_openat2, at.directory, path, &how, sizeof(how))
			  : openat(at.directory, path, O_PATH | O_CLOEXEC | flags);
}

/*
 * Return whether openat2() works: not before Linux 5.6, nor in a sandbox that forbids it.
 * A failure for another path proves nothing: a FUSE file system can return any error.
 */
static bool has_openat2(void)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));

	descriptor_close(fd);
	return fd >= 0;
}

/* Copy the directory part of PATH to PARENT.  Return the rest, the name in that directory. */
static const char *split(const char *path, char parent[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash + 1 - path) : 0;

	memcpy(parent, length ? path : "./", length ? length : 2);
	parent[length ? length : 2] = '\0';
	return path + length;
}

/* Follow the link NAME in PARENT: set PATH to its target. */
static bool follow(int directory, const char *parent, const char *name, char path[PATH_MAX])
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(directory, name, target, sizeof(target) - 1);

	if (length <= 0)
		return false;
	target[length] = '\0';
	errno = ENAMETOOLONG;
	return snprintf(path, PATH_MAX, "%s%s", *target == '/' ? "" : parent, target) < PATH_MAX;
}

/*
 * Open, by its name, the file that PATH named when SEEN was taken.  Its directory is kept open
 * meanwhile.  Whoever can write there can replace the file by another file or a link, but not by a
 * device.
 */
static int open_by_name(struct start from, const char *path, const struct stat *seen)
{
	char at[PATH_MAX], parent[PATH_MAX];
	int fd = -1;

	if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at))
		return -1;
	for (int links = 0; links < LINKS_MAX; links++) {
		const char *name = split(at, parent);
		struct stat st;
		int directory = look_up(from, parent, O_DIRECTORY);
		if (directory < 0 || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			descriptor_close(directory);
			return -1;
		}
		bool is_link = S_ISLNK(st.st_mode) && follow(directory, parent, name, at);
		if (!is_link && S_ISREG(st.st_mode))
			fd = openat(directory, name, READ_FLAGS | O_NOFOLLOW);
		descriptor_close(directory);
		if (is_link)
			continue;
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    st.st_dev == seen->st_dev && st.st_ino == seen->st_ino)
			return fd;
		break;
	}
	descriptor_close(fd);
	return -1;
}

static int open_from(struct start from, const char *path, bool no_link)
{
	char self[64];
	struct stat st;
	int seen = look_up(from, path, no_link ? O_NOFOLLOW : 0);

	if (seen < 0)
		return -1;
	if (fstat(seen, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(seen);
		errno = ENOTSUP;
		return -1;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
	int fd = open(self, READ_FLAGS);
	if (fd < 0 && errno == ENOENT)		/* /proc is not mounted here */
		fd = open_by_name(from, path, &st);
	descriptor_close(seen);
	return fd;
}

int regular_open_in(int directory, const char *path, bool no_link)
{
	return open_from((struct start){ directory, false }, path, no_link);
}

int regular_open(const char *path, bool no_link)
{
	return regular_open_in(AT_FDCWD, path, no_link);
}

static int open_root(const char *root)
{
	return open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* After look_up() below a root has failed: return whether openat2() is the reason. */
static bool lacks_openat2(void)
{
	return (errno == ENOSYS || errno == EPERM) && !has_openat2();
}

int regular_directory_below(const char *root, const char *name)
{
	struct start at = { open_root(root), true };

	if (at.directory < 0)
		return -1;
	int fd = look_up(at, name, O_DIRECTORY);
	if (fd < 0 && lacks_openat2()) {
		at.is_root = false;
		fd = look_up(at, name, O_DIRECTORY | O_NOFOLLOW);
	}
	descriptor_close(at.directory);
	return fd;
}

int regular_open_below(const char *root, const char *path, bool no_link)
{
	char whole[PATH_MAX + 64];

	if (!*root)
		return regular_open(path, no_link);
	int directory = open_root(root);
	if (directory < 0)
		return -1;
	int fd = open_from((struct start){ directory, true }, path, no_link);
	descriptor_close(directory);
	if (fd >= 0 || !lacks_openat2())
		return fd;
	errno = ENAMETOOLONG;
	return snprintf(whole, sizeof(whole), "%s%s%s", root, *path == '/' ? "" : "/", path) <
	       (int)sizeof(whole) ? regular_open(whole, no_link) : -1;
}

char *regular_read(const char *path, size_t most, size_t *size)
{
	int fd = regular_open(path, false);
	char *text = NULL;
	struct stat st;

	*size = 0;
	if (fd < 0 || fstat(fd, &st) < 0) {
		descriptor_close(fd);
		return NULL;
	}
	if ((uint64_t)st.st_size > most) {
		errno = EFBIG;
	} else {
		text = mem_zeroed((size_t)st.st_size + 1, 1);
		ssize_t got;
		while (*size < (size_t)st.st_size &&
		       (got = pread(fd, text + *size, (size_t)st.st_size - *size,
				    (off_t)*size)) > 0)
			*size += (size_t)got;
	}
	descriptor_close(fd);
	return text;
}
