/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

void json_string(const char *text)
{
	if (!text) {
		fputs("null", stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ')
			printf("\\u%04x", c);
		else
			putchar(c < 0x7f ? c : '?');
	}
	putchar('"');
}

void json_key(const char *name, bool first)
{
	printf("%s\"%s\": ", first ? "" : ", ", name);
}
