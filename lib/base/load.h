/* SPDX-License-Identifier: Apache-2.0 */
/* load - reads numbers from memory, aligned or not, in the byte order of this machine. */
#pragma once
#include <stdint.h>
#include <string.h>

static inline uint32_t load_u32(const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t load_u64(const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}
