/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings, functions and calls get ids by their content. A cheaper lookup by the address of a
 * string or function comes first, and finds nearly all of them.
 */
#include "resolve/index-builder.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte-ids.h"
#include "base/pointers.h"
#include "resolve/index-internal.h"

#include <libdeflate.h>
#include <stdlib.h>

struct index_builder {
	struct index_chunk *chunk;
	uint32_t chunks;
	struct byte_ids calls;		/* the first is a placeholder: id 0 means no call */
	struct byte_ids functions;
	struct buffer code, strings;
	struct table string_table;	/* over offsets in STRINGS */
	struct pointers seen;		/* ids of strings and functions by their addresses */
	/* the current chunk: its end, kind and segments, and the line of its last segment */
	uint64_t end;
	enum index_kind kind;
	unsigned segments;
	uint32_t line;
};

/* --- bytes --- */
static void add_uleb(struct buffer *b, uint64_t v)
{
	uint8_t *to = buffer_end(b, 10);

	for (; v >= 0x80; v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to++ = (uint8_t)v;
	b->size = (size_t)(to - b->at);
}

static void add_sleb(struct buffer *b, int64_t v)
{
	uint8_t *to = buffer_end(b, 10);

	for (; v < -0x40 || v >= 0x40; v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to++ = v & 0x7f;
	b->size = (size_t)(to - b->at);
}

/* --- ids --- */
static uint32_t string_id(struct index_builder *b, const char *text)
{
	size_t size = strlen(text);
	uint64_t hash = hash_bytes(text, size);
	uint32_t id = TABLE_FIND(&b->string_table, hash, i,
				 !strcmp((const char *)b->strings.at + i, text));

	if (id != TABLE_NONE)
		return id;
	id = (uint32_t)b->strings.size;
	buffer_add(&b->strings, text, size + 1);
	table_add(&b->string_table, hash, id);
	return id;
}

static uint32_t string_at(struct index_builder *b, const char *text)
{
	uint32_t id = 0;

	return !text || pointers_find(&b->seen, text, &id)
		? id : pointers_add(&b->seen, text, string_id(b, text));
}

static uint32_t function_at(struct index_builder *b, const struct dwarf_function *f,
			    const char *symbol)
{
	const char *name = symbol ? symbol : dwarf_function_name(f);
	uint32_t id;

	if (f && !symbol && pointers_find(&b->seen, f, &id))
		return id;
	struct index_function function = { string_at(b, name), string_at(b, f ? f->file : NULL),
					   f ? f->line : 0 };
	id = byte_ids_add(&b->functions, &function, sizeof(function));
	return f && !symbol ? pointers_add(&b->seen, f, id) : id;
}

/* --- taking over an older index --- */
static void take_strings(struct index_builder *b, const struct index *old)
{
	const char *end = old->strings + old->strings_size;

	buffer_add(&b->strings, old->strings, old->strings_size);
	for (const char *at = old->strings; at < end; at += strlen(at) + 1)
		table_add(&b->string_table, hash_bytes(at, strlen(at)),
			  (uint32_t)(at - old->strings));
}

/* Returns false if OLD has the same function or call twice, so that ids would change. */
static bool take(struct index_builder *b, const struct index *old)
{
	take_strings(b, old);
	buffer_add(&b->code, old->code, old->code_size);
	for (uint32_t i = 0; i < old->functions; i++) {
		struct index_function function = index_function_at(old, i);
		if (byte_ids_add(&b->functions, &function, sizeof(function)) != i)
			return false;
	}
	for (uint32_t i = 1; i < old->calls; i++) {
		struct index_call call = index_call_at(old, i);
		if (byte_ids_add(&b->calls, &call, sizeof(call)) != i)
			return false;
	}
	for (; b->chunks < old->chunks; b->chunks++) {
		b->chunk = array_grow(b->chunk, b->chunks, sizeof(*b->chunk));
		b->chunk[b->chunks] = index_chunk_at(old, b->chunks);
	}
	return true;
}

struct index_builder *index_builder_new(const struct index *old)
{
	static const struct index_call placeholder = { UINT32_MAX, UINT32_MAX, 0, 0, 0 };
	struct index_builder *b = mem_zeroed(1, sizeof(*b));

	b->end = UINT64_MAX;
	byte_ids_add(&b->calls, &placeholder, sizeof(placeholder));
	if (old && !take(b, old)) {
		index_builder_free(b);
		return index_builder_new(NULL);
	}
	if (b->strings.size == 0)
		string_id(b, "");
	return b;
}

void index_builder_free(struct index_builder *b)
{
	if (!b)
		return;
	free(b->chunk);
	byte_ids_release(&b->calls);
	byte_ids_release(&b->functions);
	free(b->code.at);
	free(b->strings.at);
	table_release(&b->string_table);
	pointers_release(&b->seen);
	free(b);
}

/* --- answers --- */

/* Return the id of the innermost call of ANSWER. The parent of each call is the next outer one. */
static uint32_t chain_of(struct index_builder *b, const struct index_answer *answer,
			 const char *symbol)
{
	struct index_call call = { 0 };
	uint32_t id = 0;

	for (size_t i = answer->frames; i-- > 0; ) {
		const struct dwarf_frame *f = &answer->frame[i];
		call.function = function_at(b, f->function,
					    i + 1 == answer->frames ? symbol : NULL);
		id = byte_ids_add(&b->calls, &call, sizeof(call));
		call = (struct index_call){ .parent = id, .file = string_at(b, f->file),
					    .line = f->line, .column = f->column };
	}
	return id;
}

static void begin_chunk(struct index_builder *b, uint64_t start, enum index_kind kind)
{
	b->chunk = array_grow(b->chunk, b->chunks, sizeof(*b->chunk));
	b->chunk[b->chunks++] = (struct index_chunk){ start, 0, (uint32_t)b->code.size };
	b->end = start;
	b->kind = kind;
	b->segments = 0;
	b->line = 0;
	*buffer_end(&b->code, 1) = (uint8_t)kind;
	b->code.size++;
}

static size_t size_of(const struct index_builder *b)
{
	return INDEX_HEADER + (size_t)b->chunks * CHUNK_BYTES +
	       (size_t)b->calls.count * CALL_BYTES + (size_t)b->functions.count * FUNCTION_BYTES +
	       b->code.size + b->strings.size;
}

void index_builder_add(struct index_builder *b, struct extent same,
		       const struct index_answer *answer, const char *symbol)
{
	uint64_t size = same.end - same.start;

	if (size > UINT32_MAX / 2 || answer->frames > INDEX_FRAMES_MAX ||
	    size_of(b) > INDEX_SIZE_MAX / 2)
		return;
	const struct index_chunk *open = b->chunks ? &b->chunk[b->chunks - 1] : NULL;
	if (!open || b->end != same.start || b->kind != answer->kind ||
	    b->segments == CHUNK_SEGMENTS || open->size > UINT32_MAX / 2)
		begin_chunk(b, same.start, answer->kind);
	b->chunk[b->chunks - 1].size += (uint32_t)size;
	b->end = same.end;
	if (answer->kind == INDEX_NOTHING)
		return;
	const struct dwarf_frame *leaf = &answer->frame[0];
	uint32_t call = chain_of(b, answer, symbol);
	add_uleb(&b->code, size);
	add_uleb(&b->code, call);
	add_uleb(&b->code, string_at(b, leaf->file));
	add_sleb(&b->code, (int64_t)leaf->line - b->line);
	add_uleb(&b->code, leaf->column);
	b->line = leaf->line;
	b->segments++;
}

static int by_start(const void *a, const void *b)
{
	const struct index_chunk *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sort the chunks. If chunks overlap, as in damaged programs, only the first one is kept. */
static void sort_chunks(struct index_builder *b)
{
	uint32_t kept = 0;
	uint64_t end = 0;

	qsort(b->chunk, b->chunks, sizeof(*b->chunk), by_start);
	for (uint32_t i = 0; i < b->chunks; i++) {
		struct index_chunk chunk = b->chunk[i];
		if (chunk.start < end || chunk.size > UINT64_MAX - chunk.start)
			continue;
		end = chunk.start + chunk.size;
		b->chunk[kept++] = chunk;
	}
	b->chunks = kept;
}

uint8_t *index_builder_encode(struct index_builder *b, uint64_t key, size_t *size)
{
	uint32_t start[2] = { INDEX_VERSION, 0 };
	uint64_t magic = INDEX_MAGIC;
	struct buffer out = { 0 };

	if (size_of(b) > INDEX_SIZE_MAX)
		return NULL;
	if (b->chunks)
		sort_chunks(b);
	uint32_t counts[6] = { b->chunks, b->calls.count, b->functions.count,
			       (uint32_t)b->code.size, (uint32_t)b->strings.size, 0 };
	buffer_end(&out, size_of(b));
	buffer_add(&out, &magic, sizeof(magic));
	buffer_add(&out, start, sizeof(start));
	buffer_add(&out, &key, sizeof(key));
	buffer_add(&out, counts, sizeof(counts));
	for (uint32_t i = 0; i < b->chunks; i++)
		buffer_add(&out, &b->chunk[i], CHUNK_BYTES);
	for (uint32_t i = 0; i < b->calls.count; i++)
		buffer_add(&out, b->calls.item[i].bytes, CALL_BYTES);
	for (uint32_t i = 0; i < b->functions.count; i++)
		buffer_add(&out, b->functions.item[i].bytes, FUNCTION_BYTES);
	buffer_add(&out, b->code.at, b->code.size);
	buffer_add(&out, b->strings.at, b->strings.size);
	start[1] = libdeflate_crc32(0, out.at + INDEX_CHECKED, out.size - INDEX_CHECKED);
	memcpy(out.at + INDEX_CHECKED - sizeof(start[1]), &start[1], sizeof(start[1]));
	*size = out.size;
	return out.at;
}
