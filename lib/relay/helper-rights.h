/* SPDX-License-Identifier: Apache-2.0 */
/* helper-rights - restricts the helper process to reading files. */
#pragma once
#include "base/report.h"
#include "target/target.h"

#include <stdbool.h>

/*
 * Give up all rights of this process except reading files, and close all descriptors except FD and
 * stderr.  The process gets a NAME of at most 15 bytes.  False: that failed, and the process must
 * end.
 */
bool helper_drop_rights(const struct target *target, int fd, const char *name,
			struct report *report);
