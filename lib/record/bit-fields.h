/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit-fields - the kernel's bit fields of a 64-bit word: perf_event_attr's flags, and the flags of
 * struct perf_branch_entry.
 *
 * C puts the first field into the lowest bits of a word on little-endian machines, and into the
 * highest bits on big-endian ones.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum bit_fields { ATTR_FIELDS, BRANCH_FIELDS };

/* Return WORD, whose first field is in its highest bits, with the first field in the lowest. */
uint64_t bit_fields_from_top(enum bit_fields of, uint64_t word);

/* Return WORD, whose first field is in its lowest bits, with the first field in the highest. */
uint64_t bit_fields_to_top(enum bit_fields of, uint64_t word);

/* Return WORD of the other byte order, its bytes already turned, as this machine has it. */
static inline uint64_t bit_fields_swap(enum bit_fields of, uint64_t word)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bit_fields_from_top(of, word)
							 : bit_fields_to_top(of, word);
}

/* Return WORD of this machine as a number that is the same on all: its first field is lowest. */
static inline uint64_t bit_fields_number(enum bit_fields of, uint64_t word)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : bit_fields_from_top(of, word);
}

/* Return such a number as a word of this machine. */
static inline uint64_t bit_fields_native(enum bit_fields of, uint64_t number)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? number : bit_fields_to_top(of, number);
}
