/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/text.h"

#include <stdio.h>

void json_string(const char *text)
{
	uint32_t code;
	size_t size;

	if (!text) {
		fputs("null", stdout);
		return;
	}
	putchar('"');
	for (; (size = text_character(text, &code)) > 0; text += size)
		if (code == '"' || code == '\\')
			printf("\\%c", (int)code);
		else if (!text_is_safe(code))	/* all unsafe characters are below U+10000 */
			printf("\\u%04x", (unsigned)code);
		else
			fwrite(text, 1, size, stdout);
	putchar('"');
}

void json_key(const char *name, bool first)
{
	printf("%s\"%s\": ", first ? "" : ", ", name);
}

void json_text(const char *name, const char *text)
{
	json_key(name, false);
	json_string(text);
}
