/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

enum { MANGLED_MAX = 8192, READABLE_MAX = 65000 };	/* bytes; longer names stay as they are */

const char *demangle(struct arena *arena, const char *mangled, enum demangle_style style)
{
	int options = DMGL_AUTO | DMGL_ANSI;

	/* "_Z" C++ and old Rust, "_R" new Rust, "_D" D: nothing else is tried. */
	if (style == DEMANGLE_NONE || mangled[0] != '_' || !strchr("ZRD", mangled[1]) ||
	    !mangled[1] || strnlen(mangled, MANGLED_MAX) == MANGLED_MAX)
		return mangled;
	if (style == DEMANGLE_FULL)
		options |= DMGL_PARAMS | DMGL_VERBOSE;
	char *readable = cplus_demangle(mangled, options);
	if (!readable)
		return mangled;
	const char *kept = arena_text(arena, readable, READABLE_MAX);
	free(readable);
	return kept;
}
