/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initializes libpfm4 for the library: once, and without a change of the program's environment.  So
 * libpfm4 encodes only the events of this machine.
 */
#include "event/libpfm.h"

#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialize(void)
{
	pfm_initialize();
}

/* The program may use libpfm4, too, and may have ended it: then it is initialized again. */
bool libpfm_initialize(void)
{
	return pthread_once(&once, initialize) == 0 && pfm_initialize() == PFM_SUCCESS;
}
