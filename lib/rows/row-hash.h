/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-hash - SipHash-2-4, which numbers the stacks of rows (pmu-rows(5)): the same on each machine.
 *
 *	struct row_hash h = row_hash_start(0, 0);
 *
 *	row_hash_add(&h, bytes, size);	for each part
 *	uint64_t hash = row_hash_end(&h);
 *
 * J.-P. Aumasson, D. J. Bernstein: SipHash: a fast short-input PRF, 2012.  With a known key it is
 * no more than a digest: do not use it for tables (base/hash.h is for that).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct row_hash {
	uint64_t v0, v1, v2, v3;
	uint64_t word;		/* bytes that do not fill a word yet, the first one lowest */
	uint64_t size;		/* bytes so far */
};

/* Start with the key whose 16 bytes are KEY0 and KEY1, each with its lowest byte first. */
struct row_hash row_hash_start(uint64_t key0, uint64_t key1);

void row_hash_add(struct row_hash *h, const void *bytes, size_t size);

/* Add TEXT and its NUL. */
void row_hash_text(struct row_hash *h, const char *text);

uint64_t row_hash_end(struct row_hash *h);
