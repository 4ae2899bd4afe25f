/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular files are told apart by their inode and the time of its birth.  But all eventfds have the
 * same inode, and before Linux 6.9, all pidfds.  So what is not a regular file, and was not lent by
 * the program, also has a tag, which no program gives to it: the number of a signal, as by F_SETSIG
 * of fcntl(2).  No signal is sent, since O_ASYNC is not set.
 */
#include "library/owned.h"
#include "base/descriptor.h"
#include "library/guard.h"
#include "library/handle.h"
#include "library/room.h"
#include "library/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Return a tag for *O that differs from those of most others. */
static int tag_for(const struct owned *o)
{
	enum { SIGNALS = 64 };

	return 1 + (int)((uintptr_t)o / _Alignof(max_align_t) % SIGNALS);
}

/* Set *I to what FD is.  Return false if FD is closed. */
static bool identify(int fd, struct owned_identity *i)
{
	struct statx now = { 0 };
	struct stat older;

	*i = (struct owned_identity){ .tag = fcntl(fd, F_GETSIG) };
	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &now) == 0) {
		i->inode = now.stx_ino;
		i->major = now.stx_dev_major;
		i->minor = now.stx_dev_minor;
		i->born = now.stx_mask & STATX_BTIME ? now.stx_btime.tv_sec : 0;
		i->born_ns = now.stx_mask & STATX_BTIME ? now.stx_btime.tv_nsec : 0;
		return true;
	}
	if (fstat(fd, &older) < 0)
		return false;
	i->inode = older.st_ino;
	i->major = major(older.st_dev);
	i->minor = minor(older.st_dev);
	return true;
}

int owned_set(struct owned *o, int fd)
{
	struct stat st;

	*o = (struct owned){ .fd = room_above_standard(fd) };
	if (o->fd >= 0) {
		int error = errno;

		if (fstat(o->fd, &st) == 0 && !S_ISREG(st.st_mode))
			fcntl(o->fd, F_SETSIG, tag_for(o));
		identify(o->fd, &o->identity);
		errno = error;
	}
	return o->fd;
}

/* Close what *O has; for the room. */
static void release(void *owned)
{
	struct owned *o = owned;

	descriptor_close(owned_fd(o));
	*o = OWNED_NONE;
}

int owned_take(struct owned *o, int fd)
{
	if (owned_set(o, fd) >= 0)
		room_note(o, release);
	return o->fd;
}

bool owned_is_lost(struct owned *o)
{
	const struct owned_identity *then = &o->identity;
	struct owned_identity now;
	int error = errno;

	if (o->fd >= 0 && !o->is_lost &&
	    (!identify(o->fd, &now) || now.inode != then->inode || now.major != then->major ||
	     now.minor != then->minor || now.born != then->born ||
	     now.born_ns != then->born_ns || now.tag != then->tag)) {
		o->is_lost = true;
		if (current_guard)
			current_guard->handle->has_lost = true;
	}
	errno = error;
	return o->is_lost;
}

int owned_fd(struct owned *o)
{
	return owned_is_lost(o) ? -1 : o->fd;
}

void owned_close(struct owned *o)
{
	room_forget(o);
	release(o);
}

ssize_t room_read(int fd, void *bytes, size_t size)
{
	for (const struct guard *guard = current_guard; guard; guard = guard->outer) {
		struct owned *input = guard->handle->input;

		if (input && input->fd == fd && owned_is_lost(input)) {
			errno = EBADF;
			return -1;
		}
	}
	return read(fd, bytes, size);
}
