/* SPDX-License-Identifier: Apache-2.0 */
#include "record/recorded.h"
#include "base/arena.h"

#include <stdlib.h>

bool recorded_next(struct cursor *c, struct recorded_file *file)
{
	if (c->failed || cursor_left(c) < 4)
		return false;
	uint32_t size = cursor_u32(c);
	const uint8_t *at = cursor_bytes(c, size);
	if (!at || size == 0)	/* 0: the record's padding */
		return false;
	struct cursor body = { .at = at, .end = at + size, .swap = c->swap };
	file->path = cursor_string(&body);
	file->kind = cursor_u32(&body);
	file->least_address = cursor_u64(&body);
	file->symbols = cursor_u32(&body);
	file->list = body;
	for (uint32_t i = 0; i < file->symbols && !body.failed; i++) {
		cursor_bytes(&body, 12);
		cursor_string(&body);
	}
	c->failed = body.failed;
	file->list.end = body.at;
	file->least_offset = file->kind == RECORDED_ELF && cursor_left(&body) >= 8
		? cursor_u64(&body) : UINT64_MAX;
	return !c->failed;
}

bool recorded_symbol(struct recorded_file *file, struct recorded_symbol *symbol)
{
	if (file->symbols == 0)
		return false;
	file->symbols--;
	symbol->address = cursor_u64(&file->list);
	symbol->size = cursor_u32(&file->list);
	symbol->name = cursor_string(&file->list);
	return !file->list.failed;
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t size)
{
	return mempcpy(to, bytes, size);
}

static uint8_t *put_symbol(uint8_t *to, const struct recorded_symbol *s)
{
	to = put(to, &s->address, 8);
	to = put(to, &s->size, 4);
	return put(to, s->name, strlen(s->name) + 1);
}

size_t recorded_split(struct recorded_file *file, uint8_t *to, size_t max)
{
	size_t head = strlen(file->path) + 1;
	uint8_t *at = to + 4;

	if (file->symbols == 0 || head + 64 > max)
		return 0;
	at = put(at, file->path, head);
	at = put(at, &file->kind, 4);
	at = put(at, &file->least_address, 8);
	uint8_t *count = at;
	at += 4;
	uint32_t symbols = 0;
	while (file->symbols) {
		struct cursor before = file->list;
		struct recorded_symbol s;
		if (!recorded_symbol(file, &s))
			break;
		size_t size = 12 + strlen(s.name) + 1;
		if (size + 8 > max - (size_t)(at - to)) {
			if (symbols == 0)	/* a name that no record can hold */
				continue;
			file->symbols++;
			file->list = before;
			break;
		}
		at = put_symbol(at, &s);
		symbols++;
	}
	memcpy(count, &symbols, 4);
	if (file->kind == RECORDED_ELF && file->least_offset != UINT64_MAX)
		at = put(at, &file->least_offset, 8);
	memcpy(to, &(uint32_t){ (uint32_t)(at - to - 4) }, 4);
	return symbols ? (size_t)(at - to) : 0;
}

/* A field of a protocol buffers message. */
struct message_field {
	uint32_t number;
	uint64_t value;		/* value of a number */
	struct cursor bytes;	/* contents of a string or a message */
};

static bool next_field(struct cursor *c, struct message_field *f)
{
	enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

	*f = (struct message_field){ 0 };
	if (c->failed || cursor_left(c) == 0)
		return false;
	uint64_t key = cursor_uleb(c);
	f->number = (uint32_t)(key >> 3);
	switch (key & 7) {
	case VARINT:
		f->value = cursor_uleb(c);
		break;
	case FIXED64:
		f->value = cursor_u64(c);
		break;
	case FIXED32:
		f->value = cursor_u32(c);
		break;
	case BYTES: {
		uint64_t size = cursor_uleb(c);
		const uint8_t *at = cursor_bytes(c, size);
		if (at)
			f->bytes = (struct cursor){ .at = at, .end = at + size, .swap = c->swap };
		break;
	}
	default:
		cursor_fail(c);
	}
	return !c->failed;
}

/* FileFeature.Symbol: 1 address, 2 bytes, 3 name */
static uint8_t *decode_symbol(struct cursor c, uint8_t *to)
{
	struct recorded_symbol s = { .name = "" };
	struct cursor name = { 0 };
	struct message_field f;

	while (next_field(&c, &f)) {
		if (f.number == 1)
			s.address = f.value;
		else if (f.number == 2)
			s.size = (uint32_t)f.value;
		else if (f.number == 3)
			name = f.bytes;
	}
	to = put_symbol(to, &s) - 1;
	size_t length = name.at ? strnlen((const char *)name.at, cursor_left(&name)) : 0;
	to = length ? put(to, name.at, length) : to;
	*to++ = '\0';
	return to;
}

/* FileFeature: 1 path, 2 kind, 3 least address, 4 symbols, 6 ELF file: 1 its offset */
static uint8_t *decode_file(const struct cursor message, uint8_t *to)
{
	uint64_t least_address = 0, least_offset = UINT64_MAX;
	uint32_t kind = 0, symbols = 0;
	struct cursor path = { 0 }, c = message;
	uint8_t *at = to + 4;
	struct message_field f, inner;

	while (next_field(&c, &f)) {
		if (f.number == 1)
			path = f.bytes;
		else if (f.number == 2)
			kind = (uint32_t)f.value;
		else if (f.number == 3)
			least_address = f.value;
		symbols += f.number == 4;
		while (f.number == 6 && next_field(&f.bytes, &inner))
			if (inner.number == 1)
				least_offset = inner.value;
	}
	size_t length = path.at ? strnlen((const char *)path.at, cursor_left(&path)) : 0;
	at = length ? put(at, path.at, length) : at;
	*at++ = '\0';
	at = put(at, &kind, 4);
	at = put(at, &least_address, 8);
	at = put(at, &symbols, 4);
	for (c = message; next_field(&c, &f);)
		if (f.number == 4)
			at = decode_symbol(f.bytes, at);
	if (kind == RECORDED_ELF)
		at = put(at, &least_offset, 8);
	memcpy(to, &(uint32_t){ (uint32_t)(at - to - 4) }, 4);
	return at;
}

uint8_t *recorded_decode(struct cursor c, size_t *size)
{
	/* Numbers in messages are little-endian on all machines. */
	const bool is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	/* An empty symbol grows from 2 bytes to 13; a file takes 29 more than its message. */
	uint8_t *bytes = mem_resize(NULL, 1 + 8 * cursor_left(&c) + 32), *at = bytes;

	while (cursor_left(&c) >= 4) {
		uint32_t length = cursor_u32(&c);
		const uint8_t *message = cursor_bytes(&c, length);
		if (!message)
			break;
		at = decode_file((struct cursor){ .at = message, .end = message + length,
						  .swap = is_big_endian }, at);
	}
	*size = (size_t)(at - bytes);
	return bytes;
}
