/* SPDX-License-Identifier: Apache-2.0 */
#include "push/authorization.h"

#include <stdio.h>
#include <string.h>

/* Write BYTES as base64 (RFC 4648), and a NUL, to TEXT, which has room. */
static void encode_base64(const char *bytes, size_t size, char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		unsigned value = 0;
		for (size_t k = i; k < i + 3; k++)
			value = value << 8 | (k < size ? (unsigned char)bytes[k] : 0);
		for (size_t k = 0; k < 4; k++)
			*text++ = i + k > size ? '=' : digits[value >> (18 - 6 * k) & 63];
	}
	*text = '\0';
}

bool authorization_make(const char *line, char value[AUTHORIZATION_MOST])
{
	static const char basic[] = "Basic ", bearer[] = "Bearer ";
	size_t size = strlen(line), plain = strcspn(line, ": ");

	if (size == 0 || size >= AUTHORIZATION_MOST / 2 || *line == ' ' || line[size - 1] == ' ')
		return false;
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			return false;
	if (line[plain] == ':') {
		memcpy(value, basic, strlen(basic));
		encode_base64(line, size, value + strlen(basic));
	} else {
		snprintf(value, AUTHORIZATION_MOST, "%s%s", line[plain] ? "" : bearer, line);
	}
	return true;
}
