/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go-program - writes Go's own build IDs of mapped programs to the stream.
 *
 * A Go program usually has no GNU build ID, and the kernel writes the inode of its file into the
 * MMAP2 record.  There, Go's own build ID is added after the path: perf and other readers ignore
 * it, and our readers check whether a file is still the program that ran.
 */
#pragma once
#include "base/output.h"
#include "record/events.h"
#include "stream/writer.h"

/* Files that are known not to be Go programs.  Zero-initialised: none. */
struct go_programs {
	uint64_t other[64];	/* hashes of device and inode, indexed by their highest bits */
};

/*
 * Open the file PATH that process PID maps, in PID's own root directory, because PID may be in a
 * container.  Return -1 if the file is missing or has another inode than INODE.
 */
int go_program_open(pid_t pid, const char *path, uint64_t inode);

/* Append the Go build ID ID, if it is not empty, to the MMAP2 record W, which ends in a path. */
void go_program_add(struct writer *w, const char *id);

/*
 * Write RECORD, an MMAP2 record, with the Go build ID of its program.  Return false, and write
 * nothing, if the program has no such ID or the process has ended.
 */
bool go_programs_write(struct go_programs *seen, struct output *out,
		       const struct perf_event_header *record, const struct sample_layout *layout);
