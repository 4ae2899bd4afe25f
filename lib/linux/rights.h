/* SPDX-License-Identifier: Apache-2.0 */
/* rights - what the kernel allows this process. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Return the number, written in BASE, of FIELD ("\nSeccomp:") in /proc/self/status; 0: absent. */
uint64_t rights_self_status(const char *field, int base);

/* Return whether CAPABILITY (CAP_*) is in this process's effective set. */
bool rights_has_capability(int capability);

/* Return whether this process is exempt from kernel.perf_event_paranoid. */
bool rights_is_privileged(void);
