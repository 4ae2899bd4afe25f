/* SPDX-License-Identifier: Apache-2.0 */
/* Which sample types of a profile belong together, by their names. */
#include "compare/bars-internal.h"
#include "pprof/sample-type.h"
#include "record/words.h"

#include <stdio.h>
#include <string.h>

/* Return whether type TYPE is called NAME followed by MORE, and has the unit "count". */
static bool is_named(const struct decoded *d, uint32_t type, const char *name, const char *more)
{
	const char *text = decoded_string(d, d->type[type].type);
	size_t length = strlen(name);

	return !strncmp(text, name, length) && !strcmp(text + length, more) &&
	       !strcmp(decoded_string(d, d->type[type].unit), UNIT_COUNT);
}

uint32_t bars_type_named(const struct decoded *d, const char *name, const char *more)
{
	for (uint32_t i = 0; i < d->types; i++)
		if (is_named(d, i, name, more))
			return i;
	return TABLE_NONE;
}

/* Return how long NAME is without END; 0: it does not end so. */
static size_t length_before(const char *name, const char *end)
{
	size_t length = strlen(name), ends = strlen(end);

	return length > ends && !strcmp(name + length - ends, end) ? length - ends : 0;
}

uint32_t bars_count_by_name(const struct decoded *d, uint32_t value)
{
	const char *name = decoded_string(d, d->type[value].type);
	size_t of_perf = length_before(name, TYPE_END_EVENT);
	char event[256];

	if (is_named(d, value, TYPE_SAMPLES, "") || length_before(name, TYPE_END_SAMPLES) ||
	    length_before(name, TYPE_END_SAMPLE) || is_named(d, value, TYPE_CONTENTIONS, ""))
		return value;
	if (bars_is_time(d, value, TYPE_DELAY))
		return bars_type_named(d, TYPE_CONTENTIONS, "");
	uint32_t of_event = bars_type_named(d, name, TYPE_END_SAMPLES);
	if (of_event == TABLE_NONE && of_perf > 0 && of_perf < sizeof(event)) {
		snprintf(event, sizeof(event), "%.*s", (int)of_perf, name);
		of_event = bars_type_named(d, event, TYPE_END_SAMPLE);
	}
	return of_event != TABLE_NONE ? of_event : bars_type_named(d, TYPE_SAMPLES, "");
}

bool bars_counts_contentions(const struct decoded *d, uint32_t type)
{
	return !strcmp(decoded_string(d, d->type[type].unit), UNIT_COUNT) &&
	       sample_type_is_of_contentions(decoded_string(d, d->type[type].type));
}

bool bars_is_time(const struct decoded *d, uint32_t type, const char *name)
{
	return !strcmp(decoded_string(d, d->type[type].type), name) &&
	       !strcmp(decoded_string(d, d->type[type].unit), UNIT_TIME);
}

uint32_t bars_time_named(const struct decoded *d, const char *name)
{
	for (uint32_t i = 0; i < d->types; i++)
		if (bars_is_time(d, i, name))
			return i;
	return TABLE_NONE;
}

/* Return the type that counts the samples of the clock, or TABLE_NONE. */
uint32_t bars_count_of_clock(const struct decoded *d)
{
	uint32_t clock = bars_time_named(d, TYPE_CPU);

	return clock == TABLE_NONE ? TABLE_NONE : bars_count_by_name(d, clock);
}
