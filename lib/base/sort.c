/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A radix sort, the lowest digit first.  Bits that are the same in all numbers are left out: of the
 * addresses in a program, two digits remain.  If there are only a few keys, they are inserted one
 * by one.
 */
#include "base/sort.h"

#include <stdbool.h>

enum {
	FEW = 48,		/* keys for which insertion is faster */
	DIGIT_MAX = 11,		/* bits of a digit: its counts fit into the CPU's first cache */
	DIGIT_FEW = 8,		/* bits, if the keys are fewer than the counts would be */
};

static void insert_all(struct sort_key *key, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct sort_key inserted = key[i];
		size_t at = i;
		for (; at > 0 && key[at - 1].key > inserted.key; at--)
			key[at] = key[at - 1];
		key[at] = inserted;
	}
}

/* Write FROM to TO, in order of the digit of BITS bits at SHIFT. */
static void sort_digit(const struct sort_key *from, struct sort_key *to, size_t count,
		       unsigned shift, unsigned bits)
{
	size_t next[1 << DIGIT_MAX], mask = ((size_t)1 << bits) - 1, at = 0;

	for (size_t d = 0; d <= mask; d++)
		next[d] = 0;
	for (size_t i = 0; i < count; i++)
		next[from[i].key >> shift & mask]++;
	for (size_t d = 0; d <= mask; d++) {
		size_t same = next[d];
		next[d] = at;
		at += same;
	}
	for (size_t i = 0; i < count; i++)
		to[next[from[i].key >> shift & mask]++] = from[i];
}

/* Return the bits in which the keys differ; 0 if they are in order. */
static uint64_t differing(const struct sort_key *key, size_t count)
{
	bool is_sorted = true;
	uint64_t bits = 0;

	for (size_t i = 1; i < count; i++) {
		is_sorted &= key[i - 1].key <= key[i].key;
		bits |= key[i].key ^ key[0].key;
	}
	return is_sorted ? 0 : bits;
}

struct sort_key *sort_keys(struct sort_key *key, struct sort_key *spare, size_t count)
{
	uint64_t bits = differing(key, count);

	if (bits && count < FEW) {
		insert_all(key, count);
		return key;
	}
	unsigned digit = count < 1 << DIGIT_MAX ? DIGIT_FEW : DIGIT_MAX;
	unsigned shift = bits ? (unsigned)__builtin_ctzll(bits) : 0;
	for (; shift < 64 && bits >> shift; shift += digit) {
		if (!(bits >> shift & ((1U << digit) - 1)))
			continue;
		sort_digit(key, spare, count, shift, digit);
		struct sort_key *sorted = spare;
		spare = key;
		key = sorted;
	}
	return key;
}

int sort_compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}
