/* SPDX-License-Identifier: Apache-2.0 */
/* rights - what the kernel allows this process. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Return the number after FIELD ("\nSeccomp:") in /proc/self/status, in BASE; 0: no such field. */
uint64_t rights_self_status(const char *field, int base);

/* Whether this process has CAPABILITY (CAP_*) in effect. */
bool rights_has_capability(int capability);

/* Whether kernel.perf_event_paranoid does not limit this process. */
bool rights_is_privileged(void);
