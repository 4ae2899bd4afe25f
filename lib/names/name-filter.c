/* SPDX-License-Identifier: Apache-2.0 */
#include "names/name-filter.h"
#include "base/arena.h"
#include "names/short-name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char left_out[] = "…";

void name_filter_init(struct name_filter *f, const char *text, enum name_case letters)
{
	char *at;

	*f = (struct name_filter){ .text = text, .ignores_case = letters == NAME_IGNORES_CASE,
				   .piece = mem_text(text) };
	int flags = REG_EXTENDED | REG_NOSUB | (f->ignores_case ? REG_ICASE : 0);
	f->is_pattern = regcomp(&f->pattern, text, flags) == 0;
	for (char *rest = f->piece; (at = strstr(rest, left_out)) != NULL; f->gaps++) {
		*at = '\0';
		rest = at + 1;
		memmove(rest, at + strlen(left_out), strlen(at + strlen(left_out)) + 1);
	}
}

void name_filter_release(struct name_filter *f)
{
	if (f->is_pattern)
		regfree(&f->pattern);
	free(f->piece);
	*f = (struct name_filter){ 0 };
}

/*
 * Look in NAME for COUNT pieces, one after another, with anything between them.  Return where the
 * last one ends, or NULL if they are not all there.
 */
static const char *find_pieces(const struct name_filter *f, const char *name, const char *piece,
			       size_t count)
{
	for (; name && count > 0; count--, piece += strlen(piece) + 1) {
		name = f->ignores_case ? strcasestr(name, piece) : strstr(name, piece);
		name = name ? name + strlen(piece) : NULL;
	}
	return name;
}

/* Return whether NAME is the text with something in the place of each '…'. */
static bool fills(const struct name_filter *f, const char *name)
{
	size_t size = strlen(f->piece);

	if (f->gaps == 0)
		return !strcmp(name, f->piece);
	if (strncmp(name, f->piece, size) != 0)
		return false;
	const char *last = f->piece;
	for (size_t i = 0; i < f->gaps; i++)
		last += strlen(last) + 1;
	name = find_pieces(f, name + size, f->piece + size + 1, f->gaps - 1);
	size = strlen(last);
	return name && strlen(name) >= size && !strcmp(name + strlen(name) - size, last);
}

/* The text may have types of C++'s standard library as tables print them, or as they are. */
static bool is_short_for(const struct name_filter *f, const char *name)
{
	if (f->gaps > 0 && fills(f, name))
		return true;
	char *as_printed = short_name(name, SIZE_MAX);
	bool is = fills(f, as_printed);
	free(as_printed);
	return is;
}

bool name_filter_matches(const struct name_filter *f, const char *name, enum name_match how)
{
	switch (how) {
	case NAME_IS_SAME:
		return !strcmp(name, f->text);
	case NAME_IS_SHORT_FOR:
		return is_short_for(f, name);
	case NAME_HAS_PATTERN:
		return f->is_pattern && regexec(&f->pattern, name, 0, NULL, 0) == 0;
	case NAME_HAS_TEXT:
		return find_pieces(f, name, f->piece, f->gaps + 1) != NULL;
	case NAME_MATCHES:
		break;
	}
	return false;
}

bool name_filter_is_in(const struct name_filter *f, const char *name)
{
	return name_filter_matches(f, name, NAME_HAS_PATTERN) ||
	       name_filter_matches(f, name, NAME_HAS_TEXT);
}
