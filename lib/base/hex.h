/* SPDX-License-Identifier: Apache-2.0 */
/* hex - hexadecimal digits. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* The value of each hexadecimal digit, plus 1; 0 for all other characters. */
extern const uint8_t hex_values[256];

/* Return the value of the hexadecimal digit C, or -1. */
static inline int hex_digit(char c)
{
	return hex_values[(unsigned char)c] - 1;
}

/*
 * Store the number that starts at AT and ends at END, or at the first byte that is not a digit.
 * Return where it ends.  If it has more than 16 digits, the last 16 count.
 */
const char *hex_number(const char *at, const char *end, uint64_t *number);

/* Write SIZE bytes as 2 * SIZE digits and a NUL to TEXT. */
void hex_write(char *text, const uint8_t *bytes, size_t size);
