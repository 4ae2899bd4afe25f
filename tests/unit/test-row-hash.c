/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4 by its published vectors: the key is 00 01 .. 0f, and the message of N bytes is
 * 00 01 .. N-1.  That of 15 bytes is the example of the paper; all are in the authors' vectors.h.
 */
#include "rows/row-hash.h"
#include "tests/unit/tap.h"

#include <string.h>

static const uint64_t vectors[] = {
	0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
	0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
	0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
	0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
};
enum { VECTORS = sizeof(vectors) / sizeof(vectors[0]), LONGEST = 200 };

static uint8_t message[LONGEST];

static struct row_hash start(void)
{
	return row_hash_start(0x0706050403020100, 0x0f0e0d0c0b0a0908);
}

static uint64_t hash_of(size_t size)
{
	struct row_hash h = start();

	row_hash_add(&h, message, size);
	return row_hash_end(&h);
}

/* Return whether a message of SIZE bytes has the same hash in two or three parts, all of them. */
static bool is_same_in_parts(size_t size)
{
	bool good = true;

	for (size_t first = 0; first <= size; first++)
		for (size_t second = 0; first + second <= size; second += 1 + size / 20) {
			struct row_hash h = start();
			row_hash_add(&h, message, first);
			row_hash_add(&h, message + first, second);
			row_hash_add(&h, message + first + second, size - first - second);
			good &= row_hash_end(&h) == hash_of(size);
		}
	return good;
}

int main(void)
{
	bool good = true;

	for (size_t i = 0; i < LONGEST; i++)
		message[i] = (uint8_t)i;
	for (size_t size = 0; size < VECTORS; size++)
		good &= hash_of(size) == vectors[size];
	tap(good, "messages of 0 to 15 bytes have the published hashes");
	for (size_t size = 0; size < LONGEST; size += size < 40 ? 1 : 37)
		good &= is_same_in_parts(size);
	tap(good, "a message in parts has the hash of the whole");
	struct row_hash h = row_hash_start(0, 0), parts = h;
	row_hash_text(&h, "main");
	row_hash_add(&parts, "main", 5);
	tap(row_hash_end(&h) == row_hash_end(&parts), "a text is added with its NUL");
	return tap_done();
}
