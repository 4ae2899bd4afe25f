/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/row-hash.h"

#include <endian.h>
#include <string.h>

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void mix(struct row_hash *h)
{
	h->v0 += h->v1;
	h->v2 += h->v3;
	h->v1 = rotate(h->v1, 13) ^ h->v0;
	h->v3 = rotate(h->v3, 16) ^ h->v2;
	h->v0 = rotate(h->v0, 32) + h->v3;
	h->v2 += h->v1;
	h->v3 = rotate(h->v3, 21) ^ h->v0;
	h->v1 = rotate(h->v1, 17) ^ h->v2;
	h->v2 = rotate(h->v2, 32);
}

static inline void add_word(struct row_hash *h, uint64_t word)
{
	h->v3 ^= word;
	mix(h);
	mix(h);
	h->v0 ^= word;
}

struct row_hash row_hash_start(uint64_t key0, uint64_t key1)
{
	return (struct row_hash){
		.v0 = key0 ^ 0x736f6d6570736575ULL, .v1 = key1 ^ 0x646f72616e646f6dULL,
		.v2 = key0 ^ 0x6c7967656e657261ULL, .v3 = key1 ^ 0x7465646279746573ULL,
	};
}

static inline void add_byte(struct row_hash *h, uint8_t byte)
{
	h->word |= (uint64_t)byte << h->size % 8 * 8;
	if (++h->size % 8 == 0) {
		add_word(h, h->word);
		h->word = 0;
	}
}

void row_hash_add(struct row_hash *h, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;
	unsigned bits = h->size % 8 * 8;	/* in WORD; the same after each further word */
	uint64_t word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		word = le64toh(word);
		add_word(h, h->word | word << bits);
		h->word = bits ? word >> (64 - bits) : 0;
		h->size += 8;
	}
	while (size-- > 0)
		add_byte(h, *p++);
}

void row_hash_text(struct row_hash *h, const char *text)
{
	row_hash_add(h, text, strlen(text) + 1);
}

uint64_t row_hash_end(struct row_hash *h)
{
	add_word(h, h->word | h->size << 56);
	h->v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		mix(h);
	return h->v0 ^ h->v1 ^ h->v2 ^ h->v3;
}
