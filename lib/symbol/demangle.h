/* SPDX-License-Identifier: Apache-2.0 */
/* demangle - names as people read them, from names as linkers have them. */
#pragma once
#include "base/arena.h"

#include <stdbool.h>

enum demangle_style {
	DEMANGLE_NONE,		/* as it is */
	/* no parameters, no template arguments, no hash of Rust's, no number of OCaml's */
	DEMANGLE_SIMPLE,
	DEMANGLE_TEMPLATES,	/* no parameters, no hash of Rust's; with template arguments */
	DEMANGLE_FULL,		/* everything */
};

/*
 * The readable form of MANGLED (C++, Rust, D, OCaml; of Go as its own
 * profiles have it), in ARENA; or MANGLED itself where it is not mangled.
 */
const char *demangle(struct arena *arena, const char *mangled, enum demangle_style style);

/* Whether NAME is that of a function that only calls a method, which Go made for a method value. */
bool demangle_is_wrapper(const char *name);
