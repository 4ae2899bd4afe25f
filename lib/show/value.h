/* SPDX-License-Identifier: Apache-2.0 */
/* value - writes a value for people: a few digits, and the unit that suits its size. */
#pragma once
#include <stdio.h>

enum {
	VALUE_WIDTH = 7,	/* characters of a value at most */
	VALUE_SIZE = 32,	/* bytes of its text, with its NUL */
};

/*
 * Write VALUE, below 10^21 in size, to TEXT in at most VALUE_WIDTH characters: "749.0ms", "2.48s"
 * or "12.5us" if UNIT is "nanoseconds", else "17250", "17.25M", "8.98G", "1234.5" or "0.123".
 * valueText() in flame-text.js follows the same rule.
 */
void value_format(char text[VALUE_SIZE], double value, const char *unit);

/* Print VALUE so, right-aligned after at least one space. */
void value_print(double value, const char *unit, FILE *out);
