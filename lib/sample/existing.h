/* SPDX-License-Identifier: Apache-2.0 */
/*
 * existing - records for what was there before sampling began: the kernel and
 * its modules, the threads' names and mappings of a process.
 *
 * The kernel's records tell only what happens from then on; these have the
 * time 0, so they come first in the stream's order.
 */
#pragma once
#include "base/output.h"
#include "record/events.h"

#include <sys/types.h>

/* BUILD_ID and MMAP of the kernel image, MMAP2 of each module. */
void existing_kernel(struct output *out, const struct sample_layout *layout);

/* COMM of thread TID of PID; nothing if it has ended. */
void existing_thread(struct output *out, const struct sample_layout *layout, pid_t pid, pid_t tid);

/*
 * MMAP2 of each executable mapping of PID, and if WITH_DATA of the others of
 * files, too; with build IDs where they can be read.
 */
void existing_mappings(struct output *out, const struct sample_layout *layout, pid_t pid,
		       bool with_data);
