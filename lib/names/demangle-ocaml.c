/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OCaml: "camlStdlib__List__map_154" is Stdlib.List.map_154, as in perf. Since version 5.1
 * compilers write the dots themselves. A character that a C identifier cannot have is written as
 * "$" and two hexadecimal digits.
 */
#include "names/demangle-internal.h"
#include "base/hex.h"

#include <ctype.h>

/* Return the first character at AT, decoded. *LENGTH is the number of bytes that encode it. */
static char next_character(const char *at, size_t *length)
{
	*length = 1;
	if (at[0] == '_' && at[1] == '_') {
		*length = 2;
		return '.';
	}
	if (at[0] == '$' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
		char c = (char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
		*length = isprint((unsigned char)c) ? 3 : 1;
		return *length == 3 ? c : at[0];
	}
	return at[0];
}

/* Cut off the number that distinguishes functions of the same name: "map_154". */
static void drop_stamp(struct sink *s)
{
	size_t used = s->used;

	while (used && isdigit((unsigned char)s->text[used - 1]))
		used--;
	if (used > 1 && used < s->used && s->text[used - 1] == '_')
		s->used = used - 1;
}

bool demangle_ocaml(const char *mangled, enum demangle_style style, struct sink *s)
{
	size_t length;

	if (strncmp(mangled, "caml", 4) || !isupper((unsigned char)mangled[4]) ||
	    !(strstr(mangled, "__") || strchr(mangled, '.')))
		return false;
	s->used = 0;
	for (const char *at = mangled + 4; *at; at += length)
		s->text[s->used++] = next_character(at, &length);
	if (style == DEMANGLE_SIMPLE)
		drop_stamp(s);
	return true;
}
