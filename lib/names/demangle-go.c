/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go: the linkage name of an instance of a generic function has the shapes of its types:
 * "main.Map[go.shape.int,go.shape.string]". Functions with the assembler's calling convention
 * end in ".abi0", and wrappers for method values in "-fm". Go's own profiles say "main.Map[...]",
 * and leave out both endings.
 */
#include "names/demangle-internal.h"

/* Return the bracket that closes the one at OPEN, or NULL. OPEN may be NULL. */
static const char *closing(const char *open)
{
	size_t depth = 0;

	for (const char *at = open; at && *at; at++) {
		depth += *at == '[';
		depth -= *at == ']';
		if (!depth)
			return at;
	}
	return NULL;
}

/* Return the length of the LENGTH bytes at NAME without ENDING. */
static size_t without(const char *name, size_t length, const char *ending)
{
	size_t size = strlen(ending);

	return length > size && !memcmp(name + length - size, ending, size) ? length - size
									     : length;
}

bool demangle_is_wrapper(const char *name)
{
	size_t length = strlen(name);

	return without(name, length, "-fm") < length && strchr(name, '.');
}

bool demangle_go(const char *name, enum demangle_style style, struct sink *s)
{
	const char *open = strstr(name, "[go.shape.") ? strchr(name, '[') : NULL;
	const char *close = closing(open);
	size_t length = strlen(name), whole = length;

	if (style == DEMANGLE_FULL || !strchr(name, '.'))
		return false;
	length = without(name, without(name, length, ".abi0"), "-fm");
	if (!close && length == whole)
		return false;
	int head = close ? (int)(open - name) : 0;
	const char *tail = close ? close + 1 : name;
	s->used = (size_t)snprintf(s->text, sizeof(s->text), "%.*s%s%.*s", head, name,
				   close ? "[...]" : "", (int)(name + length - tail), tail);
	return true;
}
