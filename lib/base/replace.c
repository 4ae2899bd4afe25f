/* SPDX-License-Identifier: Apache-2.0 */
#include "base/replace.h"
#include "base/arena.h"
#include "base/descriptor.h"
#include "base/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN ".pmukit-"		/* prefix of the names of hidden files */

enum { HIDDEN_SECONDS = 3600 };		/* an older hidden file was left over */

struct replace {
	int fd;			/* descriptor that is written to */
	int directory;		/* directory of NAME and HIDDEN */
	bool owns_directory;	/* close DIRECTORY at the end */
	bool sync;		/* a file will be replaced: write the new one to the disk first */
	char *name;		/* final name; NULL: no rename */
	char hidden[32];	/* name of the hidden file */
	int target;		/* file to which FD is copied at the end; -1: none */
};

/* Free R and close its descriptors, except FD. */
static void release(struct replace *r)
{
	descriptor_close(r->target);
	if (r->owns_directory)
		descriptor_close(r->directory);
	free(r->name);
	free(r);
}

/* Release R, keep errno, and return NULL. */
static struct replace *release_failed(struct replace *r)
{
	int error = errno;

	release(r);
	errno = error;
	return NULL;
}

/* Create the hidden file with MODE and the umask. */
static bool open_hidden(struct replace *r, mode_t mode)
{
	uint64_t random;

	if (strlen(r->name) > NAME_MAX || !*r->name) {
		errno = *r->name ? ENAMETOOLONG : EISDIR;
		return false;
	}
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return false;
	snprintf(r->hidden, sizeof(r->hidden), HIDDEN "%016" PRIx64, random);
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

struct replace *replace_open_in(int directory, const char *name, mode_t mode)
{
	struct replace *r = new_replace();
	struct stat old;

	r->directory = directory;
	r->name = mem_text(name);
	r->sync = fstatat(directory, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
	if (destination_is_ours(directory, name) && open_hidden(r, mode))
		return r;
	return release_failed(r);
}

/* Create a hidden file in the directory of D, with the mode and owner of the old file, if any. */
static bool open_beside(struct replace *r, const struct destination *d)
{
	const struct stat *old = &d->st;

	r->name = mem_text(d->name);
	r->sync = true;
	if (!open_hidden(r, d->exists ? old->st_mode & 0600 : 0666))
		return false;
	if (!d->exists || ((fchown(r->fd, old->st_uid, old->st_gid) == 0) &&
			   fchmod(r->fd, old->st_mode & 0777) == 0))
		return true;
	unlinkat(r->directory, r->hidden, 0);
	descriptor_close(r->fd);
	r->fd = -1;
	return false;
}

/* Open D, which is an existing regular file. */
static bool open_old(struct replace *r, const struct destination *d, bool same_inode)
{
	if (faccessat(d->directory, d->name, W_OK, AT_EACCESS) < 0)
		return false;
	if (!same_inode && !d->is_descriptor && d->st.st_nlink == 1 && open_beside(r, d))
		return true;
	free(r->name);
	r->name = NULL;
	r->target = destination_open(d, O_NOCTTY | O_NONBLOCK);
	r->fd = r->target >= 0 ? memfd_create("pmukit", MFD_CLOEXEC) : -1;
	return r->fd >= 0;
}

struct replace *replace_open(const char *file, bool same_inode)
{
	struct replace *r = new_replace();
	struct destination d;
	bool good = destination_find(&d, file);

	r->directory = d.directory;
	r->owns_directory = true;
	if (good && d.exists && S_ISREG(d.st.st_mode)) {
		good = open_old(r, &d, same_inode);
	} else if (good && !d.exists) {
		good = open_beside(r, &d);
	} else if (good) {
		r->fd = destination_open(&d, O_CREAT);
		good = r->fd >= 0;
	}
	return good ? r : release_failed(r);
}

int replace_fd(const struct replace *r)
{
	return r->fd;
}

/* Truncate TARGET and copy all of FD to it. */
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

/* Return whether all is written, so that no later failure is possible.  EINVAL: no fsync() here. */
static bool finish(struct replace *r)
{
	bool good = !r->sync || fsync(r->fd) == 0 || errno == EINVAL;
	int fd = r->fd;

	r->fd = -1;
	if (good)
		return close(fd) == 0;
	descriptor_close(fd);
	return false;
}

/* Copy the hidden file instead of renaming it: a mount point can be written, but not replaced. */
static bool copy_hidden(struct replace *r)
{
	r->fd = openat(r->directory, r->hidden, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	r->target = destination_open_in(r->directory, r->name, 0);
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
	descriptor_close(r->fd);
	release(r);
	return good;
}

bool replace_clean(int directory, const char *name)
{
	struct stat st;

	if (strncmp(name, HIDDEN, strlen(HIDDEN)) != 0)
		return false;
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == geteuid()) &&
	    time(NULL) - st.st_mtime > HIDDEN_SECONDS)
		unlinkat(directory, name, 0);
	return true;
}
