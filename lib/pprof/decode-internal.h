/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of decode: fields of messages (protobuf.dev/programming-guides/encoding), and the two
 * passes.  The first (decode.c) finds all messages of the profile and indexes those with ids.  The
 * second (decode-check.c) checks each message once, so that later reads need no checks.
 */
#pragma once
#include "base/arena.h"
#include "base/cursor.h"
#include "pprof/decode.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };	/* protobuf's wire types */

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
	*f = (struct wire_field){ .tag = n.value };
	unsigned kind = f->tag & 7;
	if (n.at && (kind == VARINT || kind == BYTES)) {
		n = decode_number(n.at, c->end);
		f->value = kind == VARINT ? n.value : 0;
	}
	if (n.at && kind == BYTES) {
		f->at = n.at;
		f->size = n.value;
	}
	size_t size = kind == BYTES ? f->size : kind == FIXED64 ? 8 : kind == FIXED32 ? 4 : 0;
	if (!n.at || f->tag < FIELD(1, 0) || size > (size_t)(c->end - n.at) ||
	    (kind != VARINT && kind != BYTES && kind != FIXED64 && kind != FIXED32)) {
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

static inline struct cursor cursor_of_item(const struct decoded *d, struct decoded_item item)
{
	return cursor_of(d->bytes + item.offset, item.size);
}

/* message Line; a reference to a function that is not there is TABLE_NONE */
struct decoded_line decode_line(const struct decoded *d, struct cursor *c);

/* message Sample { location_id = 1; value = 2; label = 3; }: false if it is damaged */
bool decode_sample(struct decoded_reader *r, struct decoded_item item);

/*
 * Check all messages, once they are known.  Return false if one is damaged or has an invalid
 * reference.  Counts g->frames and g->cut.
 */
bool decode_check(struct decoding *g);

/* As decoded_take(); the message is that FILE is WRONG. */
struct decoded *decode_bytes(uint8_t *bytes, size_t size, const char *file, const char *wrong,
			     struct report *report);
