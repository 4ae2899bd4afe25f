/* SPDX-License-Identifier: Apache-2.0 */
#include "record/bit-fields.h"

enum { WORD = 64 };	/* bits */

/*
 * The width of field NUMBER, in bits.  All flags of an attr have one bit, but the 16th field,
 * precise_ip, has two.  Of a branch: mispred, predicted, in_tx, abort, cycles, type, spec,
 * new_type, priv, and bits that are not used yet.
 */
static unsigned width_of(enum bit_fields of, unsigned number)
{
	static const uint8_t branch[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };

	if (of == ATTR_FIELDS)
		return number == 15 ? 2 : 1;
	return number < sizeof(branch) ? branch[number] : 1;
}

uint64_t bit_fields_from_top(enum bit_fields of, uint64_t word)
{
	uint64_t out = 0;

	for (unsigned low = 0, width, i = 0; low < WORD; low += width, i++) {
		width = width_of(of, i);
		out |= (word >> (WORD - low - width) & ((1ULL << width) - 1)) << low;
	}
	return out;
}

uint64_t bit_fields_to_top(enum bit_fields of, uint64_t word)
{
	uint64_t out = 0;

	for (unsigned low = 0, width, i = 0; low < WORD; low += width, i++) {
		width = width_of(of, i);
		out |= (word >> low & ((1ULL << width) - 1)) << (WORD - low - width);
	}
	return out;
}
