/* SPDX-License-Identifier: Apache-2.0 */
/*
 * existing - records of the state before sampling started: the kernel and its modules, the
 * names of threads, the mappings of processes.
 *
 * The kernel's own records cover only later changes.  The records here have the time 0, so
 * that they come first.
 */
#pragma once
#include "base/output.h"
#include "record/events.h"

#include <sys/types.h>

/* Write BUILD_ID and MMAP records of the kernel image and of each module. */
void existing_kernel(struct output *out, const struct sample_layout *layout);

/*
 * Write a KSYMBOL record: SIZE addresses from START on, where the kernel has nothing, have NAME.
 */
void existing_kernel_name(struct output *out, const struct sample_layout *layout, uint64_t start,
			  uint32_t size, const char *name);

/* Write a COMM record of thread TID of PID, unless it has ended. */
void existing_thread(struct output *out, const struct sample_layout *layout, pid_t pid, pid_t tid);

/* Which mappings to write besides executable ones. */
enum existing_data {
	EXISTING_CODE,		/* none */
	EXISTING_FILES,		/* of files */
	EXISTING_MEMORY,	/* of files and other memory */
};

/*
 * Write an MMAP2 record of each executable mapping of PID, and of others as DATA says.  A record
 * has the build ID if the file can be read.
 */
void existing_mappings(struct output *out, const struct sample_layout *layout, pid_t pid,
		       enum existing_data data);
