/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/sample-options.h"
#include "base/units.h"

#include <time.h>

const char *const sample_clock_names[] = {
	"monotonic", "raw", "boottime", "realtime", "tai", NULL
};

int sample_clock(int index)
{
	static const int clocks[] = {
		CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_TAI,
	};

	return clocks[index];
}

const char *sample_parse_delay(const char *text, void *delay)
{
	uint64_t *ns = delay;

	if (!strcmp(text, "-1"))
		*ns = SAMPLER_UNTIL_ENABLED;
	else if (units_parse_count(text, ns) && *ns < SAMPLER_UNTIL_ENABLED / 1000000)
		*ns *= 1000000;
	else if (!units_parse_duration(text, ns) || !*ns)
		return text;
	return NULL;
}
