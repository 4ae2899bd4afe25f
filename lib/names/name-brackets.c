/* SPDX-License-Identifier: Apache-2.0 */
#include "names/internal.h"

#include <string.h>

static const char opening[] = "<([{", closing[] = ">)]}";

bool name_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (c & 0x80);
}

size_t name_after_operator(struct slice name, size_t i)
{
	/* the signs that contain brackets; a longer one comes before its start */
	static const char *const sign[] = { " new[]", " new", " delete[]", " delete", "->*", "<=>",
		"<<=", ">>=", "->", "<<", ">>", "<=", ">=", "()", "[]", "<", ">" };
	static const char word[] = "operator";
	struct slice rest = { name.at + i, name.size - i };

	if (!slice_starts(rest, word) || (i > 0 && name_is_word(name.at[i - 1])))
		return i;
	rest.at += strlen(word);
	rest.size -= strlen(word);
	if (rest.size && name_is_word(*rest.at))
		return i;
	for (size_t k = 0; k < sizeof(sign) / sizeof(*sign); k++)
		if (slice_starts(rest, sign[k])) {
			rest.at += strlen(sign[k]);
			rest.size -= strlen(sign[k]);
			break;
		}
	return (size_t)(rest.at - name.at) + (slice_starts(rest, " <") && rest.at[-1] == '<');
}

/* The bracket at I of NAME closes one of the COUNT that are OPEN.  Return how many stay open. */
static size_t close_bracket(struct slice name, size_t i, const uint32_t *open, size_t count,
			    uint32_t *end)
{
	const char *kind = strchr(closing, name.at[i]);
	size_t top = count;

	if (*kind == '>' && i > 0 && (name.at[i - 1] == '-' || name.at[i - 1] == '='))
		return count;	/* an arrow */
	/* a < that is not closed is a sign */
	while (*kind != '>' && top > 0 && name.at[open[top - 1]] == '<')
		top--;
	if (top == 0 || name.at[open[top - 1]] != opening[kind - closing])
		return count;
	end[open[top - 1]] = (uint32_t)i;
	return top - 1;
}

uint32_t *name_brackets(struct arena *arena, struct slice name)
{
	uint32_t *end = arena_alloc(arena, (name.size + 1) * sizeof(*end));
	uint32_t *open = arena_alloc(arena, (name.size + 1) * sizeof(*open));
	size_t count = 0;

	memset(end, 0, (name.size + 1) * sizeof(*end));
	for (size_t i = 0; i < name.size; i++) {
		size_t after = name_after_operator(name, i);
		if (after > i)
			i = after - 1;
		else if (name.at[i] && strchr(opening, name.at[i]))
			open[count++] = (uint32_t)i;
		else if (name.at[i] && strchr(closing, name.at[i]))
			count = close_bracket(name, i, open, count, end);
	}
	return end;
}
