/* SPDX-License-Identifier: Apache-2.0 */
/* internal - what only this module uses; the files are named. */
#pragma once
#include "base/arena.h"
#include "base/slice.h"

/* name-brackets - finds which brackets of a name belong together. */

/* Return whether C is a letter, a digit, '_' or '$', or a byte of a letter outside of ASCII. */
bool name_is_word(char c);

/*
 * If at I of NAME there is "operator" of C++, return where its sign ends, or the space that the
 * demangler puts between operator< and its arguments; else I.
 */
size_t name_after_operator(struct slice name, size_t i);

/* Return for each opening bracket of NAME the index of its end, for each other byte 0. */
uint32_t *name_brackets(struct arena *arena, struct slice name);

/* name-tokens - takes function names of C++, Rust, Go and other languages apart. */

enum {
	NAME_LONGEST = 4096,	/* bytes of a name that is taken apart */
	NAME_DEEPEST = 16,	/* brackets in brackets */
};

enum token_kind {
	TOKEN_WORD, TOKEN_SPACE,
	TOKEN_SEPARATOR,	/* "::"; "." and "/" of packages; "/" of a path */
	TOKEN_ARGUMENTS,	/* in brackets after a word: of a template or a generic */
	TOKEN_PARAMETERS,	/* in round brackets after a word */
	TOKEN_GROUP,		/* in brackets elsewhere: (*T), {closure#0}, <T as Trait> */
};

struct token {
	enum token_kind kind;
	struct slice text;
};

/* The tokens outside of brackets, in order; in an arena. */
struct name_tokens {
	struct token *token;
	size_t count;
};

/* Take NAME apart, at most NAME_LONGEST bytes. */
struct name_tokens name_tokens(struct arena *arena, struct slice name);

/*
 * Return NAME with the types of C++'s standard library as programs write them: std::string for
 * std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >.
 */
struct slice name_known(struct arena *arena, struct slice name);
