/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "base/arena.h"

#include <string.h>

/* RFC 3629: the first byte gives the number of bytes; LEAST is the least code point of each. */
size_t text_character(const char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	size_t size = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3
		      : *at < 0xf5 ? 4 : 0;
	uint32_t value = size <= 1 ? *at : *at & (0x7fu >> size);

	for (size_t i = 1; i < size; i++) {
		if ((at[i] & 0xc0) != 0x80) {	/* NUL, too */
			size = 0;
			break;
		}
		value = value << 6 | (at[i] & 0x3f);
	}
	bool good = size > 0 && value >= least[size] && value <= 0x10ffff &&
		    (value < 0xd800 || value > 0xdfff);
	*code = good ? value : TEXT_INVALID;
	return good ? (value ? size : 0) : 1;
}

bool text_is_safe(uint32_t code)
{
	return code >= 0x20 && (code < 0x7f || code > 0x9f) && code != TEXT_INVALID &&
	       code != 0x61c &&				/* ARABIC LETTER MARK */
	       (code < 0x200e || code > 0x200f) &&	/* marks of direction */
	       (code < 0x2028 || code > 0x202e) &&	/* separators, embeddings, overrides */
	       (code < 0x2066 || code > 0x2069);	/* isolates */
}

/* Return how many bytes of printable ASCII TEXT starts with: most text has nothing else. */
static size_t ascii_size(const char *text)
{
	const char *end = text;

	while (*end >= ' ' && *end < 0x7f)
		end++;
	return (size_t)(end - text);
}

void text_make_safe(char *text)
{
	uint32_t code;
	size_t size;

	for (text += ascii_size(text); (size = text_character(text, &code)) > 0;
	     text += size)
		if (!text_is_safe(code))
			memset(text, '?', size);
}

char *text_in_one_line(const char *text)
{
	char *line = mem_resize(NULL, 2 * strlen(text) + 1), *at = line;

	for (; *text; text++) {
		if (*text == '\n')
			*at++ = '\\';
		*at++ = *text == '\n' ? 'n' : *text;
	}
	*at = '\0';
	text_make_safe(line);
	return line;
}

bool text_needs_care(const char *text)
{
	uint32_t code;
	size_t size;

	for (text += ascii_size(text); (size = text_character(text, &code)) > 0; text += size)
		if (!text_is_safe(code))
			return true;
	return false;
}
