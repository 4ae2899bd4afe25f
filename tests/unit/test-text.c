/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 by an encoder written apart, for each code point; and bytes that are not UTF-8. */
#include "base/text.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

/* RFC 3629, section 3 */
static size_t encode(uint32_t code, char *to)
{
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = size; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(first[size] | code);
	to[size] = '\0';
	return size;
}

/* In memory of just its size, so that a read past its end is seen. */
static bool gives(const char *bytes, size_t want_size, uint32_t want)
{
	size_t room = strlen(bytes) + 1;
	char *exact = memcpy(malloc(room), bytes, room);
	uint32_t code;
	bool good = text_character(exact, &code) == want_size && code == want;

	free(exact);
	return good;
}

static bool every_code_point(void)
{
	char text[8];

	for (uint32_t code = 1; code <= 0x10ffff; code++) {
		size_t size = encode(code, text);
		bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
		if (!gives(text, is_surrogate ? 1 : size, is_surrogate ? TEXT_INVALID : code))
			return false;
	}
	return true;
}

static bool every_cut(void)
{
	char text[8];

	for (uint32_t code = 0x80; code <= 0x10ffff; code += 37)
		for (size_t size = encode(code, text); --size > 0;) {
			text[size] = '\0';
			if (!gives(text, 1, TEXT_INVALID))
				return false;
		}
	return true;
}

static bool becomes(const char *text, const char *want)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%s", text);
	text_make_safe(copy);
	return !strcmp(copy, want) && text_needs_care(text) == (strcmp(text, want) != 0);
}

int main(void)
{
	tap(every_code_point(),
	    "each code point is read as an encoder writes it, surrogates are refused");
	tap(every_cut(),
	    "a character that is cut is one invalid byte, and nothing after it is read");
	tap(gives("", 0, 0), "the end has no bytes");
	tap(gives("\xc0\xaf", 1, TEXT_INVALID) && gives("\xe0\x80\xaf", 1, TEXT_INVALID) &&
	    gives("\xf0\x80\x80\xaf", 1, TEXT_INVALID) && gives("\xc1\xbf", 1, TEXT_INVALID),
	    "longer forms than needed are invalid");
	tap(gives("\xf4\x90\x80\x80", 1, TEXT_INVALID) && gives("\xff", 1, TEXT_INVALID) &&
	    gives("\x80", 1, TEXT_INVALID), "nothing above U+10FFFF, no lone continuation");
	tap(becomes("plain, Grüße, 日本, 🙂", "plain, Grüße, 日本, 🙂"),
	    "text stays as it is");
	tap(becomes("a\x1b[2J\n\x7f", "a?[2J??"), "C0 and DEL become question marks");
	tap(becomes("a\xc2\x9b" "b\xc2\xa0", "a??b\xc2\xa0"), "so does C1, not what follows it");
	tap(becomes("\xe2\x80\xae" "x\xe2\x81\xa6", "???x???"), "and what turns the direction");
	tap(becomes("x\xff\xc3", "x??"), "and what is not UTF-8");
	return tap_done();
}
