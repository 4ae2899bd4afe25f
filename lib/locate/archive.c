/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cursor.h"
#include "locate/internal.h"

#include <string.h>

enum {
	END_MARK = 0x06054b50, END_SIZE = 22,			/* end of central directory */
	END64_MARK = 0x06064b50, END64_SIZE = 56,		/* the same, with 64 bits */
	LOCATOR_MARK = 0x07064b50, LOCATOR_SIZE = 20,		/* where that is */
	ENTRY_MARK = 0x02014b50, ENTRY_SIZE = 46,		/* of the central directory */
	LOCAL_MARK = 0x04034b50, LOCAL_SIZE = 30,		/* before a file's bytes */
	COMMENT_MAX = UINT16_MAX,
	EXTRA_64 = 1,			/* extra field with 64-bit sizes and offset */
	IS_ENCRYPTED = 1, IS_STORED = 0,	/* in flags; method */
};

/* The central directory: COUNT entries in BYTES, which start at START of the archive. */
struct directory {
	struct elf_bytes bytes;
	uint64_t start, count;
};

/* An entry of the directory. */
struct entry {
	uint16_t flags, method;
	uint64_t packed, size;	/* bytes */
	uint64_t local;		/* offset of the local header */
	const uint8_t *name;
	uint16_t name_size;
};

static struct elf_bytes part(const struct mapped *zip, uint64_t offset, uint64_t size)
{
	if (offset > zip->size || size > zip->size - offset)
		return (struct elf_bytes){ 0 };
	mapped_need(zip, zip->at + offset, size);
	return (struct elf_bytes){ zip->at + offset, size };
}

static struct cursor cursor_at(const struct mapped *zip, uint64_t offset, uint64_t size)
{
	struct elf_bytes p = part(zip, offset, size);

	return (struct cursor){ .at = p.at, .end = p.at ? p.at + p.size : p.at,
				.swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__,
				.failed = !p.at };
}

/* Return the offset of the end record: it is the last one whose comment ends the archive. */
static uint64_t find_end(const struct mapped *zip)
{
	const uint64_t most = zip->size < END_SIZE + COMMENT_MAX ? zip->size
								 : END_SIZE + COMMENT_MAX;

	for (uint64_t back = END_SIZE; back <= most; back++) {
		struct cursor c = cursor_at(zip, zip->size - back, END_SIZE);
		if (cursor_u32(&c) != END_MARK)
			continue;
		cursor_bytes(&c, END_SIZE - 4 - 2);
		if (cursor_u16(&c) == back - END_SIZE)
			return zip->size - back;
	}
	return UINT64_MAX;
}

/* Read the directory's place from the 64-bit record that the locator before END names. */
static bool read_end_64(const struct mapped *zip, uint64_t end, uint64_t *count, uint64_t *size,
			uint64_t *start)
{
	struct cursor c = cursor_at(zip, end - LOCATOR_SIZE, LOCATOR_SIZE);

	if (end < LOCATOR_SIZE || cursor_u32(&c) != LOCATOR_MARK || cursor_u32(&c) != 0)
		return false;
	uint64_t at = cursor_u64(&c);
	c = cursor_at(zip, at, END64_SIZE);
	if (at > end - LOCATOR_SIZE || cursor_u32(&c) != END64_MARK)
		return false;
	cursor_bytes(&c, 8 + 2 + 2 + 4 + 4 + 8);
	*count = cursor_u64(&c);
	*size = cursor_u64(&c);
	*start = cursor_u64(&c);
	return !c.failed;
}

static bool find_directory(const struct mapped *zip, struct directory *out)
{
	uint64_t end = find_end(zip);

	if (end == UINT64_MAX)
		return false;
	struct cursor c = cursor_at(zip, end + 4, END_SIZE - 4);
	uint16_t disk = cursor_u16(&c), first_disk = cursor_u16(&c);
	uint64_t here = cursor_u16(&c), count = cursor_u16(&c);
	uint64_t size = cursor_u32(&c), start = cursor_u32(&c);
	bool is_64 = count == UINT16_MAX || size == UINT32_MAX || start == UINT32_MAX;

	if (is_64 && read_end_64(zip, end, &count, &size, &start))
		here = count;
	if (c.failed || disk || first_disk || here != count || start > end || size > end - start)
		return false;
	*out = (struct directory){ part(zip, start, size), start, count };
	return out->bytes.size > 0;
}

/* Replace the sizes and the offset of E that do not fit 32 bits by those of the extra fields. */
static void read_extra(struct cursor extra, struct entry *e)
{
	while (!extra.failed && cursor_left(&extra) >= 4) {
		uint16_t id = cursor_u16(&extra), size = cursor_u16(&extra);
		const uint8_t *at = cursor_bytes(&extra, size);
		if (!at || id != EXTRA_64)
			continue;
		struct cursor c = { .at = at, .end = at + size, .swap = extra.swap };
		uint64_t *field[] = { &e->size, &e->packed, &e->local };
		for (unsigned i = 0; i < 3; i++)
			if (*field[i] == UINT32_MAX && cursor_left(&c) >= 8)
				*field[i] = cursor_u64(&c);
		return;
	}
}

/* Read the entry at C, and move C after it. */
static bool read_entry(struct cursor *c, struct entry *e)
{
	if (cursor_left(c) < ENTRY_SIZE || cursor_u32(c) != ENTRY_MARK)
		return false;
	cursor_bytes(c, 2 + 2);			/* versions */
	e->flags = cursor_u16(c);
	e->method = cursor_u16(c);
	cursor_bytes(c, 2 + 2 + 4);		/* time, date, checksum */
	e->packed = cursor_u32(c);
	e->size = cursor_u32(c);
	e->name_size = cursor_u16(c);
	uint16_t extra = cursor_u16(c), comment = cursor_u16(c);
	cursor_bytes(c, 2 + 2 + 4);		/* disk, attributes */
	e->local = cursor_u32(c);
	e->name = cursor_bytes(c, e->name_size);
	const uint8_t *extras = cursor_bytes(c, extra);
	if (!extras || !cursor_bytes(c, comment) || c->failed)
		return false;
	read_extra((struct cursor){ .at = extras, .end = extras + extra, .swap = c->swap }, e);
	return true;
}

/* Find the bytes of E by its local header, which must agree. */
static bool find_bytes(const struct mapped *zip, const struct directory *d, const struct entry *e,
		       struct archive_file *out)
{
	struct cursor c = cursor_at(zip, e->local, LOCAL_SIZE);

	if (e->method != IS_STORED || e->flags & IS_ENCRYPTED || e->packed != e->size ||
	    e->name_size == 0 || e->name_size >= ARCHIVE_NAME_MAX || cursor_u32(&c) != LOCAL_MARK)
		return false;
	cursor_bytes(&c, 2 + 2);		/* version, flags */
	uint16_t method = cursor_u16(&c);
	cursor_bytes(&c, 2 + 2 + 4 + 4 + 4);	/* time, date, checksum, sizes */
	uint16_t name_size = cursor_u16(&c), extra = cursor_u16(&c);
	uint64_t before = LOCAL_SIZE + (uint64_t)name_size + extra;
	struct elf_bytes name = part(zip, e->local + LOCAL_SIZE, name_size);
	if (c.failed || method != IS_STORED || name_size != e->name_size || !name.at ||
	    e->local > d->start || before > d->start - e->local ||
	    e->size > d->start - e->local - before)
		return false;
	memcpy(out->name, e->name, e->name_size);
	out->name[e->name_size] = '\0';
	out->offset = e->local + before;
	out->size = e->size;
	return !memcmp(out->name, name.at, name_size) && strlen(out->name) == name_size;
}

/* Start to read the entries of D. */
static struct cursor entries_of(const struct directory *d)
{
	return (struct cursor){ .at = d->bytes.at, .end = d->bytes.at + d->bytes.size,
				.swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ };
}

bool archive_find_name(const struct mapped *zip, const char *name, struct archive_file *out)
{
	struct directory d;
	struct entry e, found = { 0 };
	size_t size = strlen(name), count = 0;

	if (!find_directory(zip, &d))
		return false;
	struct cursor c = entries_of(&d);
	for (uint64_t i = 0; i < d.count && read_entry(&c, &e); i++) {
		if (e.name_size != size || memcmp(e.name, name, size))
			continue;
		found = e;
		count++;
	}
	return count == 1 && find_bytes(zip, &d, &found, out) && !strcmp(out->name, name);
}

bool archive_find_at(const struct mapped *zip, uint64_t offset, struct archive_file *out)
{
	struct directory d;
	struct entry e, found = { .local = UINT64_MAX };
	struct archive_file same;

	if (!find_directory(zip, &d))
		return false;
	/* Files do not overlap, so only the last file that starts before OFFSET may contain it. */
	struct cursor c = entries_of(&d);
	for (uint64_t i = 0; i < d.count && read_entry(&c, &e); i++)
		if (e.local <= offset && (found.local == UINT64_MAX || e.local > found.local))
			found = e;
	if (found.local == UINT64_MAX || !find_bytes(zip, &d, &found, out) ||
	    offset < out->offset || offset - out->offset >= out->size)
		return false;
	return archive_find_name(zip, out->name, &same) && same.offset == out->offset;
}

uint64_t archive_cost(const struct mapped *zip)
{
	struct directory d;

	if (zip->size < END_SIZE || !find_directory(zip, &d))
		return END_SIZE + COMMENT_MAX;
	return zip->size - d.start - d.bytes.size + 2 * d.bytes.size;
}

const char *archive_separator(const char *path)
{
	const char *at = strstr(path, "!/");

	return at && at > path && at[2] ? at : NULL;
}
