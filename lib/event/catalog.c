/* SPDX-License-Identifier: Apache-2.0 */
#include "event/catalog.h"
#include "event/internal.h"

#include <fnmatch.h>

static bool wanted(const char *name, char *const *glob, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(glob[i], name, 0))
			return true;
	return count == 0;
}

void catalog_print(char *const *glob, size_t count)
{
	struct event_alias alias;
	char why[256];

	for (unsigned int i = 0; alias_next(i, &alias); i++) {
		if (!wanted(alias.name, glob, count))
			continue;
		struct event event = { .name = alias.name, .attr = {
			.type = alias.type, .config = alias.config, .size = sizeof(event.attr),
			.sample_period = alias.rates.period ? alias.rates.period : 1000000,
			.exclude_guest = 1 } };
		bool good = event_check(&event, why, sizeof(why));
		printf("%-24s %-3s %s\n", alias.name, good ? "ok" : "-", good ? alias.text : why);
	}
}
