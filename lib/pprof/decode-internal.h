/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of decode: fields of messages (protobuf.dev/programming-guides/encoding), and the two
 * passes.  The first (decode.c) finds all messages of the profile; those with ids are checked and
 * indexed (decode-items.c).  The second (decode-check.c) checks the samples, and that all strings
 * that messages refer to are there.  So later reads need no checks.
 */
#pragma once
#include "base/arena.h"
#include "base/cursor.h"
#include "pprof/decode.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, WRONG = 8 };	/* protobuf's wire types */

#define FIELD(number, kind) ((number) << 3 | (kind))

struct wire_field {
	uint64_t tag;		/* FIELD() */
	uint64_t value;		/* of VARINT */
	const uint8_t *at;	/* of BYTES */
	size_t size;
};

struct decoding {
	struct decoded *d;
	const char *file;
	struct report *report;
	uint64_t frames;	/* in all samples */
	uint64_t cut;		/* count of locations with too many lines */
	uint32_t last_string;	/* the largest that mappings and functions have */
	bool reported;		/* the error has been reported */
};

/* A number, and where it ends; AT is NULL if it is damaged. */
struct wire_number {
	const uint8_t *at;
	uint64_t value;
};

/* The same as decode_number(), of any number of bytes. */
struct wire_number decode_long_number(const uint8_t *at, const uint8_t *end);

/*
 * Read the number at AT.  A profile is little else than numbers of one and two bytes, so these take
 * no call, and neither a cursor in memory.
 */
static inline struct wire_number decode_number(const uint8_t *at, const uint8_t *end)
{
	if (at < end && at[0] < 0x80)
		return (struct wire_number){ at + 1, at[0] };
	if (end - at >= 2 && at[1] < 0x80)
		return (struct wire_number){ at + 2, (uint64_t)at[1] << 7 | (at[0] & 0x7f) };
	return decode_long_number(at, end);
}

/* Read the next field of a message.  Return false at its end, or (c->failed) if it is damaged. */
static inline __attribute__((always_inline)) bool decode_field(struct cursor *c,
							       struct wire_field *f)
{
	if (c->failed || c->at == c->end)
		return false;
	struct wire_number n = decode_number(c->at, c->end);
	size_t size = 0;
	*f = (struct wire_field){ .tag = n.value };
	switch (n.at && n.value >= FIELD(1, 0) ? n.value & 7 : WRONG) {
	case VARINT:
		n = decode_number(n.at, c->end);
		f->value = n.value;
		break;
	case BYTES:
		n = decode_number(n.at, c->end);
		f->at = n.at;
		size = f->size = n.value;
		break;
	case FIXED64:
		size = 8;
		break;
	case FIXED32:
		size = 4;
		break;
	default:
		n.at = NULL;
	}
	if (!n.at || size > (size_t)(c->end - n.at)) {
		cursor_fail(c);
		return false;
	}
	c->at = n.at + size;
	return true;
}

static inline struct cursor cursor_of(const uint8_t *at, size_t size)
{
	/* no offset, not even 0, is added to NULL */
	return (struct cursor){ .at = at, .end = size ? at + size : at };
}

static inline struct cursor cursor_of_message(const struct decoded *d, struct decoded_message m)
{
	return cursor_of(d->bytes + m.offset, m.size);
}

/* Return a string index; out of range becomes TABLE_NONE.  Checked once all strings are known. */
static inline uint32_t decode_index(uint64_t value)
{
	return value < TABLE_NONE ? (uint32_t)value : TABLE_NONE;
}

/* The same as decoded_find_item(), if items->scattered. */
uint32_t decoded_find_scattered(const struct decoded_items *items, uint64_t id);

/* Return the index of the item with this ID, or TABLE_NONE. */
static inline uint32_t decoded_find_item(const struct decoded_items *items, uint64_t id)
{
	if (items->scattered)
		return decoded_find_scattered(items, id);
	return id - 1 < items->count ? (uint32_t)(id - 1) : TABLE_NONE;
}

/* Add a message that has an id.  Return false if it is damaged, or its id is taken or 0. */
bool decode_mapping(struct decoding *g, const struct wire_field *f);
bool decode_function(struct decoding *g, const struct wire_field *f);
bool decode_location(struct decoding *g, const struct wire_field *f);

/* message Sample { location_id = 1; value = 2; label = 3; }: false if it is damaged */
bool decode_sample(struct decoded_reader *r, struct decoded_message m);

/*
 * Check all samples and references, once they are known.  Return false if a sample is damaged, or
 * a reference is invalid.  Counts g->frames.
 */
bool decode_check(struct decoding *g);

/* As decoded_take(); the message is that FILE is WRONG. */
struct decoded *decode_bytes(uint8_t *bytes, size_t size, const char *file, const char *wrong,
			     struct report *report);
