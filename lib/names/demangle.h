/* SPDX-License-Identifier: Apache-2.0 */
/* demangle - readable names from linkage names. */
#pragma once
#include "base/arena.h"

#include <stdbool.h>

enum demangle_style {
	DEMANGLE_NONE,		/* the name unchanged */
	/* without parameters, template arguments, Rust's hash and OCaml's stamp */
	DEMANGLE_SIMPLE,
	DEMANGLE_TEMPLATES,	/* without parameters and Rust's hash; with template arguments */
	DEMANGLE_FULL,		/* everything */
};

/*
 * Return the readable form of MANGLED (C++, Rust, D, OCaml, Go), allocated in ARENA. Go names
 * look as in Go's own profiles. Returns MANGLED itself if it is not mangled or too long.
 */
const char *demangle(struct arena *arena, const char *mangled, enum demangle_style style);

/* Return whether NAME is a wrapper that the Go compiler made for a method value ("main.T.f-fm"). */
bool demangle_is_wrapper(const char *name);
