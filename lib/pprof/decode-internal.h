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

/* Read the next field of a message.  Return false at its end, or (c->failed) if it is damaged. */
static inline bool decode_field(struct cursor *c, struct wire_field *f)
{
	if (c->failed || c->at == c->end)
		return false;
	*f = (struct wire_field){ .tag = cursor_uleb(c) };
	switch (f->tag & 7) {
	case VARINT:
		f->value = cursor_uleb(c);
		break;
	case BYTES:
		f->size = cursor_uleb(c);
		f->at = cursor_bytes(c, f->size);
		break;
	case FIXED64:
		cursor_bytes(c, 8);
		break;
	case FIXED32:
		cursor_bytes(c, 4);
		break;
	default:
		cursor_fail(c);
	}
	if (f->tag < FIELD(1, 0))
		cursor_fail(c);
	return !c->failed;
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
