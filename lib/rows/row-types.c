/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/row-types.h"
#include "base/arena.h"
#include "record/words.h"

#include <string.h>

static const char *name_of(const struct decoded *d, uint32_t type)
{
	return decoded_string(d, d->type[type].type);
}

/* Return whether TYPE counts the samples of an event, and how long the event's name in it is. */
static bool counts_samples(const struct decoded *d, uint32_t type, size_t *event)
{
	const char *name = name_of(d, type);
	size_t length = strlen(name), end = strlen(TYPE_END_SAMPLES);

	*event = length > end ? length - end : 0;
	if (strcmp(decoded_string(d, d->type[type].unit), UNIT_COUNT))
		return false;
	return (*event && !strcmp(name + *event, TYPE_END_SAMPLES)) || !strcmp(name, TYPE_SAMPLES);
}

/* Return the type whose name is the first LENGTH bytes of NAME, or TABLE_NONE. */
static uint32_t find_event(const struct decoded *d, const char *name, size_t length)
{
	for (uint32_t i = 0; i < d->types; i++)
		if (!strncmp(name_of(d, i), name, length) && !name_of(d, i)[length])
			return i;
	return TABLE_NONE;
}

/* Set COUNT for each type X that has a type X_samples, unless neither is used.  Return how many. */
static uint32_t pair_by_name(const struct decoded *d, const bool *is_used, uint32_t *count)
{
	uint32_t pairs = 0;
	size_t length;

	for (uint32_t i = 0; i < d->types; i++) {
		if (!counts_samples(d, i, &length) || length == 0)
			continue;
		uint32_t of = find_event(d, name_of(d, i), length);
		if (of != TABLE_NONE && count[of] == TABLE_NONE && count[i] == TABLE_NONE &&
		    (is_used[of] || is_used[i])) {
			count[of] = i;
			count[i] = i;
			pairs++;
		}
	}
	return pairs;
}

/* Pair samples/count with the first type that does not count samples. */
static void pair_only_event(const struct decoded *d, uint32_t *count)
{
	uint32_t samples = TABLE_NONE, of = TABLE_NONE;
	size_t length;

	for (uint32_t i = d->types; i-- > 0;)
		if (!counts_samples(d, i, &length))
			of = i;
		else if (length == 0)
			samples = i;
	if (samples == TABLE_NONE || of == TABLE_NONE)
		return;
	count[of] = samples;
	count[samples] = samples;
}

uint32_t *row_types_pair(const struct decoded *d, const bool *is_used)
{
	size_t size = d->types * sizeof(uint32_t);
	uint32_t *count = mem_resize(NULL, size);

	memset(count, 0xff, size);
	if (pair_by_name(d, is_used, count) >= 2)
		return count;
	memset(count, 0xff, size);
	pair_only_event(d, count);
	return count;
}
