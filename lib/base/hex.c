/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"

const uint8_t hex_values[256] = {
	['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
	['A'] = 11, 12, 13, 14, 15, 16,
	['a'] = 11, 12, 13, 14, 15, 16,
};

const char *hex_number(const char *at, const char *end, uint64_t *number)
{
	uint64_t value = 0;

	for (int digit; at < end && (digit = hex_digit(*at)) >= 0; at++)
		value = value << 4 | (uint64_t)digit;
	*number = value;
	return at;
}

void hex_write(char *text, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
}
