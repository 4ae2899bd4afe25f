/* SPDX-License-Identifier: Apache-2.0 */
/* random - random numbers that depend on a seed alone.  They keep no secret. */
#pragma once
#include <stdint.h>
#include <sys/random.h>

/* Return the next number, 0 to 2^31 - 1, after *SEED. */
static inline uint64_t random_number(uint64_t *seed)
{
	/* Linear congruential generator (Knuth's MMIX).  Its high bits are the most random. */
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return *seed >> 33;
}

/* Return a seed that differs from start to start. */
static inline uint64_t random_seed(void)
{
	uint64_t seed = 0;

	return getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed) ? seed : 1;
}
