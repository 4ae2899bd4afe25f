/* SPDX-License-Identifier: Apache-2.0 */
#include "event/libpfm.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>

/* The environment variable makes it encode events of other CPUs, too. */
bool libpfm_initialize(void)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return pfm_initialize() == PFM_SUCCESS;
}
