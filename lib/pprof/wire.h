/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire - protobuf's encoding of numbers, for samples: a profile has more of them than of any other
 * message. (protobuf.dev/programming-guides/encoding)
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { WIRE_VARINT_MAX = 10 };	/* bytes of an encoded number, at most */

/* Write V to TO, seven bits per byte, the lowest first.  Returns the end. */
static inline uint8_t *wire_varint(uint8_t *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to++ = (uint8_t)v;
	return to;
}

/* Return how many bytes V takes. */
static inline size_t wire_size(uint64_t v)
{
	uint8_t bytes[WIRE_VARINT_MAX];

	return (size_t)(wire_varint(bytes, v) - bytes);
}

/* Write tag and length of FIELD (below 16), whose SIZE bytes follow.  Returns the end. */
static inline uint8_t *wire_bytes(uint8_t *to, unsigned field, uint64_t size)
{
	*to++ = (uint8_t)(field << 3 | 2);
	return wire_varint(to, size);
}

/* Write FIELD (below 16) with the number V, or nothing if V is 0, the default.  Returns the end. */
static inline uint8_t *wire_number(uint8_t *to, unsigned field, uint64_t v)
{
	if (v == 0)
		return to;
	*to++ = (uint8_t)(field << 3);
	return wire_varint(to, v);
}
