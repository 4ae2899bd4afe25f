/* SPDX-License-Identifier: Apache-2.0 */
/* rights - what the kernel allows this process. */
#pragma once
#include <stdbool.h>

/* Return whether CAPABILITY (CAP_*) is in this process's effective set. */
bool rights_has_capability(int capability);

/* Return whether this process is exempt from kernel.perf_event_paranoid. */
bool rights_is_privileged(void);

/* Return whether a seccomp filter checks this process's system calls. */
bool rights_is_filtered(void);

/*
 * Return whether this process got rights from its program's file that its caller does not have: by
 * a capability of the file, or as another user's or group's (setuid, setgid).
 */
bool rights_come_from_file(void);
