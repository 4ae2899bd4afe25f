/* SPDX-License-Identifier: Apache-2.0 */
#include "host/foreign.h"
#include "base/text.h"
#include "base/write.h"

#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 4096 };	/* bytes */

/*
 * Return how many bytes the character that starts with FIRST has; 1 also if none starts so.  A
 * carriage return is judged together with what follows it.
 */
static size_t length_of(unsigned char first)
{
	return first == '\r' ? 2 : first < 0xc2 || first >= 0xf5 ? 1 : first < 0xe0 ? 2
	       : first < 0xf0 ? 3 : 4;
}

/* Write the first character of AT, SIZE bytes, to TO as it may be printed; return its new end. */
static char *add_visible(char *to, const char *at, size_t size, uint32_t code)
{
	if (code == '\n' || code == '\t' || text_is_safe(code))
		return mempcpy(to, at, size);
	if (code >= 0x20 && code != 0x7f) {
		*to++ = '?';
		return to;
	}
	*to++ = '^';
	*to++ = (char)(code ^ 0x40);
	return to;
}

/* Print the complete characters of TEXT, LENGTH bytes and a NUL.  Return how many bytes it took. */
static size_t print_complete(const char *text, size_t length)
{
	char out[2 * AT_ONCE + 16], *to = out;
	size_t done = 0;

	while (done < length && length_of((unsigned char)text[done]) <= length - done) {
		uint32_t code;
		size_t size = text_character(text + done, &code);
		if (text[done] == '\0')
			size = 1;
		if (code != '\r' || text[done + 1] != '\n')	/* ssh ends its lines so */
			to = add_visible(to, text + done, size, code);
		done += size;
	}
	write_whole(STDERR_FILENO, out, (size_t)(to - out));
	return done;
}

void foreign_print(struct foreign *f, const void *text, size_t size)
{
	char piece[sizeof(f->held) + AT_ONCE + 1];
	const char *at = text;

	while (size > 0) {
		size_t now = size < AT_ONCE ? size : AT_ONCE;
		memcpy(piece, f->held, f->size);
		memcpy(piece + f->size, at, now);
		size_t length = f->size + now;
		piece[length] = '\0';
		size_t done = print_complete(piece, length);
		f->size = length - done;	/* less than one character */
		memcpy(f->held, piece + done, f->size);
		at += now;
		size -= now;
	}
}

void foreign_end(struct foreign *f)
{
	for (size_t i = 0; i < f->size; i++)
		write_whole(STDERR_FILENO, "?", 1);
	f->size = 0;
}
