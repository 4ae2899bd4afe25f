/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/options.h"

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
