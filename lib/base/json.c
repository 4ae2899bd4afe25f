/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { JSON_ESCAPE = 8 };	/* bytes of an escape sequence, with its NUL */

/* Write to ESCAPE what stands for CODE in a string; "": CODE itself. */
static void escape_of(uint32_t code, char escape[JSON_ESCAPE])
{
	*escape = '\0';
	if (code == '"' || code == '\\')
		snprintf(escape, JSON_ESCAPE, "\\%c", (int)code);
	else if (!text_is_safe(code))	/* all unsafe characters are below U+10000 */
		snprintf(escape, JSON_ESCAPE, "\\u%04x", (unsigned)code);
}

/* The same for a string in a script element of a page. */
static void escape_in_page(uint32_t code, char escape[JSON_ESCAPE])
{
	bool is_special = code < 0x20 || code == '"' || code == '\\' || code == '<' ||
			  code == '>' || code == '&' || code == 0x2028 || code == 0x2029;

	*escape = '\0';
	if (code == TEXT_INVALID)
		snprintf(escape, JSON_ESCAPE, "\xef\xbf\xbd");
	else if (is_special)
		snprintf(escape, JSON_ESCAPE, "\\u%04x", (unsigned)code);
}

void json_write(const char *text, bool in_page, json_put put, void *to)
{
	const char *plain = text;	/* the start of what needs no escape */
	char escape[JSON_ESCAPE];
	uint32_t code;
	size_t size;

	put(to, "\"", 1);
	for (; (size = text_character(text, &code)) > 0; text += size) {
		if (in_page)
			escape_in_page(code, escape);
		else
			escape_of(code, escape);
		if (!*escape)
			continue;
		put(to, plain, (size_t)(text - plain));
		put(to, escape, strlen(escape));
		plain = text + size;
	}
	put(to, plain, (size_t)(text - plain));
	put(to, "\"", 1);
}

static void put_to_stdout(void *to, const char *bytes, size_t size)
{
	(void)to;
	fwrite(bytes, 1, size, stdout);
}

void json_string(const char *text)
{
	if (text)
		json_write(text, false, put_to_stdout, NULL);
	else
		fputs("null", stdout);
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
