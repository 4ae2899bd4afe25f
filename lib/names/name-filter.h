/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name-filter - finds functions by a text that a user typed, or copied from a table.
 *
 *	struct name_filter f;
 *
 *	name_filter_init(&f, text, NAME_MINDS_CASE);
 *	if (name_filter_matches(&f, name, NAME_IS_SAME))
 *		...
 *	name_filter_release(&f);
 *
 * Names of C++, Rust and Go have characters with a meaning in regular expressions, so a text may
 * mean several things.  A caller that chooses functions tries the ways to match in their order, and
 * takes the first that finds one.
 */
#pragma once
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* How a name may match, the surest first. */
enum name_match {
	NAME_IS_SAME,		/* it is the text */
	NAME_IS_SHORT_FOR,	/* the text is a short form of it; '…' is what is left out */
	NAME_HAS_PATTERN,	/* it matches the text, an extended regular expression, regex(7) */
	NAME_HAS_TEXT,		/* the text is a part of it, with anything in the place of '…' */
	NAME_MATCHES,		/* how many ways there are */
};

enum name_case { NAME_MINDS_CASE, NAME_IGNORES_CASE };

struct name_filter {
	const char *text;	/* the caller's */
	regex_t pattern;
	bool is_pattern;	/* the text is a regular expression */
	bool ignores_case;	/* of patterns and parts */
	char *piece;		/* private: what is between the '…', each with a NUL */
	size_t gaps;		/* private: the number of '…' */
};

/* Prepare F for TEXT, which must live as long as F. */
void name_filter_init(struct name_filter *f, const char *text, enum name_case letters);

/* Return whether NAME matches in the way HOW. */
bool name_filter_matches(const struct name_filter *f, const char *name, enum name_match how);

/* Return whether NAME has the pattern, or the text, in it. */
bool name_filter_is_in(const struct name_filter *f, const char *name);

void name_filter_release(struct name_filter *f);
