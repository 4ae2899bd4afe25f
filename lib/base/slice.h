/* SPDX-License-Identifier: Apache-2.0 */
/* slice - a part of a text that is not NUL-terminated, for parsers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	const char *at;
	size_t size;
};

/* Whether S is TEXT. */
bool slice_is(struct slice s, const char *text);

/* Whether S starts with TEXT. */
bool slice_starts(struct slice s, const char *text);

/* Return S up to the first byte of STOPS, and remove that part and the stop from S. */
struct slice slice_cut(struct slice *s, const char *stops);

/* Parse all of S as an unsigned number, decimal, 0x hexadecimal or 0 octal. */
bool slice_number(struct slice s, uint64_t *number);
