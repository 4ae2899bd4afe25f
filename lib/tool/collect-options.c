/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/collect-options.h"
#include "aggregate/collect.h"
#include "base/units.h"

const char *collect_parse_split(const char *text, void *options)
{
	struct collect_options *o = options;

	o->split = !strcmp(text, "process") ? SPLIT_PROCESSES
		 : !strcmp(text, "thread") ? SPLIT_THREADS : SPLIT_NOT;
	o->interval = 0;
	if (o->split != SPLIT_NOT || (units_parse_duration(text, &o->interval) && o->interval))
		return NULL;
	return text;
}

const char *collect_parse_slices(const char *text, void *options)
{
	struct collect_options *o = options;
	const char *comma = strchr(text, ',');
	char number[32];

	o->slice_stacks = 0;
	snprintf(number, sizeof(number), "%.*s", comma ? (int)(comma - text) : 31, text);
	if (!units_parse_count(number, &o->slices) || o->slices > 1000000)
		return text;
	if (comma && (!units_parse_count(comma + 1, &o->slice_stacks) || !o->slice_stacks))
		return comma + 1;
	return NULL;
}

const char *collect_parse_block(const char *text, void *options)
{
	struct collect_options *o = options;

	o->blame = PAIRING_BLOCK;
	o->all_waits = *text;
	return *text && strcmp(text, "all") ? text : NULL;
}

const char *collect_parse_mutex(const char *text, void *options)
{
	struct collect_options *o = options;

	o->blame = *text ? PAIRING_CAUSES : PAIRING_MUTEX;
	return *text && strcmp(text, "causes") ? text : NULL;
}
