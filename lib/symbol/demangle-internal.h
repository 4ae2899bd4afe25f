/* SPDX-License-Identifier: Apache-2.0 */
/* demangle's inside: where readable forms go, and the languages with files of their own. */
#pragma once
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdbool.h>

enum {
	MANGLED_MAX = 4096,	/* bytes; longer names stay as they are */
	READABLE_MAX = 16384,
};

struct sink {
	char text[READABLE_MAX];
	size_t used;
	jmp_buf full;		/* where to leave libiberty to when TEXT is full */
};

/* Each writes the readable form; false: the name is not mangled, or too long for it. */
bool demangle_d(const char *mangled, enum demangle_style style, struct sink *s);
bool demangle_go(const char *name, enum demangle_style style, struct sink *s);
bool demangle_ocaml(const char *mangled, enum demangle_style style, struct sink *s);
