/* SPDX-License-Identifier: Apache-2.0 */
/* anywhere - words of a hostile program: lengths, and addresses that may not be there. */
#pragma once
#include <stdint.h>

/* Return a random word, also an address near OWN. */
static uint64_t any(const void *own)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	/* small numbers, addresses of the program, the end of memory, the kernel, and others */
	switch (seed >> 60) {
	case 0: return seed >> 52 & 255;
	case 1: return (uint64_t)(uintptr_t)own + (seed >> 40 & 4095);
	case 2: return UINT64_MAX - (seed >> 56);
	case 3: return 0xffffffff81000000 + (seed >> 40);
	case 4: return 0x7ffffffff000 - (seed >> 56);
	case 5: return 1ULL << (seed >> 54 & 63);
	default: return seed;
	}
}
