/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksum protects against damage, not against attacks: anyone who can write to the directory
 * can compute it. So every id and offset is checked before it is used.
 */
#include "resolve/index.h"
#include "base/arena.h"
#include "base/bisect.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/table.h"
#include "elf/mapped.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <unistd.h>

#define INDEX_MAGIC 0x7865646e69756d70ULL	/* "pmuindex" */
#define INDEX_SYMBOL (1U << 31)			/* bit of an answer: it is a symbol's name */

enum {
	INDEX_VERSION = 2,
	CHECKED = 16,			/* offset of the first byte that the checksum covers */
	INDEX_FRAMES_MAX = 512,		/* frames of one answer */
	INDEX_SIZE_MAX = 512 << 20,	/* bytes of a file */
};

/* The tables of a file, in its order. */
enum index_part { RANGES, FRAMES, FUNCTIONS, STRINGS, PARTS };

struct index_header {
	uint64_t magic;
	uint32_t version, checksum;
	uint64_t key;
	uint32_t size[PARTS];		/* bytes of the tables */
};

struct index_range {
	uint64_t start;
	uint32_t size, answer;
};

struct index_frame {
	uint32_t function, parent, file, line, column;
};

struct index_function {
	uint32_t name, file, line;
};

/* Bytes of an element. The id of an element is its offset in its table, divided by this. */
static const uint32_t unit[PARTS] = {
	[RANGES] = sizeof(struct index_range), [FRAMES] = sizeof(struct index_frame),
	[FUNCTIONS] = sizeof(struct index_function), [STRINGS] = 1,
};

struct index {
	struct mapped mapped;		/* the whole file, in which the tables are */
	const uint8_t *table[PARTS];
	uint32_t count[PARTS];		/* elements of TABLE */
	struct dwarf_frame frame[INDEX_FRAMES_MAX];	/* the last answer */
	struct dwarf_function function[INDEX_FRAMES_MAX];	/* functions of FRAME */
};

/* --- read --- */

/*
 * Find the tables. Returns what is wrong with the file, or NULL. Each string ends, because STRINGS
 * come last, and a mapping ends with zeros.
 */
static const char *read_index(struct index *x, uint64_t key)
{
	struct cursor c = { .at = x->mapped.at, .end = x->mapped.at + x->mapped.size };
	struct index_header header = { 0 };
	const void *start = cursor_bytes(&c, sizeof(header));

	if (start)
		memcpy(&header, start, sizeof(header));
	if (header.magic != INDEX_MAGIC || header.version != INDEX_VERSION)
		return "it is not an index of this version";
	if (libdeflate_crc32(0, x->mapped.at + CHECKED, x->mapped.size - CHECKED) !=
	    header.checksum)
		return "its checksum is wrong";
	if (header.key != key)
		return "it is another program's";
	for (int i = 0; i < PARTS; i++) {
		x->table[i] = cursor_bytes(&c, header.size[i]);
		x->count[i] = header.size[i] / unit[i];
		if (header.size[i] % unit[i])
			cursor_fail(&c);
	}
	return c.failed || cursor_left(&c) ? "the sizes of its tables are wrong" : NULL;
}

struct index *index_open(int fd, uint64_t key, const char **why)
{
	struct index *x = mem_zeroed(1, sizeof(*x));
	bool is_mapped = mapped_open(&x->mapped, fd);

	close(fd);
	mapped_need(&x->mapped, x->mapped.at, x->mapped.size);
	*why = is_mapped ? read_index(x, key) : "it cannot be mapped";
	if (!*why)
		return x;
	index_close(x);
	return NULL;
}

void index_close(struct index *x)
{
	if (!x)
		return;
	mapped_close(&x->mapped);
	free(x);
}

/* Copy element ID of the table PART to OUT. Returns false if there is no such element. */
static bool copy_element(const struct index *x, enum index_part part, size_t id, void *out)
{
	if (id >= x->count[part])
		return false;
	memcpy(out, x->table[part] + id * unit[part], unit[part]);
	return true;
}

/* Return the string at OFFSET. Returns NULL for "", and if OFFSET is out of range. */
static const char *string_at(const struct index *x, uint32_t offset)
{
	const char *text = (const char *)x->table[STRINGS];

	return offset < x->count[STRINGS] && text[offset] ? text + offset : NULL;
}

/* Fill x->frame from frame ID outwards. Returns the number of frames; 0: the index is damaged. */
static size_t follow_frames(struct index *x, uint32_t id)
{
	struct index_frame frame;
	struct index_function f;
	size_t count = 0;

	while (count < INDEX_FRAMES_MAX && copy_element(x, FRAMES, id, &frame) &&
	       copy_element(x, FUNCTIONS, frame.function, &f)) {
		x->function[count] = (struct dwarf_function){
			.linkage_name = string_at(x, f.name), .file = string_at(x, f.file),
			.line = f.line,
		};
		x->frame[count] = (struct dwarf_frame){
			.function = &x->function[count], .file = string_at(x, frame.file),
			.line = frame.line, .column = frame.column,
		};
		count++;
		if (frame.parent == 0)
			return count;
		if (frame.parent >= id)
			return 0;
		id = frame.parent;
	}
	return 0;
}

bool index_find(struct index *x, uint64_t address, struct source_answer *out)
{
	struct index_range range = { 0 };
	size_t next = BISECT(0, x->count[RANGES], i,
			     copy_element(x, RANGES, i, &range) && range.start > address);

	*out = (struct source_answer){ .frame = x->frame };
	if (!copy_element(x, RANGES, next - 1, &range) || address - range.start >= range.size)
		return false;
	if (range.answer & INDEX_SYMBOL)
		out->symbol = string_at(x, range.answer & ~INDEX_SYMBOL);
	else if (range.answer)
		out->frames = follow_frames(x, range.answer);
	return (!range.answer || out->symbol || out->frames) && !x->mapped.is_cut;
}

/* --- make --- */
struct index_builder {
	const struct index *old;	/* NULL: none */
	struct buffer part[PARTS];	/* the tables, as in a file, but RANGES is not sorted */
	struct table ids[PARTS];	/* ids of elements by their bytes; none of RANGES */
};

/* Return the id of the element of SIZE bytes with HASH in the table PART, or TABLE_NONE. */
static uint32_t find_element(const struct index_builder *b, enum index_part part, uint64_t hash,
			     const void *bytes, size_t size)
{
	const struct buffer *in = &b->part[part];

	return TABLE_FIND(&b->ids[part], hash, i,
			  size <= in->size - (size_t)i * unit[part] &&
			  !memcmp(in->at + (size_t)i * unit[part], bytes, size));
}

/* Return the id of the element of SIZE bytes in the table PART. Adds it if it is not there yet. */
static uint32_t element_id(struct index_builder *b, enum index_part part, const void *bytes,
			   size_t size)
{
	struct buffer *in = &b->part[part];
	uint64_t hash = hash_bytes(bytes, size);
	uint32_t id = find_element(b, part, hash, bytes, size);

	if (id != TABLE_NONE)
		return id;
	id = (uint32_t)(in->size / unit[part]);
	buffer_add(in, bytes, size);
	table_add(&b->ids[part], hash, id);
	return id;
}

static uint32_t string_id(struct index_builder *b, const char *text)
{
	return text ? element_id(b, STRINGS, text, strlen(text) + 1) : 0;
}

/*
 * Copy the table PART of the old index, so that its ids stay the same.  Of equal elements, which
 * only a damaged file has, the first is found: a table with many equal hashes would be slow.
 */
static void take(struct index_builder *b, enum index_part part)
{
	const uint8_t *table = b->old->table[part];
	size_t end = (size_t)b->old->count[part] * unit[part], size;

	buffer_add(&b->part[part], table, end);
	for (size_t at = 0; part != RANGES && at < end; at += size) {
		size = part == STRINGS ? strlen((const char *)table + at) + 1 : unit[part];
		uint64_t hash = hash_bytes(table + at, size);
		if (find_element(b, part, hash, table + at, size) == TABLE_NONE)
			table_add(&b->ids[part], hash, (uint32_t)(at / unit[part]));
	}
}

struct index_builder *index_builder_new(const struct index *old)
{
	static const struct index_frame unused = { UINT32_MAX, UINT32_MAX, 0, 0, 0 };
	struct index_builder *b = mem_zeroed(1, sizeof(*b));

	b->old = old;
	for (int i = 0; old && i < PARTS; i++)
		take(b, i);
	if (!b->part[FRAMES].size)
		element_id(b, FRAMES, &unused, sizeof(unused));
	string_id(b, "");
	return b;
}

void index_builder_free(struct index_builder *b)
{
	for (int i = 0; i < PARTS; i++) {
		free(b->part[i].at);
		table_release(&b->ids[i]);
	}
	free(b);
}

static uint32_t function_id(struct index_builder *b, const struct dwarf_function *f,
			    const char *symbol)
{
	const char *name = symbol ? symbol : dwarf_function_name(f);
	struct index_function function = { string_id(b, name), string_id(b, f ? f->file : NULL),
					   f ? f->line : 0 };

	return element_id(b, FUNCTIONS, &function, sizeof(function));
}

/* Return what a range stores for the answer A. */
static uint32_t answer_id(struct index_builder *b, const struct source_answer *a)
{
	uint32_t id = 0;

	if (a->frames == 0 && a->symbol)
		return INDEX_SYMBOL | string_id(b, a->symbol);
	for (size_t i = a->frames; i-- > 0; ) {
		const struct dwarf_frame *f = &a->frame[i];
		struct index_frame frame = {
			function_id(b, f->function, i + 1 == a->frames ? a->symbol : NULL), id,
			string_id(b, f->file), f->line, f->column,
		};
		id = element_id(b, FRAMES, &frame, sizeof(frame));
	}
	return id;
}

static size_t size_of(const struct index_builder *b)
{
	size_t size = 0;

	for (int i = 0; i < PARTS; i++)
		size += b->part[i].size;
	return size;
}

void index_builder_add(struct index_builder *b, struct extent same,
		       const struct source_answer *answer)
{
	uint64_t size = same.end - same.start;

	if (size > UINT32_MAX || answer->frames > INDEX_FRAMES_MAX ||
	    size_of(b) > INDEX_SIZE_MAX / 2)
		return;
	struct index_range range = { same.start, (uint32_t)size, answer_id(b, answer) };
	buffer_add(&b->part[RANGES], &range, sizeof(range));
}

static int by_start(const void *a, const void *b)
{
	const struct index_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sort the ranges. If ranges overlap, as in damaged programs, only the first one is kept. */
static void sort_ranges(struct buffer *ranges)
{
	struct index_range *range = (void *)ranges->at;
	size_t count = ranges->size / sizeof(*range), kept = 0;
	uint64_t end = 0;

	if (count)
		qsort(range, count, sizeof(*range), by_start);
	for (size_t i = 0; i < count; i++) {
		if (range[i].start < end || range[i].size > UINT64_MAX - range[i].start)
			continue;
		end = range[i].start + range[i].size;
		range[kept++] = range[i];
	}
	ranges->size = kept * sizeof(*range);
}

uint8_t *index_builder_encode(struct index_builder *b, uint64_t key, size_t *size)
{
	struct index_header header = { .magic = INDEX_MAGIC, .version = INDEX_VERSION, .key = key };
	struct buffer out = { 0 };

	if (size_of(b) > INDEX_SIZE_MAX || (b->old && b->old->mapped.is_cut))
		return NULL;
	sort_ranges(&b->part[RANGES]);
	buffer_grow(&out, sizeof(header) + size_of(b));
	buffer_add(&out, &header, sizeof(header));
	for (int i = 0; i < PARTS; i++) {
		header.size[i] = (uint32_t)b->part[i].size;
		buffer_add(&out, b->part[i].at, b->part[i].size);
	}
	memcpy(out.at, &header, sizeof(header));
	header.checksum = libdeflate_crc32(0, out.at + CHECKED, out.size - CHECKED);
	memcpy(out.at, &header, sizeof(header));
	*size = out.size;
	return out.at;
}
