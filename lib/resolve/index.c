/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksum protects against damage, not against attacks: anyone who can write to the directory
 * can compute it. So every id and offset is checked before it is used.
 */
#include "base/arena.h"
#include "base/bisect.h"
#include "base/cursor.h"
#include "resolve/index-internal.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <unistd.h>

/* Find the tables after the header. Returns false if they do not fill the file exactly. */
static bool find_tables(struct index *x, struct cursor *c)
{
	x->chunks = cursor_u32(c);
	x->calls = cursor_u32(c);
	x->functions = cursor_u32(c);
	x->code_size = cursor_u32(c);
	x->strings_size = cursor_u32(c);
	cursor_u32(c);		/* reserved */
	x->chunk = cursor_bytes(c, (uint64_t)x->chunks * CHUNK_BYTES);
	x->call = cursor_bytes(c, (uint64_t)x->calls * CALL_BYTES);
	x->function = cursor_bytes(c, (uint64_t)x->functions * FUNCTION_BYTES);
	x->code = cursor_bytes(c, x->code_size);
	x->strings = cursor_bytes(c, x->strings_size);
	return !c->failed && cursor_left(c) == 0 && x->strings_size > 0 &&
	       !x->strings[0] && !x->strings[x->strings_size - 1];
}

static bool read_index(struct index *x, uint64_t key, const char **why)
{
	struct cursor c = { .at = x->mapped.at, .end = x->mapped.at + x->mapped.size };
	uint64_t magic = cursor_u64(&c);
	uint32_t version = cursor_u32(&c), checksum = cursor_u32(&c);
	const uint8_t *checked = c.at;

	*why = "it is not an index of this version";
	if (c.failed || magic != INDEX_MAGIC || version != INDEX_VERSION)
		return false;
	*why = "its checksum is wrong";
	if (libdeflate_crc32(0, checked, cursor_left(&c)) != checksum)
		return false;
	*why = "it is another program's";
	if (cursor_u64(&c) != key)
		return false;
	*why = "the sizes of its tables are wrong";
	return find_tables(x, &c);
}

struct index *index_open(int fd, uint64_t key, const char **why)
{
	struct index *x = mem_zeroed(1, sizeof(*x));
	bool is_mapped = mapped_open(&x->mapped, fd);

	close(fd);
	*why = "it cannot be mapped";
	if (is_mapped && read_index(x, key, why))
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

/* Find the chunk that contains ADDRESS. Returns false if no chunk contains it. */
static bool find_chunk(const struct index *x, uint64_t address, struct index_chunk *out)
{
	size_t next = BISECT(0, x->chunks, i, index_chunk_at(x, (uint32_t)i).start > address);

	if (next == 0)
		return false;
	*out = index_chunk_at(x, (uint32_t)next - 1);
	return address - out->start < out->size;
}

struct segment {
	uint32_t call;
	uint64_t file, line, column;
};

/*
 * Find the segment that contains the address OFFSET bytes after the chunk's start. Returns false if
 * the chunk is damaged.
 */
static bool find_segment(struct cursor *c, uint64_t offset, struct segment *out)
{
	uint64_t line = 0, length, at = 0;

	for (int i = 0; i < CHUNK_SEGMENTS; i++, at += length) {
		length = cursor_uleb(c);
		uint64_t call = cursor_uleb(c), file = cursor_uleb(c);
		line += (uint64_t)cursor_sleb(c);
		uint64_t column = cursor_uleb(c);
		if (c->failed || length == 0)
			return false;
		if (offset - at < length) {
			*out = (struct segment){ (uint32_t)call, file, line, column };
			return call <= UINT32_MAX;
		}
	}
	return false;
}

/* Return the string at OFFSET. Returns NULL for "", and if OFFSET is out of range. */
static const char *string_at(const struct index *x, uint64_t offset)
{
	return offset < x->strings_size && x->strings[offset] ? x->strings + offset : NULL;
}

/*
 * Fill x->frames with the chain of calls from SEGMENT outwards. Returns the number of frames; 0 if
 * the index is damaged.
 */
static size_t follow_calls(struct index *x, const struct segment *segment)
{
	struct dwarf_frame leaf = { .file = string_at(x, segment->file),
				    .line = (uint32_t)segment->line,
				    .column = (uint32_t)segment->column };
	uint32_t id = segment->call;
	size_t count = 0;

	while (count < INDEX_FRAMES_MAX && id < x->calls) {
		struct index_call call = index_call_at(x, id);
		if (call.function >= x->functions)
			return 0;
		struct index_function f = index_function_at(x, call.function);
		x->names[count] = (struct dwarf_function){ .linkage_name = string_at(x, f.name),
							   .file = string_at(x, f.file),
							   .line = f.line };
		x->frames[count] = leaf;
		x->frames[count].function = &x->names[count];
		count++;
		if (call.parent == 0)
			return count;
		if (call.parent >= id)
			return 0;
		leaf = (struct dwarf_frame){ .file = string_at(x, call.file), .line = call.line,
					     .column = call.column };
		id = call.parent;
	}
	return 0;
}

bool index_find(struct index *x, uint64_t address, struct index_answer *out)
{
	struct index_chunk chunk;
	struct segment segment;

	if (!find_chunk(x, address, &chunk) || chunk.code > x->code_size)
		return false;
	struct cursor c = { .at = x->code + chunk.code, .end = x->code + x->code_size };
	uint8_t kind = cursor_u8(&c);
	*out = (struct index_answer){ .kind = kind, .frame = x->frames };
	if (kind == INDEX_NOTHING)
		return !c.failed;
	if (kind >= INDEX_KINDS || !find_segment(&c, address - chunk.start, &segment))
		return false;
	out->frames = follow_calls(x, &segment);
	return out->frames > 0 && !x->mapped.is_cut;
}
