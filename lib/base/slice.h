/* SPDX-License-Identifier: Apache-2.0 */
/* slice - a part of a text, without a NUL at its end, for parsers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	const char *at;
	size_t size;
};

/* Return whether S equals TEXT. */
bool slice_is(struct slice s, const char *text);

/* Return whether S starts with TEXT. */
bool slice_starts(struct slice s, const char *text);

/* Return S up to the first byte of STOPS, and remove that part and the stop from S. */
struct slice slice_cut(struct slice *s, const char *stops);

/* Parse all of S as a decimal, hexadecimal (0x) or octal (0) number.  Return false if it is not. */
bool slice_number(struct slice s, uint64_t *number);
