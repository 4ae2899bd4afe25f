/* SPDX-License-Identifier: Apache-2.0 */
/* helper-rights - what the helper process may do: read files, and nothing else. */
#pragma once
#include "base/report.h"
#include "sample/target.h"

#include <stdbool.h>

/*
 * Give up all rights of this process but to read files, and close all descriptors but FD and
 * stderr.  The process gets a NAME of at most 15 bytes.  False: that failed, and the process must
 * end.
 */
bool helper_drop_rights(const struct target *target, int fd, const char *name,
			struct report *report);
