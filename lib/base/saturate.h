/* SPDX-License-Identifier: Apache-2.0 */
/* saturate - sums that do not wrap. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Add MORE to *SUM.  If the sum does not fit, *SUM becomes the largest or smallest number, and this
 * returns false.
 */
static inline bool saturate_add(int64_t *sum, int64_t more)
{
	bool fits = !__builtin_add_overflow(*sum, more, sum);

	if (!fits)
		*sum = more < 0 ? INT64_MIN : INT64_MAX;
	return fits;
}

/* The same, but subtract LESS. */
static inline bool saturate_subtract(int64_t *sum, int64_t less)
{
	bool fits = !__builtin_sub_overflow(*sum, less, sum);

	if (!fits)
		*sum = less < 0 ? INT64_MAX : INT64_MIN;
	return fits;
}
