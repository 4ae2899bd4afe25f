/* SPDX-License-Identifier: Apache-2.0 */
/* What unit tests of demangling share. */
#pragma once
#include "names/demangle.h"

#include <stdio.h>
#include <string.h>

static struct arena arena;

/* Return whether MANGLED is READABLE in STYLE; if not, print both. */
static bool gives(const char *mangled, enum demangle_style style, const char *readable)
{
	const char *got = demangle(&arena, mangled, style);

	if (strcmp(got, readable))
		printf("# '%s', not '%s'\n", got, readable);
	return !strcmp(got, readable);
}
