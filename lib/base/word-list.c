/* SPDX-License-Identifier: Apache-2.0 */
#include "base/word-list.h"
#include "base/arena.h"

#include <stdbool.h>
#include <string.h>

/* Return whether a shell needs no quotes around WORD. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_^";

	return *word && word[strspn(word, plain)] == '\0';
}

char *words_quoted(size_t count, const char *const *word)
{
	size_t size = 1;

	for (size_t i = 0; i < count; i++)
		size += 4 * strlen(word[i]) + 3;	/* every byte may be a quote: '\'' */
	char *line = mem_resize(NULL, size), *to = line;
	for (size_t i = 0; i < count; i++) {
		if (i)
			*to++ = ' ';
		bool plain = is_plain(word[i]);
		if (!plain)
			*to++ = '\'';
		for (const char *from = word[i]; *from; from++) {
			if (*from == '\'')
				to = mempcpy(to, "'\\'", 3);
			*to++ = *from;
		}
		if (!plain)
			*to++ = '\'';
	}
	*to = '\0';
	return line;
}
