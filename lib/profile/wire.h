/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire - protobuf's encoding of numbers, for the one message of which a profile has
 * many: a sample.  (protobuf.dev/programming-guides/encoding)
 */
#pragma once
#include <stdint.h>

enum { WIRE_VARINT_MAX = 10 };	/* bytes of a number */

/* V at TO, seven bits a byte, the lowest first; behind it is returned. */
static inline uint8_t *wire_varint(uint8_t *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to++ = (uint8_t)v;
	return to;
}

/* The head of field FIELD (below 16), whose SIZE bytes follow. */
static inline uint8_t *wire_bytes(uint8_t *to, unsigned field, uint64_t size)
{
	*to++ = (uint8_t)(field << 3 | 2);
	return wire_varint(to, size);
}

/* Field FIELD (below 16), a number; nothing if it is 0, which is what is not there. */
static inline uint8_t *wire_number(uint8_t *to, unsigned field, uint64_t v)
{
	if (v == 0)
		return to;
	*to++ = (uint8_t)(field << 3);
	return wire_varint(to, v);
}
