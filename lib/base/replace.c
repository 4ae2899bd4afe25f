/* SPDX-License-Identifier: Apache-2.0 */
#include "base/replace.h"
#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

struct replace {
	int fd;			/* is written to */
	int directory;		/* of NAME and HIDDEN */
	bool owns_directory;
	bool sync;		/* it takes the place of something: only once it is on the disk */
	char *name;		/* NULL: it is not renamed */
	char hidden[32];
	int target;		/* the file, where it is copied to at the end; -1: it is not */
};

static void close_fd(int fd)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
}

/* Free R and close all but what is written to. */
static void release(struct replace *r)
{
	close_fd(r->target);
	if (r->owns_directory)
		close_fd(r->directory);
	free(r->name);
	free(r);
}

/* A hidden file, for those whom MODE and the umask let read. */
static bool open_hidden(struct replace *r, mode_t mode)
{
	uint64_t random;

	if (strlen(r->name) > NAME_MAX || !*r->name) {
		errno = *r->name ? ENAMETOOLONG : EISDIR;
		return false;
	}
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return false;
	snprintf(r->hidden, sizeof(r->hidden), REPLACE_HIDDEN "%016" PRIx64, random);
	r->fd = openat(r->directory, r->hidden,
		       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return r->fd >= 0;
}

static struct replace *new_replace(void)
{
	struct replace *r = mem_zeroed(1, sizeof(*r));

	r->fd = r->directory = r->target = -1;
	return r;
}

struct replace *replace_open_in(int directory, const char *name)
{
	struct replace *r = new_replace();
	struct stat old;

	r->directory = directory;
	r->name = mem_text(name);
	r->sync = fstatat(directory, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
	if (open_hidden(r, 0666))
		return r;
	release(r);
	return NULL;
}

/* A hidden file beside PATH, with the mode and owner of OLD unless that is NULL. */
static bool open_beside(struct replace *r, const char *path, const struct stat *old)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash + 1 - path)) : mem_text(".");

	r->name = mem_text(slash ? slash + 1 : path);
	r->directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r->owns_directory = r->sync = true;
	free(parent);
	if (r->directory < 0 || !open_hidden(r, old ? old->st_mode & 0600 : 0666))
		return false;
	if (!old || ((fchown(r->fd, old->st_uid, old->st_gid) == 0) &&
		     fchmod(r->fd, old->st_mode & 0777) == 0))
		return true;
	unlinkat(r->directory, r->hidden, 0);
	close_fd(r->fd);
	r->fd = -1;
	return false;
}

/* A hidden file beside the one that FILE, maybe a link, leads to: the one that OLD describes. */
static bool open_beside_old(struct replace *r, const char *file, const struct stat *old)
{
	char *path = old->st_nlink == 1 ? realpath(file, NULL) : NULL;
	struct stat st;
	bool good = path && stat(path, &st) == 0 && st.st_dev == old->st_dev &&
		    st.st_ino == old->st_ino && open_beside(r, path, old);

	free(path);
	return good;
}

/* A regular file that is there. */
static bool open_old(struct replace *r, const char *file, const struct stat *old, bool same_inode)
{
	if (faccessat(AT_FDCWD, file, W_OK, AT_EACCESS) < 0)
		return false;
	if (!same_inode && open_beside_old(r, file, old))
		return true;
	free(r->name);
	r->name = NULL;
	r->target = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	r->fd = r->target >= 0 ? memfd_create("pmukit", MFD_CLOEXEC) : -1;
	return r->fd >= 0;
}

struct replace *replace_open(const char *file, bool same_inode)
{
	struct replace *r = new_replace();
	struct stat st;
	bool good;

	/* The kernel follows links: it refuses those that another user has put into /tmp. */
	int error = stat(file, &st) < 0 ? errno : 0;
	if (!error && S_ISREG(st.st_mode)) {
		good = open_old(r, file, &st, same_inode);
	} else if (error == ENOENT && lstat(file, &st) < 0) {
		good = open_beside(r, file, NULL);
	} else {	/* no regular file, or a link to what is not there yet */
		r->fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		good = r->fd >= 0;
	}
	if (good)
		return r;
	release(r);
	return NULL;
}

int replace_fd(const struct replace *r)
{
	return r->fd;
}

/* All of FD into TARGET, which is emptied. */
static bool copy(int fd, int target)
{
	ssize_t n = 0;

	if (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(target, 0) < 0)
		return false;
	do
		n = sendfile(target, fd, NULL, 1 << 30);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n == 0 && fsync(target) == 0;
}

/* No failure is left to come.  A few file systems cannot say whether all is on the disk. */
static bool finish(struct replace *r)
{
	bool good = !r->sync || fsync(r->fd) == 0 || errno == EINVAL;
	int fd = r->fd;

	r->fd = -1;
	if (good)
		return close(fd) == 0;
	close_fd(fd);
	return false;
}

/* A file that something is mounted on cannot be replaced, but it can be written. */
static bool copy_hidden(struct replace *r)
{
	r->fd = openat(r->directory, r->hidden, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	r->target = openat(r->directory, r->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	return r->fd >= 0 && r->target >= 0 && copy(r->fd, r->target);
}

/* Rename the hidden file, or remove it. */
static bool settle(struct replace *r, bool keep)
{
	bool good = !keep || finish(r);

	if (keep && good && renameat(r->directory, r->hidden, r->directory, r->name) == 0)
		return true;
	if (keep && good)
		good = errno == EBUSY && copy_hidden(r);
	int error = errno;
	unlinkat(r->directory, r->hidden, 0);
	errno = error;
	return good;
}

bool replace_close(struct replace *r, bool keep)
{
	bool good = true;

	if (r->name)
		good = settle(r, keep);
	else if (r->target >= 0)
		good = !keep || copy(r->fd, r->target);
	/* A network or quota file system may report a failed write only now. */
	int *last = r->target >= 0 ? &r->target : &r->fd;
	if (good && *last >= 0) {
		good = close(*last) == 0 || !keep;
		*last = -1;
	}
	close_fd(r->fd);
	release(r);
	return good;
}
