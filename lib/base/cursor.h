/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor - reads fields from untrusted bytes, in either byte order.
 *
 * A read past the end returns 0 and sets FAILED; all later reads fail, too.  So a
 * parser can read all fields in order and check FAILED once, at the end.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at;	/* next byte */
	const uint8_t *end;	/* one past the last byte; equal to AT after a failed read */
	bool swap;		/* the data have the other byte order */
	bool failed;		/* a read went past the end, or found a bad number; stays set */
};

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* Make this read and all later ones fail. */
static inline void cursor_fail(struct cursor *c)
{
	c->failed = true;
	c->end = c->at;
}

/* Return the next SIZE bytes, or NULL (and set FAILED) if fewer are left. */
static inline const void *cursor_bytes(struct cursor *c, size_t size)
{
	const uint8_t *p = c->at;

	if (c->failed || cursor_left(c) < size) {
		cursor_fail(c);
		return NULL;
	}
	c->at += size;
	return p;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint16_t));
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap64(v) : v;
}

enum { LEB_BITS_MAX = 16 * 7 };	/* the longest padded number that is accepted: longer ones are
				   hostile */

/* The same as cursor_uleb(), of any number of bytes. */
static inline uint64_t cursor_long_uleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; c->at < c->end && shift < LEB_BITS_MAX; shift += 7) {
		uint8_t byte = *c->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->failed = true;
	return 0;
}

/* Read an unsigned LEB128 number: groups of 7 bits, lowest first (DWARF 5 §7.6). */
static inline uint64_t cursor_uleb(struct cursor *c)
{
	const uint8_t *at = c->at;

	if (c->end - at < 2 || at[0] & at[1] & 0x80)
		return cursor_long_uleb(c);
	c->at += at[0] < 0x80 ? 1 : 2;		/* the usual cases */
	return at[0] < 0x80 ? at[0] : (uint64_t)at[1] << 7 | (at[0] & 0x7f);
}

/* Read a signed LEB128 number. */
static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; c->at < c->end && shift < LEB_BITS_MAX; ) {
		uint8_t byte = *c->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && byte & 0x40)
			value |= ~0ULL << shift;
		return (int64_t)value;
	}
	c->failed = true;
	return 0;
}

/* Return the next NUL-terminated string, or "" (and set FAILED) if no NUL is left. */
static inline const char *cursor_string(struct cursor *c)
{
	const uint8_t *nul = c->failed ? NULL : memchr(c->at, 0, cursor_left(c));

	if (!nul) {
		cursor_fail(c);
		return "";
	}
	return cursor_bytes(c, (size_t)(nul - c->at) + 1);
}
