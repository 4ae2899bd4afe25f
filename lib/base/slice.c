/* SPDX-License-Identifier: Apache-2.0 */
#include "base/slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool slice_is(struct slice s, const char *text)
{
	return s.size == strlen(text) && !memcmp(s.at, text, s.size);
}

bool slice_starts(struct slice s, const char *text)
{
	size_t length = strlen(text);

	return s.size >= length && !memcmp(s.at, text, length);
}

struct slice slice_cut(struct slice *s, const char *stops)
{
	struct slice part = { s->at, 0 };

	while (part.size < s->size && !strchr(stops, part.at[part.size]))
		part.size++;
	size_t taken = part.size < s->size ? part.size + 1 : part.size;
	s->at += taken;
	s->size -= taken;
	return part;
}

bool slice_number(struct slice s, uint64_t *number)
{
	char text[32], *end;

	if (s.size == 0 || s.size >= sizeof(text) || s.at[0] < '0' || s.at[0] > '9')
		return false;	/* strtoull() would accept a sign or spaces */
	memcpy(text, s.at, s.size);
	text[s.size] = '\0';
	errno = 0;
	*number = strtoull(text, &end, 0);
	return !errno && end == text + s.size;
}
