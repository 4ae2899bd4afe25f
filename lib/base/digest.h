/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest - 64-bit digests of bytes, for files and output: the same in each run and on
 * each machine.  An attacker can make two inputs with the same digest, so never use one
 * as the hash of a table (base/hash.h is for that).
 */
#pragma once
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return the digest of a sequence: DIGEST of the numbers so far, then X.  Order counts. */
static inline uint64_t digest_more(uint64_t digest, uint64_t x)
{
	x += digest * 0x9e3779b97f4a7c15ULL;	/* then the finaliser of MurmurHash3 */
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

static inline uint64_t digest_bytes(const void *bytes, size_t size)
{
	const uint8_t *p = bytes;
	uint64_t digest = size, word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		digest = digest_more(digest, le64toh(word));
	}
	word = 0;
	if (size)
		memcpy(&word, p, size);
	return digest_more(digest, le64toh(word));
}
