/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/look.h"
#include "base/arena.h"
#include "base/cursor.h"
#include "stream/internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_LOOKED_AT = 512 };	/* bytes; profile.proto has a control character before that */

/* Decompress as much of HEAD as is intact and fits into ROOM bytes at TO.  Return their number. */
static size_t unpack(struct inflate *z, const uint8_t *head, size_t size, uint8_t *to, size_t room)
{
	size_t have = 0;
	ptrdiff_t n;

	inflate_feed(z, head, size);
	do {
		n = inflate_read(z, to + have, room - have);
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0 && have < room);
	inflate_close(z);
	return have;
}

static bool is_text(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && i < TEXT_LOOKED_AT; i++)
		if ((bytes[i] < ' ' && !memchr("\t\n\r", bytes[i], 3)) || bytes[i] == 0x7f)
			return false;
	return size > 0;
}

/*
 * Return LOOK_ROWS if an object of JSON comes first, perhaps in an array; LOOK_TOO_SHORT if more
 * bytes may show that.  A brace alone may be a name in folded text: "{lambda()#1}".
 */
static enum look_kind look_for_rows(const uint8_t *bytes, size_t size)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };	/* U+FEFF may come first */
	const uint8_t *at = bytes, *end = bytes + size;
	uint8_t before = 0;

	if (size >= sizeof(mark) && !memcmp(bytes, mark, sizeof(mark)))
		at += sizeof(mark);
	for (; at < end; at++) {
		if (memchr(" \t\r\n", *at, 4))
			continue;
		if (before == '{')
			return *at == '"' || *at == '}' ? LOOK_ROWS : LOOK_OTHER;
		if (*at != '{' && (*at != '[' || before == '['))
			return LOOK_OTHER;
		before = *at;
	}
	return LOOK_TOO_SHORT;
}

/* A sample type comes first in profile.proto: field 1, its length, its first field. */
static bool is_profile(const uint8_t *bytes, size_t size)
{
	return size >= 3 && bytes[0] == 0x0a && bytes[1] < 0x20 && bytes[2] == 0x08;
}

/* struct perf_event_attr: u32 type, u32 size, u64 config, u64 period, u64 sample_type, ... */
static bool dumps_stacks(struct cursor attr)
{
	cursor_bytes(&attr, 24);
	return cursor_u64(&attr) & PERF_SAMPLE_STACK_USER;
}

/* The attrs of a perf.data file: u64 magic, size, attr_size, then offset and size of all attrs */
static struct look look_at_file(const uint8_t *head, size_t size, struct cursor c)
{
	struct look look = { .kind = LOOK_RAW };
	uint64_t attr_size = cursor_u64(&c), offset = cursor_u64(&c), length = cursor_u64(&c);

	while (attr_size > 0 && offset < size && length >= attr_size) {
		look.has_dumps |= dumps_stacks((struct cursor){ .at = head + offset,
						.end = head + size, .swap = c.swap });
		if (attr_size > size - offset)
			break;
		offset += attr_size;
		length -= attr_size;
	}
	return look;
}

/* The first record whose type occurs in only one kind of stream decides. */
static struct look look_at_records(struct cursor c, bool is_all)
{
	struct look look = { .kind = LOOK_TOO_SHORT };

	while (look.kind == LOOK_TOO_SHORT && cursor_left(&c) >= RECORD_HEADER_SIZE) {
		uint32_t type = cursor_u32(&c);
		cursor_u16(&c);		/* misc */
		uint16_t size = cursor_u16(&c);
		size_t left = size - RECORD_HEADER_SIZE;
		if (record_is_resolved(type))
			look.kind = LOOK_RESOLVED;
		else if (size < RECORD_HEADER_SIZE || type == PERF_RECORD_SAMPLE ||
			 type == RECORD_FINISHED_ROUND || type == RECORD_COMPRESSED ||
			 type == RECORD_COMPRESSED2 || type == RECORD_AUXTRACE)
			look.kind = LOOK_RAW;
		else if (type == RECORD_ATTR)
			look.has_dumps |= dumps_stacks(c);
		else if (type == RECORD_TRACING_DATA) {
			struct cursor data = c;		/* this many bytes follow the record */
			left += ((size_t)cursor_u32(&data) + 7) & ~(size_t)7;
		}
		cursor_bytes(&c, left);
	}
	if (look.kind == LOOK_TOO_SHORT && is_all)
		look.kind = LOOK_RAW;
	return look;
}

struct look stream_look(struct stream_reader *in)
{
	struct look look = { .kind = in->is_file ? LOOK_RAW : LOOK_TOO_SHORT };

	for (uint32_t i = 0; i < in->events.count; i++)		/* of a perf.data file */
		look.has_dumps |= in->events.event[i].attr.sample_type & PERF_SAMPLE_STACK_USER;
	while (look.kind == LOOK_TOO_SHORT) {
		size_t size = in->end - in->begin;
		bool is_all = size >= STREAM_HEAD_MAX || !reader_fill(in, size + 1);
		const uint8_t *at = in->buffer + in->begin;
		look = look_at_records((struct cursor){ .at = at, .swap = in->swap,
							.end = in->buffer + in->end }, is_all);
	}
	return look;
}

static struct look look_at_plain(const uint8_t *head, size_t size, bool is_all)
{
	struct cursor c = { .at = head, .end = head + size };
	uint64_t magic = cursor_u64(&c), header = cursor_u64(&c);

	c.swap = magic == __builtin_bswap64(STREAM_MAGIC);
	if (c.swap)
		header = __builtin_bswap64(header);
	if (size >= sizeof(magic) && magic == STREAM_MAGIC_1)
		return (struct look){ .kind = LOOK_RAW };
	if (size >= sizeof(magic) && (magic == STREAM_MAGIC || c.swap))
		return c.failed ? (struct look){ .kind = is_all ? LOOK_RAW : LOOK_TOO_SHORT }
		       : header == PIPE_HEADER_SIZE ? look_at_records(c, is_all)
						    : look_at_file(head, size, c);
	enum look_kind rows = look_for_rows(head, size);
	if (rows == LOOK_ROWS || (rows == LOOK_TOO_SHORT && !is_all) ||
	    (size < sizeof(magic) && !is_all))
		return (struct look){ .kind = rows == LOOK_ROWS ? rows : LOOK_TOO_SHORT };
	return (struct look){ .kind = is_text(head, size) ? LOOK_TEXT
				      : is_profile(head, size) ? LOOK_PROFILE : LOOK_OTHER };
}

/* Return whether HEAD starts with words of WIDTH bytes: 0, 3 words, a version, a period in us. */
static bool has_old_header(const uint8_t *head, size_t size, size_t width, bool big)
{
	uint64_t word[4] = { 0 };

	if (size < 5 * width)
		return false;
	for (size_t i = 0; i < 4 * width; i++) {
		size_t byte = i % width, shift = 8 * (big ? width - 1 - byte : byte);
		word[i / width] |= (uint64_t)head[i] << shift;
	}
	return word[0] == 0 && word[1] == 3 && word[2] <= 1 && word[3] > 0 &&
	       word[3] < 1000000000;
}

bool look_is_old_profile(const uint8_t *head, size_t size)
{
	static const char *const starts[] = {
		"heap profile:", "--- heapz", "--- contentionz", "--- threadz", "--- growthz",
		"threadcreate profile: total", "goroutine profile: total",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (size >= strlen(starts[i]) && !memcmp(head, starts[i], strlen(starts[i])))
			return true;
	return has_old_header(head, size, 8, false) || has_old_header(head, size, 4, false) ||
	       has_old_header(head, size, 8, true) || has_old_header(head, size, 4, true);
}

struct look look_at(const uint8_t *head, size_t size, bool is_all)
{
	struct inflate *z = reader_inflate_for(head, size);

	if (!z)
		return look_at_plain(head, size, is_all);
	uint8_t *inner = mem_resize(NULL, READER_BUFFER);
	size_t have = unpack(z, head, size, inner, READER_BUFFER);
	struct look look = look_at_plain(inner, have, is_all);
	if (look.kind == LOOK_OTHER && head[0] == 0x1f)		/* gzip */
		look.kind = LOOK_PROFILE;
	free(inner);
	return look;
}

/* A failure to read is left for the reader to find again. */
struct look look_into(int fd, bool is_regular, uint8_t *head, size_t *size)
{
	struct look look = { .kind = LOOK_TOO_SHORT };
	bool is_all = false;
	ssize_t n;

	*size = 0;
	while (look.kind == LOOK_TOO_SHORT) {
		size_t room = STREAM_HEAD_MAX - *size;
		if (is_regular)
			n = pread(fd, head, room, lseek(fd, 0, SEEK_CUR));
		else
			n = read(fd, head + *size, room);
		if (n < 0 && errno == EINTR)
			continue;
		*size += n > 0 ? (size_t)n : 0;
		is_all = n <= 0 || is_regular || *size == STREAM_HEAD_MAX;
		look = look_at(head, *size, is_all);
	}
	return look;
}
