/* SPDX-License-Identifier: Apache-2.0 */
/*
 * D: libiberty always writes the parameters of a function, and those of the functions that
 * enclose it: "pack.outer(int).inner(int) const".
 */
#include "names/demangle-internal.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>

enum {
	REFERENCES_MAX = 16,	/* each may double the output */
	NESTED_MAX = 2500,	/* bytes of a name: each may take 320 bytes of stack */
};

/* Return the quote that ends the string at AT, or the end of AT. Quotes inside are not escaped. */
static const char *end_of_string(const char *at)
{
	for (at++; *at && !(*at == '"' && strchr(",)cwd", at[1])); at++)
		;
	return at;
}

/* Return the end of the group that the first parenthesis at AT opens; NULL: it is not closed. */
static const char *past_group(const char *at)
{
	size_t depth = 0;

	for (; *at; at++) {
		if (*at == '"')
			at = end_of_string(at);
		if (!*at)
			break;
		depth += *at == '(';
		if (*at == ')' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* Return the end of a function's qualifiers at AT: " const", " shared". */
static const char *past_qualifiers(const char *at)
{
	while (at[0] == ' ' && islower((unsigned char)at[1]))
		for (at++; islower((unsigned char)*at); at++)
			;
	return at;
}

/*
 * Copy NAME without parameters; if SIMPLE, without template arguments too. Returns false if a
 * group of parentheses is not closed.
 */
static bool copy_short(const char *name, bool simple, struct sink *s)
{
	for (const char *at = name; *at; ) {
		bool is_template = at[0] == '!' && at[1] == '(';
		const char *end = at + 1;
		if (is_template || (*at == '(' && at > name))
			end = past_group(at + is_template);
		if (!end)	/* a string argument contains a parenthesis */
			return false;
		bool is_left_out = is_template ? simple : *at == '(' && at > name;
		if (!is_left_out) {
			memcpy(s->text + s->used, at, (size_t)(end - at));
			s->used += (size_t)(end - at);
		}
		at = is_left_out && !is_template ? past_qualifiers(end) : end;
	}
	return true;
}

bool demangle_d(const char *mangled, enum demangle_style style, struct sink *s)
{
	size_t references = 0;

	for (const char *at = mangled; *at; at++)
		references += *at == 'Q';
	if (references > REFERENCES_MAX || strlen(mangled) > NESTED_MAX)
		return false;
	char *readable = dlang_demangle(mangled, DMGL_NO_OPTS);
	size_t size = readable ? strlen(readable) : 0;
	bool fits = size > 0 && size < sizeof(s->text);
	s->used = 0;
	if (fits && (style == DEMANGLE_FULL ||
		     !copy_short(readable, style == DEMANGLE_SIMPLE, s))) {
		memcpy(s->text, readable, size);
		s->used = size;
	}
	free(readable);
	return fits;
}
