/* SPDX-License-Identifier: Apache-2.0 */
/* A file of a JIT compiler: read as it grows, a piece at a time. */
#include "symbol/jitmap-internal.h"
#include "base/arena.h"
#include "base/regular.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is it root's, ours, or TRUSTED's?  As perf has it, but for TRUSTED. */
static bool is_believed(struct jit_file *f, const char *file, uid_t owner, uid_t trusted)
{
	if (owner == 0 || owner == geteuid() || owner == trusted || trusted == JIT_ANYONE)
		return true;
	if (!f->refused) {
		f->refused = mem_text(file);
		f->refused_owner = owner;
	}
	return false;
}

bool jit_file_open(struct jit_file *f, const char *file, uid_t trusted)
{
	struct stat st;
	int fd = regular_open(file, true);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !is_believed(f, file, st.st_uid, trusted)) {
		close(fd);
		return false;
	}
	jit_file_close(f);
	*f = (struct jit_file){ .fd = fd, .name = mem_text(file) };
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

/* Go on behind what is of no use, without reading it; SIZE: of the file. */
static void skip(struct jit_file *f, uint64_t size)
{
	uint64_t here = size - f->at < f->skip ? size - f->at : f->skip;

	f->at += here;
	f->skip -= here;
}

/* The file was written anew: it begins again. */
static void rewind_file(struct jitmap *j, struct jit_file *f)
{
	f->at = f->skip = f->wants = 0;
	f->is_bad = false;
	if (f == &j->dump)
		j->header_read = false;
}

/*
 * Up to its end of now: one that grows as fast as it is read does not keep us.
 * What wants more than a piece gets it, once it is there.
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
	if (size < f->at)
		rewind_file(j, f);
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
		if (used == 0 && (f->wants <= wanted || f->wants > size - f->at))
			break;
	}
	free(piece);
	return any;
}

void jit_file_close(struct jit_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->name);
	free(f->refused);
	*f = (struct jit_file){ .fd = -1 };
}
