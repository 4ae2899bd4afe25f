/* SPDX-License-Identifier: Apache-2.0 */
/* name-tokens - takes function names of C++, Rust, Go and other languages apart. */
#pragma once
#include "base/arena.h"
#include "base/slice.h"

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
