/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's input: buffered, and decompressed if the whole stream is zstd or gzip. */
#include "base/descriptor.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/write.h"
#include "stream/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Move the unread bytes to the start of the buffer, and make room for SIZE unread bytes. */
static void make_room(struct stream_reader *in, size_t size)
{
	if (size > in->capacity) {
		in->capacity = size;
		in->buffer = mem_resize(in->buffer, size);
	}
	memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
	in->end -= in->begin;
	in->begin = 0;
}

bool reader_stops_at_bomb(struct stream_reader *in, const struct inflate *z)
{
	if (!in->is_bomb && inflate_is_bomb(z)) {
		in->is_bomb = true;
		reader_damage(in, "the stream expands to more than 200 times its size, or to more "
			      "records than it has bytes; the rest is not read");
	}
	return in->is_bomb;
}

/* As read(), from the source of IN. */
static ssize_t read_source(struct stream_reader *in, void *to, size_t room)
{
	return in->read ? in->read(in->context, to, room) : read(in->fd, to, room);
}

/*
 * Like read(), but decompresses a stream that is compressed as a whole.  Return 0
 * at the end, -1 on failure (reported).
 */
static ssize_t read_bytes(struct stream_reader *in, uint8_t *to, size_t room)
{
	ssize_t n = 0;

	while (in->wrapping) {
		n = inflate_read(in->wrapping, to, room);
		if (n > 0 && reader_stops_at_bomb(in, in->wrapping))
			return -1;
		if (n > 0)
			return n;
		if (n < 0) {
			reader_damage(in, "the compressed data of the stream are damaged");
			return -1;
		}
		n = read_source(in, in->wrapped, READER_BUFFER);
		if (n <= 0)
			break;
		inflate_feed(in->wrapping, in->wrapped, (size_t)n);
	}
	if (!in->wrapping)
		n = read_source(in, to, room);
	int why = errno;
	if (n > 0)
		progress_reading(in->fd);
	else
		progress_erase();
	report_check_hour(in->report);
	errno = why;
	if (n == 0 && in->wrapping && !inflate_is_whole(in->wrapping))
		reader_damage(in, "stream ends inside its compressed data");
	if (n < 0 && errno != EINTR) {
		in->damaged = true;
		in->error = errno;
		report_failure(in->report, "cannot read '%s'", in->file);
	}
	return n;
}

void reader_close_source(struct stream_reader *in)
{
	if (in->fd >= 0 && !in->is_lent)
		close(in->fd);
	in->fd = -1;
}

bool reader_fill(struct stream_reader *in, size_t size)
{
	if (in->end - in->begin >= size)
		return true;
	make_room(in, size);
	while (in->end < size && !reader_stopped(in)) {
		uint64_t left = in->limit - in->offset - in->end;
		size_t room = in->capacity - in->end;
		errno = 0;
		ssize_t n = read_bytes(in, in->buffer + in->end, left < room ? left : room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		in->end += (size_t)n;
	}
	return in->end >= size;
}

bool reader_skip(struct stream_reader *in, uint64_t size)
{
	while (size > 0) {
		if (in->end == in->begin && !reader_fill(in, 1))
			return false;
		uint64_t buffered = in->end - in->begin;
		uint64_t now = size < buffered ? size : buffered;
		in->begin += now;
		in->offset += now;
		size -= now;
	}
	return true;
}

struct inflate *reader_inflate_for(const uint8_t *bytes, size_t size)
{
	static const uint8_t zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };	/* RFC 8878, 3.1.1 */
	static const uint8_t gzip[3] = { 0x1f, 0x8b, 8 };		/* RFC 1952, 2.3.1 */

	if (size >= sizeof(zstd) && !memcmp(bytes, zstd, sizeof(zstd)))
		return inflate_open();
	if (size >= sizeof(gzip) && !memcmp(bytes, gzip, sizeof(gzip)))
		return inflate_open_gzip();
	return NULL;
}

void reader_unwrap(struct stream_reader *in)
{
	if (!reader_fill(in, 4))
		return;
	in->wrapping = reader_inflate_for(in->buffer, in->end);
	if (!in->wrapping)
		return;
	in->wrapped = mem_resize(NULL, in->capacity);
	memcpy(in->wrapped, in->buffer, in->end);
	inflate_feed(in->wrapping, in->wrapped, in->end);
	in->end = 0;
	in->seekable = false;
}

bool reader_spool(struct stream_reader *in)
{
	const char *directory;
	int fd = spool_open(&directory);
	bool good = fd >= 0;
	ssize_t n = (ssize_t)in->end;

	while (good && n > 0) {
		good = write_whole(fd, in->buffer, (size_t)n) == 0;
		do
			n = good && !reader_stopped(in)
				? read_bytes(in, in->buffer, in->capacity) : 0;
		while (n < 0 && errno == EINTR);
	}
	if (!good || lseek(fd, 0, SEEK_SET) < 0) {
		report_failure(in->report, "cannot copy the perf.data file in '%s' to '%s' "
			       "(set TMPDIR, or name the file itself)", in->file, directory);
		descriptor_close(fd);
		return false;
	}
	reader_close_source(in);
	inflate_close(in->wrapping);
	in->wrapping = NULL;
	in->read = NULL;
	in->fd = fd;
	in->is_lent = false;
	in->seekable = true;
	in->end = 0;
	return true;
}
