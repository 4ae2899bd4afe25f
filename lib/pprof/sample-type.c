/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof/sample-type.h"
#include "record/events.h"
#include "record/words.h"

#include <stdio.h>
#include <string.h>

/* Return whether D is of a stream that says who ended each wait. */
static bool has_wakes(const struct decoded *d)
{
	return decoded_find_type(d, EVENT_WAKING) != TABLE_NONE;
}

void sample_type_refuse(const struct decoded *d, const char *name, const char *file,
			struct report *report)
{
	const char *quote = file ? "'" : "";
	char names[400] = "";

	for (uint32_t i = 0; i < d->types; i++) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, " %.100s",
			 decoded_string(d, d->type[i].type));
	}
	report_error(report, "%s%s%s has no sample type '%s'; it has%s%s", quote,
		     file ? file : "the profile", quote, name, names,
		     has_wakes(d) && sample_type_is_of_contentions(name) ?
		     "; pmu-topprof --waits makes " TYPE_BLOCK ", " TYPE_MUTEX " and " TYPE_CAUSES
		     " from the stream" : "");
}

uint32_t sample_type_find(const struct decoded *d, const char *name, const char *file,
			  struct report *report)
{
	uint32_t index = name ? decoded_find_type(d, name) : decoded_default_type(d);

	if (index == TABLE_NONE)
		sample_type_refuse(d, name, file, report);
	return index;
}

bool sample_type_is_of_contentions(const char *name)
{
	static const char *const types[] = { TYPE_DELAY, TYPE_BLOCK, TYPE_MUTEX, TYPE_CAUSES };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		size_t length = strlen(types[i]);
		if (!strncmp(name, types[i], length) &&
		    (!name[length] || !strcmp(name + length, TYPE_END_SAMPLES)))
			return true;
	}
	return !strcmp(name, TYPE_CONTENTIONS);
}
