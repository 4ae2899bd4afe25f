/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-program - Go's own build IDs of mapped programs, in the stream.
 *
 * A Go program usually has no GNU build ID, and the kernel writes the inode of its file
 * into the MMAP2 record.  Go's own build ID is added after the path there: perf and others
 * do not look there, while we know by it whether a file is still the program that ran.
 */
#pragma once
#include "base/output.h"
#include "record/events.h"
#include "stream/writer.h"

/* Files known to be no Go programs.  Zero-initialised: none. */
struct go_programs {
	uint64_t other[64];	/* hashes of device and inode, each in its slot */
};

/*
 * Open the file PATH that process PID maps, in PID's own root directory, so that containers
 * are right.  Return -1 if the file is missing or has another inode than INODE.
 */
int go_program_open(pid_t pid, const char *path, uint64_t inode);

/* Append the Go build ID ID, if it is not empty, to the MMAP2 record W, which ends in a path. */
void go_program_add(struct writer *w, const char *id);

/*
 * Write RECORD, MMAP2, with its program's Go build ID, as long as the process is there;
 * false: it has none, and nothing was written.
 */
bool go_programs_write(struct go_programs *seen, struct output *out,
		       const struct perf_event_header *record, const struct sample_layout *layout);
