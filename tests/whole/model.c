/* SPDX-License-Identifier: Apache-2.0 */
/* A stream, taken apart into records, and put together again. */
#include "whole.h"
#include "stream/inflate.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { WORDS_OF_HEADER = 13, ENTRY = 144 };	/* an attr of 128 bytes, a section of ids */
static const char magic[] = "PERFILE2";

struct span span_copy(struct arena *arena, struct span from, size_t size)
{
	struct span s = { arena_alloc(arena, size + 1), size };
	size_t kept = from.size < size ? from.size : size;

	if (kept)
		memcpy(s.at, from.at, kept);
	memset(s.at + kept, 0, size + 1 - kept);
	return s;
}

uint64_t get64(const struct model *m, struct span body, size_t at)
{
	uint64_t v = 0;

	if (body.size >= 8 && at <= body.size - 8)
		memcpy(&v, body.at + at, 8);
	return m->swap ? __builtin_bswap64(v) : v;
}

uint32_t get32(const struct model *m, struct span body, size_t at)
{
	uint32_t v = 0;

	if (body.size >= 4 && at <= body.size - 4)
		memcpy(&v, body.at + at, 4);
	return m->swap ? __builtin_bswap32(v) : v;
}

void put64(const struct model *m, struct span body, size_t at, uint64_t value)
{
	value = m->swap ? __builtin_bswap64(value) : value;
	if (body.size >= 8 && at <= body.size - 8)
		memcpy(body.at + at, &value, 8);
}

void put32(const struct model *m, struct span body, size_t at, uint32_t value)
{
	value = m->swap ? __builtin_bswap32(value) : value;
	if (body.size >= 4 && at <= body.size - 4)
		memcpy(body.at + at, &value, 4);
}

/* All that comes out of Z, of INPUT_MAX bytes at most, appended to PLAIN. */
static void unpack_into(struct inflate *z, struct span packed, struct span *plain)
{
	ptrdiff_t n;

	inflate_feed(z, packed.at, packed.size);
	while (plain->size < INPUT_MAX &&
	       (n = inflate_read(z, plain->at + plain->size, INPUT_MAX - plain->size)) > 0)
		plain->size += (size_t)n;
}

struct span span_unpack(struct arena *arena, struct span packed, enum wrapping *wrapping)
{
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd }, gzip[] = { 0x1f, 0x8b };

	*wrapping = packed.size < 4 ? WRAP_NOT : !memcmp(packed.at, zstd, 4) ? WRAP_ZSTD
		    : !memcmp(packed.at, gzip, 2) ? WRAP_GZIP : WRAP_NOT;
	if (*wrapping == WRAP_NOT)
		return packed;
	struct span room = { mem_resize(NULL, INPUT_MAX), 0 };
	struct inflate *z = *wrapping == WRAP_ZSTD ? inflate_open() : inflate_open_gzip();
	unpack_into(z, packed, &room);
	inflate_close(z);
	struct span plain = span_copy(arena, room, room.size);
	free(room.at);
	return plain;
}

struct span span_pack(struct arena *arena, struct span plain, enum wrapping wrapping)
{
	struct span packed = { NULL, ZSTD_compressBound(plain.size) + 64 };

	if (wrapping == WRAP_NOT)
		return plain;
	packed.at = arena_alloc(arena, packed.size);
	if (wrapping == WRAP_ZSTD) {
		packed.size = ZSTD_compress(packed.at, packed.size, plain.at, plain.size, 1);
		return packed;
	}
	z_stream z = { .next_in = plain.at, .avail_in = (uInt)plain.size, .next_out = packed.at,
		       .avail_out = (uInt)packed.size };
	if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
		deflate(&z, Z_FINISH);
	packed.size = z.total_out;
	deflateEnd(&z);
	return packed;
}

struct item *model_insert(struct model *m, size_t at, size_t count)
{
	if (m->count + count > m->room) {
		struct item *old = m->item;
		m->room = 2 * (m->count + count) + 16;
		m->item = arena_alloc(m->arena, m->room * sizeof(*m->item));
		if (m->count)
			memcpy(m->item, old, m->count * sizeof(*m->item));
	}
	memmove(m->item + at + count, m->item + at, (m->count - at) * sizeof(*m->item));
	m->count += count;
	return m->item + at;
}

static struct item *append(struct model *m, uint32_t type, uint16_t misc, struct span body)
{
	struct item *item = model_insert(m, m->count, 1);

	*item = (struct item){ .type = type, .misc = misc, .claims = -1, .body = body };
	return item;
}

/* The records of BYTES; those in COMPRESSED ones, too, which come by Z. */
static void take_records(struct model *m, struct span bytes, struct inflate **z,
			 struct span *inner)
{
	while (bytes.size >= RECORD_HEADER_SIZE) {
		struct record rec;
		size_t size = record_frame(&rec, bytes.at, m->swap), behind = 0;
		if (size < RECORD_HEADER_SIZE || size > bytes.size)
			break;
		struct span body = { bytes.at + 8, size - 8 };
		bytes = (struct span){ bytes.at + size, bytes.size - size };
		bool is_packed = rec.type == RECORD_COMPRESSED || rec.type == RECORD_COMPRESSED2;
		if (z && is_packed) {
			size_t head = rec.type == RECORD_COMPRESSED2 ? 8 : 0;
			if (!*z) {
				*z = inflate_open();
				inner->at = mem_resize(NULL, INPUT_MAX);
			}
			if (body.size > head)
				unpack_into(*z, (struct span){ body.at + head, body.size - head },
					    inner);
			m->compressed = true;
			continue;
		}
		if (rec.type == RECORD_TRACING_DATA)
			behind = ((size_t)get32(m, body, 0) + 7) & ~(size_t)7;
		else if (rec.type == RECORD_AUXTRACE)
			behind = get64(m, body, 0);
		struct item *item = append(m, rec.type, rec.misc, body);
		if (behind <= bytes.size) {
			item->behind = (struct span){ bytes.at, behind };
			bytes = (struct span){ bytes.at + behind, bytes.size - behind };
		}
	}
}

/* A section of a perf.data file; what is beyond its end is not taken. */
static struct span section(const struct model *m, struct span file, size_t at)
{
	uint64_t offset = get64(m, file, at), size = get64(m, file, at + 8);

	if (offset > file.size || size > file.size - offset)
		return (struct span){ 0 };
	return (struct span){ file.at + offset, size };
}

static void take_sections(struct model *m, struct span file)
{
	uint64_t entry = get64(m, file, 16);
	struct span attrs = section(m, file, 24);

	for (size_t at = 0; entry > 16 && at + entry <= attrs.size; at += entry) {
		struct span ids = section(m, attrs, at + entry - 16);
		ids = section(m, file, (size_t)(attrs.at + at + entry - 16 - file.at));
		struct span own = { attrs.at + at, entry - 16 };
		struct span body = span_copy(m->arena, own, own.size + ids.size);
		if (ids.size)
			memcpy(body.at + own.size, ids.at, ids.size);
		put32(m, body, 4, (uint32_t)own.size);
		append(m, RECORD_ATTR, 0, body);
	}
	size_t list = get64(m, file, 40) + get64(m, file, 48);
	for (size_t i = 0; i < 256; i++) {
		if (!(get64(m, file, 72 + i / 64 * 8) >> i % 64 & 1))
			continue;
		struct span s = list <= file.size ? section(m, file, list) : (struct span){ 0 };
		struct span body = span_copy(m->arena, (struct span){ 0 }, 8 + s.size);
		put64(m, body, 0, i);
		if (s.size)
			memcpy(body.at + 8, s.at, s.size);
		append(m, RECORD_FEATURE, 0, body);
		list += 16;
	}
}

void model_learn(struct model *m)
{
	for (size_t i = 0; i < m->count; i++) {
		struct span attr = m->item[i].body;
		if (m->item[i].type != RECORD_ATTR || attr.size < 64)
			continue;
		m->sample_type = get64(m, attr, 24);
		m->read_format = get64(m, attr, 32);
		m->has_trailers = attr.at[42] & (m->swap ? 0x20 : 4);
		m->branch_type = attr.size >= 80 ? get64(m, attr, 72) : 0;
		m->user_regs = attr.size >= 88 ? get64(m, attr, 80) : 0;
		m->intr_regs = attr.size >= 104 ? get64(m, attr, 96) : 0;
		return;
	}
}

bool model_parse(struct model *m, struct span bytes, struct arena *arena)
{
	struct inflate *z = NULL;
	struct span inner = { 0 }, body = { 0 };

	*m = (struct model){ .arena = arena };
	bytes = span_unpack(arena, bytes, &m->wrapping);
	if (bytes.size < 16 || (memcmp(bytes.at, magic, 8) && memcmp(bytes.at, "2ELIFREP", 8)))
		return false;
	m->swap = bytes.at[0] == '2';
	m->is_file = get64(m, bytes, 8) != 16;
	if (!m->is_file) {
		body = (struct span){ bytes.at + 16, bytes.size - 16 };
	} else if (bytes.size >= 104) {
		body = section(m, bytes, 40);
		take_sections(m, bytes);
	}
	take_records(m, body, &z, &inner);
	struct span kept = span_copy(arena, inner, inner.size);
	free(inner.at);
	take_records(m, kept, NULL, NULL);
	inflate_close(z);
	model_learn(m);
	return m->count > 0;
}

struct writing {
	const struct model *m;
	struct span out;
};

static void add_bytes(struct writing *w, const void *bytes, size_t size)
{
	if (size > INPUT_MAX - w->out.size)
		size = INPUT_MAX - w->out.size;
	if (size)
		memcpy(w->out.at + w->out.size, bytes, size);
	w->out.size += size;
}

static void add64(struct writing *w, uint64_t value)
{
	uint8_t bytes[8];

	put64(w->m, (struct span){ bytes, 8 }, 0, value);
	add_bytes(w, bytes, 8);
}

static void add_record(struct writing *w, const struct item *item)
{
	uint8_t head[8];
	struct span body = item->body;
	size_t most = RECORD_MAX_SIZE - RECORD_HEADER_SIZE;

	body.size = body.size < most ? body.size : most;
	uint16_t size = item->claims < 0 ? (uint16_t)(body.size + 8) : (uint16_t)item->claims;
	put32(w->m, (struct span){ head, 8 }, 0, item->type);
	uint16_t misc = w->m->swap ? __builtin_bswap16(item->misc) : item->misc;
	size = w->m->swap ? __builtin_bswap16(size) : size;
	memcpy(head + 4, &misc, 2);
	memcpy(head + 6, &size, 2);
	add_bytes(w, head, 8);
	add_bytes(w, body.at, body.size);
	add_bytes(w, item->behind.at, item->behind.size);
}

/* PLAIN as COMPRESSED records of up to 32 KiB before compression, all one zstd stream. */
static void add_packed(struct writing *w, struct span plain)
{
	enum { PART = 32 * 1024 };
	ZSTD_CCtx *z = ZSTD_createCCtx();
	struct span body = { arena_alloc(w->m->arena, 2 * PART), 0 };

	for (size_t at = 0; at < plain.size; at += PART) {
		size_t left = plain.size - at;
		ZSTD_inBuffer in = { plain.at + at, left < PART ? left : PART, 0 };
		ZSTD_outBuffer out = { body.at, 2 * PART, 0 };
		ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush);
		body.size = out.pos;
		add_record(w, &(struct item){ .type = RECORD_COMPRESSED, .claims = -1,
					      .body = body });
	}
	ZSTD_freeCCtx(z);
}

static bool is_head(const struct item *item)
{
	return item->type == RECORD_ATTR || item->type == RECORD_FEATURE;
}

/* The records that are data: in a file those that are in no section of their own. */
static void add_records(struct writing *w)
{
	struct writing plain = { .m = w->m };

	if (w->m->compressed)
		plain.out.at = arena_alloc(w->m->arena, INPUT_MAX);
	for (size_t i = 0; i < w->m->count; i++) {
		const struct item *item = &w->m->item[i];
		if (w->m->is_file && is_head(item))
			continue;
		add_record(w->m->compressed && !is_head(item) ? &plain : w, item);
	}
	if (w->m->compressed)
		add_packed(w, plain.out);
}

static void add_attrs(struct writing *w, uint64_t at)
{
	const struct model *m = w->m;
	struct writing ids = { .m = m, .out = { arena_alloc(m->arena, INPUT_MAX), 0 } };

	for (size_t i = 0; i < m->count; i++) {
		struct span body = m->item[i].body;
		if (m->item[i].type != RECORD_ATTR)
			continue;
		size_t own = get32(m, body, 4);
		own = own > body.size || own > ENTRY - 16 ? body.size : own;
		struct span entry = span_copy(m->arena, (struct span){ body.at, own }, ENTRY);
		put64(m, entry, ENTRY - 16, at + ids.out.size);
		put64(m, entry, ENTRY - 8, body.size - own);
		add_bytes(&ids, body.at + own, body.size - own);
		add_bytes(w, entry.at, ENTRY);
	}
	add_bytes(w, ids.out.at, ids.out.size);
}

static void add_features(struct writing *w, uint64_t bits[4])
{
	const struct model *m = w->m;
	const struct item *feature[256] = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++)
		if (m->item[i].type == RECORD_FEATURE && get64(m, m->item[i].body, 0) < 256 &&
		    m->item[i].body.size >= 8)
			feature[get64(m, m->item[i].body, 0)] = &m->item[i];
	for (size_t i = 0; i < 256; i++) {
		count += feature[i] != NULL;
		bits[i / 64] |= (uint64_t)(feature[i] != NULL) << i % 64;
	}
	uint64_t at = w->out.size + 16 * count;
	for (size_t i = 0; i < 256; i++) {
		if (!feature[i])
			continue;
		add64(w, at);
		add64(w, feature[i]->body.size - 8);
		at += feature[i]->body.size - 8;
	}
	for (size_t i = 0; i < 256; i++)
		if (feature[i])
			add_bytes(w, feature[i]->body.at + 8, feature[i]->body.size - 8);
}

static void write_file(struct writing *w)
{
	size_t attrs = 0, ids = 0;
	uint64_t bits[4] = { 0 };

	for (size_t i = 0; i < w->m->count; i++)
		attrs += w->m->item[i].type == RECORD_ATTR;
	struct span header = { w->out.at, 8 * WORDS_OF_HEADER };
	w->out.size = header.size;
	memset(header.at, 0, header.size);
	add_attrs(w, header.size + ENTRY * attrs);
	ids = w->out.size;
	add_records(w);
	uint64_t words[WORDS_OF_HEADER] = { 0, 104, ENTRY, 104, ENTRY * attrs, ids,
					    w->out.size - ids };
	add_features(w, bits);
	memcpy(words + 9, bits, sizeof(bits));
	for (size_t i = 1; i < WORDS_OF_HEADER; i++)
		put64(w->m, header, 8 * i, words[i] + (uint64_t)w->m->header[i]);
	memcpy(header.at, w->m->swap ? "2ELIFREP" : magic, 8);
}

struct span model_write(const struct model *m)
{
	struct writing w = { .m = m, .out = { arena_alloc(m->arena, INPUT_MAX), 0 } };

	if (m->is_file) {
		write_file(&w);
	} else {
		add_bytes(&w, m->swap ? "2ELIFREP" : magic, 8);
		add64(&w, 16);
		add_records(&w);
	}
	return span_pack(m->arena, w.out, m->wrapping);
}
