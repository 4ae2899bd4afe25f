/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of a JIT compiler while it grows, piece by piece. */
#include "symbol/jitmap-internal.h"
#include "base/arena.h"
#include "base/regular.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Return whether FILE's OWNER is root, we or TRUSTED. perf has the same rule, without TRUSTED. */
static bool is_trusted(struct jit_file *f, const char *file, uid_t owner, uid_t trusted)
{
	if (owner == 0 || owner == geteuid() || owner == trusted || trusted == JIT_ANYONE)
		return true;
	if (!f->refused) {
		f->refused = mem_text(file);
		f->refused_owner = owner;
	}
	return false;
}

bool jit_file_open(struct jitmap *j, struct jit_file *f, const char *file)
{
	struct jit_budget *b = j->budget;
	struct stat st;

	if (b->files_max && b->files >= b->files_max && f->fd < 0) {
		b->files_refused += access(file, F_OK) == 0;
		return false;
	}
	int fd = regular_open(file, true);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || (f == &j->map && st.st_mtim.tv_sec < j->oldest) ||
	    !is_trusted(f, file, st.st_uid, j->trusted)) {
		close(fd);
		return false;
	}
	jit_file_close(j, f);
	*f = (struct jit_file){ .fd = fd, .name = mem_text(file), .device = st.st_dev,
				.inode = st.st_ino };
	b->files++;
	return true;
}

void jit_file_damaged(struct jit_file *f, size_t ahead, const char *why)
{
	if (f->trouble)
		return;
	f->trouble = why;
	f->trouble_at = f->at + ahead;
}

void jit_file_ends(struct jit_file *f, size_t ahead, const char *why)
{
	jit_file_damaged(f, ahead, why);
	f->is_bad = true;
}

/* Move on past the bytes to skip, without reading them. SIZE: size of the file. */
static void skip(struct jit_file *f, uint64_t size)
{
	uint64_t here = size - f->at < f->skip ? size - f->at : f->skip;

	f->at += here;
	f->skip -= here;
}

/* Start over, because the file was written anew. */
static void rewind_file(struct jitmap *j, struct jit_file *f)
{
	f->at = f->skip = f->wants = f->stuck_size = 0;
	f->is_bad = false;
	if ((f == &j->map ? j->dump.fd : j->map.fd) < 0)	/* all functions are from F */
		jitmap_forget(j);
	if (f == &j->dump)
		j->header_read = false;
}

/*
 * Return whether nothing could be parsed when the file was as it is now. Then megabytes need not
 * be read again to find that out.
 */
static bool is_stuck(const struct jit_file *f, uint64_t size)
{
	char now[JIT_STUCK] = "";

	return f->stuck_size == size && pread(f->fd, now, sizeof(now), (off_t)f->at) >= 0 &&
	       !memcmp(now, f->stuck, sizeof(now));
}

/* Store the last bytes before F->at, which were parsed, in BYTES; zeros if there are fewer. */
static void read_parsed(const struct jit_file *f, char bytes[JIT_STUCK])
{
	uint64_t count = f->at < JIT_STUCK ? f->at : JIT_STUCK;

	memset(bytes, 0, JIT_STUCK);
	if (pread(f->fd, bytes, count, (off_t)(f->at - count)) < 0)
		memset(bytes, 0, JIT_STUCK);
}

/*
 * Return whether the map F, which has SIZE bytes, is no longer the one that was parsed: Java writes
 * it anew each time it is asked for it.  Dumps only grow.
 */
static bool is_new(const struct jitmap *j, const struct jit_file *f, uint64_t size)
{
	char now[JIT_STUCK];

	if (size <= f->at || f->at == 0 || f != &j->map)
		return size < f->at;
	read_parsed(f, now);
	return memcmp(now, f->parsed, sizeof(now));
}

/*
 * Read up to the current end of the file, so that a file that grows as fast as we read cannot
 * keep us here. If a record needs more than a piece, the read is as large as the record once the
 * file has all of it.
 */
bool jit_file_read(struct jitmap *j, struct jit_file *f,
		   size_t (*add)(struct jitmap *, const void *, size_t))
{
	struct stat st;
	char *piece = NULL;
	bool any = false;
	size_t room = 0;

	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return false;
	uint64_t size = (uint64_t)st.st_size;
	if (is_new(j, f, size))
		rewind_file(j, f);
	if (size == f->at || is_stuck(f, size))
		return false;
	for (skip(f, size); f->at < size && !f->is_bad; skip(f, size)) {
		size_t wanted = f->wants > JIT_PIECE ? f->wants : JIT_PIECE;
		if (wanted > room)
			piece = mem_resize(piece, room = wanted);
		if (wanted > size - f->at)
			wanted = (size_t)(size - f->at);
		f->wants = 0;
		ssize_t n = pread(f->fd, piece, wanted, (off_t)f->at);
		size_t used = n > 0 ? add(j, piece, (size_t)n) : 0;
		any |= used > 0;
		f->at += used;
		if (used == 0 && (f->wants <= wanted || f->wants > size - f->at)) {
			f->stuck_size = size;
			memset(f->stuck, 0, sizeof(f->stuck));
			memcpy(f->stuck, piece, n < JIT_STUCK ? n > 0 ? (size_t)n : 0 : JIT_STUCK);
			break;
		}
	}
	free(piece);
	if (any && f == &j->map)
		read_parsed(f, f->parsed);
	return any;
}

void jit_file_close(struct jitmap *j, struct jit_file *f)
{
	if (f->fd >= 0) {
		close(f->fd);
		j->budget->files--;
	}
	free(f->name);
	free(f->refused);
	*f = (struct jit_file){ .fd = -1 };
}
