/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of demangle: the output buffer, and the languages that have files of their own. */
#pragma once
#include "names/demangle.h"

#include <setjmp.h>
#include <stdbool.h>

enum {
	MANGLED_MAX = 4096,	/* bytes; longer names are left mangled */
	READABLE_MAX = 16384,
};

struct sink {
	char text[READABLE_MAX];
	size_t used;
	jmp_buf full;		/* jump target that leaves libiberty when TEXT is full */
};

/*
 * Each writes the readable form of the name to S. Returns false if the name is not mangled in
 * that language, or if its readable form is too long.
 */
bool demangle_d(const char *mangled, enum demangle_style style, struct sink *s);
bool demangle_go(const char *name, enum demangle_style style, struct sink *s);
bool demangle_ocaml(const char *mangled, enum demangle_style style, struct sink *s);
